//! Levels of log messages, with the names and the order of Puppet (`docs/reference/transaction.md`, section
//! 17).

use std::fmt;

/// The importance of a message, in increasing order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Details for troubleshooting.
    Debug,
    /// Progress of the run.
    Info,
    /// Changes and other normal events.
    Notice,
    /// A problem that does not fail a resource.
    Warning,
    /// A failure of a resource or of the run.
    Err,
    /// A condition that requires immediate action.
    Alert,
    /// An unusable system. In Puppet's order it ranks below `crit`.
    Emerg,
    /// A critical condition. In Puppet's order it ranks above `emerg`.
    Crit,
}

impl Level {
    const NAMES: [(&'static str, Level); 9] = [
        ("debug", Level::Debug),
        ("info", Level::Info),
        ("notice", Level::Notice),
        ("warning", Level::Warning),
        ("err", Level::Err),
        ("alert", Level::Alert),
        ("emerg", Level::Emerg),
        ("crit", Level::Crit),
        ("verbose", Level::Info),
    ];

    /// Parses the name of a level. `verbose` is `info`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, level)| *level)
    }

    /// Whether it is that of a warning or an error.
    pub(crate) fn is_problem(self) -> bool {
        self >= Level::Warning
    }

    /// The values of `loglevel`.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(name, _)| *name)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES
            .iter()
            .find(|(_, level)| level == self)
            .map_or("", |(name, _)| name);
        f.write_str(name)
    }
}
