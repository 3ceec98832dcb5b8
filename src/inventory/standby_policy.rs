//! The policy for a unit of a pair that does not carry the traffic.

/// `standby`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StandbyPolicy {
    /// Plans run; changes are refused, because the synchronization of the pair can remove them.
    #[default]
    Refuse,
    /// Changes are made with a warning.
    Warn,
}

impl StandbyPolicy {
    pub(crate) const WORDS: [(&str, StandbyPolicy); 2] = [
        ("refuse", StandbyPolicy::Refuse),
        ("warn", StandbyPolicy::Warn),
    ];
}
