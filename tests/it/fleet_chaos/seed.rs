//! Numbers that follow from a seed (SplitMix64, public domain, by Sebastiano Vigna).

use std::time::Duration;

use super::node::Fault;

pub(super) struct Seed(u64);

impl Seed {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A fault of a process; one of the database only where `has_database`.
    pub(super) fn fault(&mut self, has_database: bool) -> Fault {
        let faults = &Fault::ALL[if has_database { 0 } else { 1 }..];
        let at = self.next() % faults.len() as u64;
        faults[usize::try_from(at).expect("a small number")]
    }

    /// From half a lease to two of them.
    pub(super) fn time(&mut self, lease: Duration) -> Duration {
        let hundredths = 50 + self.next() % 150;
        lease * u32::try_from(hundredths).expect("a small number") / 100
    }
}
