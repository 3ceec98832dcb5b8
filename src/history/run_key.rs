//! A run as a user names it: by its number in the store, or by its UUID.

use std::fmt;
use std::str::FromStr;

use super::sql::OptionalRow as _;
use super::{HistoryError, HistoryReader, RunId, RunUuid};

/// The number or the UUID of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunKey {
    Number(RunId),
    Uuid(RunUuid),
}

impl FromStr for RunKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = text.parse().map(Self::Number);
        number.or_else(|_| text.parse().map(Self::Uuid).map_err(drop))
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(run) => run.fmt(formatter),
            Self::Uuid(uuid) => uuid.fmt(formatter),
        }
    }
}

impl HistoryReader<'_> {
    /// The number of a run. `None`: the store does not have it, or it is folded.
    pub(crate) fn run_number(&self, key: RunKey) -> Result<Option<RunId>, HistoryError> {
        let uuid = match key {
            RunKey::Number(run) => return Ok(Some(run)),
            RunKey::Uuid(uuid) => uuid,
        };
        let mut select = self
            .connection
            .prepare_cached("SELECT id FROM run WHERE uuid = ?1")?;
        let found = select.query_row([uuid], |row| row.get(0).map(RunId));
        found.optional()
    }
}
