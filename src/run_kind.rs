//! What a run does to its device: the one word for command line, API, history and device runs.

use serde::{Deserialize, Serialize};
use switchtender_devices::session::Access;

/// What a run does.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunKind {
    Apply,
    /// An apply that changes nothing, except where a resource overrides `noop`.
    Noop,
    /// Shows what an apply would do; it cannot write, whatever the catalog contains.
    #[default]
    Plan,
}

/// A word that is no kind of a run.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no kind of a run")]
pub(crate) struct UnknownRunKind(String);

impl RunKind {
    pub(crate) const ALL: [Self; 3] = [RunKind::Apply, RunKind::Noop, RunKind::Plan];

    /// The word in columns, JSON and texts.
    pub(crate) fn word(self) -> &'static str {
        match self {
            RunKind::Apply => "apply",
            RunKind::Noop => "noop",
            RunKind::Plan => "plan",
        }
    }

    /// Whether changes are reported instead of being made. A resource of a [`RunKind::Noop`] can override it.
    pub(crate) fn is_noop(self) -> bool {
        self != RunKind::Apply
    }

    /// Whether the run writes the state and the last report of its device.
    pub(crate) fn writes_state(self) -> bool {
        self != RunKind::Plan
    }

    /// The access of the session, if the catalog overrides `noop` nowhere.
    pub(crate) fn access(self) -> Access {
        match self {
            RunKind::Apply => Access::ReadWrite,
            RunKind::Noop | RunKind::Plan => Access::ReadOnly,
        }
    }
}

impl std::fmt::Display for RunKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.word())
    }
}

impl std::str::FromStr for RunKind {
    type Err = UnknownRunKind;

    fn from_str(text: &str) -> Result<Self, UnknownRunKind> {
        let kind = Self::ALL.into_iter().find(|kind| kind.word() == text);
        kind.ok_or_else(|| UnknownRunKind(text.to_owned()))
    }
}
