//! The faults, and numbers that follow from a seed (SplitMix64, public domain, by Sebastiano Vigna).

use std::time::Duration;

/// What happens to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// It is killed, and starts again.
    Killed,
    /// It stops for a time.
    Paused,
    /// Its path to the database, or its paths to the hubs, hold what they accepted.
    NoStore,
    /// Its paths to the devices hold what they accepted.
    NoDevices,
    /// Its paths to the database or the hubs are cut, those to the devices hold what they accepted, and it stops: what it
    /// sent before arrives afterwards.
    Alone,
    /// The clock of its host is set for a time.
    Clock { hours: i8 },
    /// Its link is down: what its kernel has not delivered arrives afterwards. It goes on, or it stops.
    NoLink { is_paused: bool },
}

/// What happens to the database of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DatabaseFault {
    /// It is killed, and starts again.
    Restart,
    /// It ends, and its standby becomes the primary.
    FailOver,
    /// Its clock is set for a time.
    Clock { hours: i8 },
}

impl Fault {
    const ALL: [Self; 7] = [
        Self::Killed,
        Self::Paused,
        Self::NoStore,
        Self::NoDevices,
        Self::Alone,
        Self::Clock { hours: 1 },
        Self::Clock { hours: -1 },
    ];
    /// Those of a process with a link of its own.
    const OF_LINK: [Self; 2] = [
        Self::NoLink { is_paused: false },
        Self::NoLink { is_paused: true },
    ];
}

impl DatabaseFault {
    const ALL: [Self; 4] = [
        Self::Restart,
        Self::FailOver,
        Self::Clock { hours: 1 },
        Self::Clock { hours: -1 },
    ];
}

pub(super) struct Seed(u64);

impl Seed {
    /// The faults of a process, or of the database, in a run of the test.
    pub(super) fn new(seed: u64, of: usize) -> Self {
        Self(seed.wrapping_mul(31).wrapping_add(of as u64))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        let at = self.next() % of.len() as u64;
        of[usize::try_from(at).expect("a small number")]
    }

    pub(super) fn fault(&mut self, has_link: bool) -> Fault {
        let of_link = if has_link { &Fault::OF_LINK[..] } else { &[] };
        self.one(&[&Fault::ALL[..], of_link].concat())
    }

    pub(super) fn database_fault(&mut self) -> DatabaseFault {
        self.one(&DatabaseFault::ALL)
    }

    /// From half a lease to two of them.
    pub(super) fn time(&mut self, lease: Duration) -> Duration {
        let hundredths = 50 + self.next() % 150;
        lease * u32::try_from(hundredths).expect("a small number") / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_its_faults() {
        let faults = |of: usize, has_link: bool| {
            let mut seed = Seed::new(7, of);
            [(); 4].map(|()| {
                let fault = seed.fault(has_link);
                (fault, seed.time(Duration::from_secs(1)).as_millis())
            })
        };
        let forward = Fault::Clock { hours: 1 };
        let no_link = Fault::NoLink { is_paused: false };
        let without = [
            (Fault::Alone, 1480),
            (forward, 1800),
            (Fault::Paused, 1680),
            (forward, 650),
        ];
        assert_eq!(faults(0, false), without);
        let with = [
            (no_link, 1480),
            (forward, 1800),
            (Fault::Alone, 1680),
            (Fault::NoDevices, 650),
        ];
        assert_eq!(faults(0, true), with);
        assert_eq!(faults(1, true)[1], (no_link, 1650));
    }
}
