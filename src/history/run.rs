//! What is written about a run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::HistoryError;
use crate::report::stored::StoredReport;
use crate::run_kind::RunKind;

/// The number of a run in its history.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(transparent)]
pub(crate) struct RunId(pub(crate) i64);

impl std::fmt::Display for RunId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::str::FromStr for RunId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// An enumeration that is a word in columns, JSON and texts. The words are tokens: the derive macro of
/// the OpenAPI schema ignores a `literal` of a macro.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:tt,)+ }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            utoipa::ToSchema,
        )]
        pub(crate) enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),+];

            pub(crate) fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = HistoryError;

            fn from_str(text: &str) -> Result<Self, HistoryError> {
                let mut all = Self::ALL.iter();
                let found = all.find(|value| value.word() == text).copied();
                found.ok_or_else(|| HistoryError::Invalid(format!(
                    "{text:?} is no {}", stringify!($name)
                )))
            }
        }

        column_of_words!($name);
    };
}

/// Stores an enumeration as its word.
macro_rules! column_of_words {
    ($name:ident) => {
        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                let text = value.as_str()?;
                text.parse().map_err(|error| {
                    rusqlite::types::FromSqlError::Other(
                        Box::<dyn std::error::Error + Send + Sync>::from(error),
                    )
                })
            }
        }

        impl rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.word().into())
            }
        }
    };
}

column_of_words!(RunKind);

words! {
    /// The state of a run, and its result.
    RunStatus {
        Queued = "queued",
        Running = "running",
        Unchanged = "unchanged",
        Changed = "changed",
        /// Something would be changed.
        Pending = "pending",
        Failed = "failed",
        /// The device was not changed for a reason that is no resource's.
        NotRun = "not run",
        /// The process ended before the run; what the device has is unknown.
        Interrupted = "interrupted",
        /// It was withdrawn before its start, or waited too long.
        Canceled = "canceled",
    }
}

words! {
    /// Who or what requests runs.
    RequesterKind {
        Schedule = "schedule",
        CommandLine = "command line",
        Api = "api",
        Page = "page",
    }
}

/// Who requested a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct Requester {
    pub(crate) kind: RequesterKind,
    /// The user or the token; empty for the schedule.
    pub(crate) name: String,
}

impl Requester {
    pub(crate) fn schedule() -> Self {
        Self {
            kind: RequesterKind::Schedule,
            name: String::new(),
        }
    }
}

impl RunStatus {
    pub(crate) fn is_ended(self) -> bool {
        !matches!(self, RunStatus::Queued | RunStatus::Running)
    }

    pub(crate) fn is_failure(self) -> bool {
        matches!(
            self,
            RunStatus::Failed | RunStatus::NotRun | RunStatus::Interrupted
        )
    }
}

/// A run that was requested.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) device: String,
    pub(crate) kind: RunKind,
    /// The change windows decide at the start whether it is a plan.
    pub(crate) follows_windows: bool,
    pub(crate) requester: Requester,
    pub(crate) priority: i32,
    pub(crate) queued: Timestamp,
    /// Set if it starts at once.
    pub(crate) started: Option<Timestamp>,
}

/// A run that has ended. Secrets are masked.
#[derive(Clone, Debug)]
pub(crate) struct CompletedRun {
    pub(crate) kind: RunKind,
    pub(crate) status: RunStatus,
    pub(crate) ended: Timestamp,
    pub(crate) counts: RunNumbers,
    /// Why the device did not run, or the first failure that is no resource's.
    pub(crate) error: Option<String>,
    pub(crate) hint: Option<String>,
    /// The device could not be connected.
    pub(crate) is_unreachable: bool,
    /// `None`: unknown, because the run ended before they were read.
    pub(crate) facts: Option<BTreeMap<String, String>>,
    /// The running configuration. `None`: it was not read.
    pub(crate) configuration: Option<String>,
    /// Findings about the catalog.
    pub(crate) findings: Vec<StoredFinding>,
    /// Where the desired state comes from; `None` for an undo, and if there was no catalog.
    pub(crate) origin: Option<CatalogOrigin>,
    pub(crate) report: StoredReport,
}

/// Where the desired state of a run comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CatalogOrigin {
    /// A directory or file, or the Puppet Server.
    pub(crate) path: String,
    /// The device is managed with it: the run was scheduled, or has applied it. Other runs are previews, which count
    /// only if they have the same origin.
    pub(crate) is_authoritative: bool,
}

impl CompletedRun {
    /// Whether the run tells nothing about a device that is managed with the desired state of this origin: an undo, or
    /// a preview of another desired state.
    pub(super) fn is_preview(&self, managed_with: Option<&str>) -> bool {
        let is_other = |origin: &CatalogOrigin| {
            !origin.is_authoritative && managed_with.is_some_and(|path| path != origin.path)
        };
        self.origin.as_ref().is_none_or(is_other)
    }

    /// Whether the run changed the device; a failed run can have changed it, too.
    pub(super) fn is_change(&self) -> bool {
        is_change(self.kind, self.status, &self.counts)
    }
}

/// As [`CompletedRun::is_change`].
pub(super) fn is_change(kind: RunKind, status: RunStatus, counts: &RunNumbers) -> bool {
    status == RunStatus::Changed || (kind == RunKind::Apply && counts.changed > 0)
}

/// What a run changed about what is known of its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RunEffect {
    /// The connection failed, or works again: it is reported once.
    pub(crate) connection: Option<ConnectionChange>,
    /// Resources that differ before and after the run.
    pub(crate) drift_before: u32,
    pub(crate) drift_after: u32,
}

words! {
    /// A change of the connection to a device.
    ConnectionChange {
        Unreachable = "unreachable",
        Reachable = "reachable",
    }
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct RunNumbers {
    /// A run with all its parts has a list with the name `resources`.
    #[serde(rename = "resource_count")]
    pub(crate) resources: u32,
    pub(crate) changed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
    /// Resources that a run without noop would change.
    pub(crate) pending: u32,
    /// Commands that were sent.
    pub(crate) operations: u32,
    /// Commands that a run without noop would send.
    pub(crate) to_send: u32,
    pub(crate) not_understood: u32,
}

/// A finding about a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct StoredFinding {
    pub(crate) code: String,
    pub(crate) severity: String,
    pub(crate) message: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) help: Option<String>,
}
