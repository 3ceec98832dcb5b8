//! The number of what the programs of a fleet say to each other, through the store and by the link of workers.

/// A change that the program before does not understand gets the next number. The program still speaks to that of the
/// number before, so that nodes are upgraded one after the other.
pub(crate) const PROTOCOL: u32 = 2 - AGE;

/// Only for the test of several protocols (`.ci/run protocols`), which needs programs that are older by one and two
/// numbers. A setting at run time would let a process name a protocol that it does not speak.
const AGE: u32 = match option_env!("SWITCHTENDER_PROTOCOL_AGE") {
    None => 0,
    Some(age) => match age.as_bytes() {
        b"1" => 1,
        b"2" => 2,
        _ => panic!("SWITCHTENDER_PROTOCOL_AGE is 1 or 2"),
    },
};

/// Whether programs of two numbers share a fleet.
pub(crate) fn share_a_fleet(one: u32, other: u32) -> bool {
    one.abs_diff(other) <= 1
}
