//! What is written about a run.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::devices::DeviceResult;
use super::run_uuid::RunUuid;
use crate::coverage::line_classes::LineClasses;
use crate::report::{RunCounts, RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::transaction::ResourceResult;
use crate::words::words;

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

/// Stores words of an enumeration in columns.
macro_rules! word_columns {
    ($($name:ty)+) => {
        $(
            impl rusqlite::types::FromSql for $name {
                fn column_result(
                    value: rusqlite::types::ValueRef<'_>,
                ) -> rusqlite::types::FromSqlResult<Self> {
                    let text = value.as_str()?;
                    text.parse::<Self>().map_err(|error| {
                        rusqlite::types::FromSqlError::Other(Box::new(error))
                    })
                }
            }

            impl rusqlite::types::ToSql for $name {
                fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                    Ok(self.word().into())
                }
            }
        )+
    };
}

pub(super) use word_columns;

word_columns! { RunKind RunStatus RequesterKind ConnectionChange ResourceResult DeviceResult }

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

impl std::fmt::Display for Requester {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.kind, self.name.is_empty()) {
            (RequesterKind::Schedule, _) | (_, true) => formatter.write_str(self.kind.word()),
            (kind, false) => write!(formatter, "{} ({})", self.name, kind.word()),
        }
    }
}

impl Requester {
    pub(crate) fn schedule() -> Self {
        Self {
            kind: RequesterKind::Schedule,
            name: String::new(),
        }
    }
}

/// A run that was requested.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NewRun {
    pub(crate) uuid: RunUuid,
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

/// The lease that a run began with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunRight {
    pub(crate) node: String,
    pub(crate) shard: String,
    pub(crate) epoch: i64,
}

/// A run that has ended. Secrets are masked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CompletedRun {
    #[serde(with = "complete_record")]
    pub(crate) record: RunRecord,
    pub(crate) ended: Timestamp,
    /// The running configuration. `None`: it was not read.
    pub(crate) configuration: Option<String>,
    /// The classes of its lines.
    pub(crate) line_classes: Option<LineClasses>,
    /// Where the desired state comes from; `None` for an undo, and if there was no catalog.
    pub(crate) origin: Option<CatalogOrigin>,
}

/// A record with what its own form leaves out and the history stores.
mod complete_record {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::report::RunRecord;
    use crate::report::declared_values::DeclaredValues;

    pub(super) fn serialize<S: Serializer>(
        record: &RunRecord,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (record, &record.declared).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<RunRecord, D::Error> {
        let (record, declared) = <(RunRecord, Option<DeclaredValues>)>::deserialize(deserializer)?;
        Ok(RunRecord { declared, ..record })
    }
}

/// Where the desired state of a run comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CatalogOrigin {
    /// A directory or file, or the Puppet Server.
    pub(crate) path: String,
    /// The device is managed with it: the run was scheduled, or has applied it. Other runs are previews, which count
    /// only if they have the same origin.
    pub(crate) is_authoritative: bool,
}

impl CompletedRun {
    /// A run that ended without a result.
    pub(crate) fn lost(kind: RunKind, error: String, ended: Timestamp) -> Self {
        Self {
            record: RunRecord::lost(kind, error),
            ended,
            configuration: None,
            line_classes: None,
            origin: None,
        }
    }

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
        let record = &self.record;
        is_change(
            record.kind,
            record.status(),
            &RunNumbers::from(&record.counts),
        )
    }
}

/// As [`CompletedRun::is_change`].
pub(super) fn is_change(kind: RunKind, status: RunStatus, counts: &RunNumbers) -> bool {
    status == RunStatus::Changed || (kind == RunKind::Apply && counts.changed > 0)
}

/// What a run changed about what is known of its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl From<&RunCounts> for RunNumbers {
    fn from(counts: &RunCounts) -> Self {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            resources: number(counts.resources),
            changed: number(counts.changed),
            failed: number(counts.failed),
            skipped: number(counts.skipped),
            pending: number(counts.pending),
            operations: number(counts.operations),
            to_send: number(counts.to_send),
            not_understood: number(counts.not_understood),
        }
    }
}
