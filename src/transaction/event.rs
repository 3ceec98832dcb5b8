//! What a run says: the only output of the engine.
//!
//! Reports, views and stored results are folds of these events. Nothing here shows a secret:
//! sensitive values are redacted before they get into an event.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use switchtender_devices::operation::{Operation, Outcome};
use switchtender_devices::value::{Name, Value};

use crate::catalog::resource::Tags;
use crate::catalog::{ConfigVersion, Level, LoadMessage, ResourceRef};

/// Something that happened in a run, in order.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// The catalog is being applied.
    Applying {
        version: Option<ConfigVersion>,
        environment: Option<String>,
        code_id: Option<String>,
        catalog_uuid: Option<String>,
        /// The global setting.
        noop: bool,
        time: Timestamp,
    },
    /// A message for people.
    Log(Arc<LogEntry>),
    /// Resources of the catalog that are for hosts, not for this device. At most once per run.
    HostResources(Vec<ResourceRef>),
    /// A resource's turn has come. `number` counts vertices, markers of containers included.
    Reached {
        reference: ResourceRef,
        number: usize,
        total: usize,
    },
    /// What was sent for a resource, or would be sent if the run were no noop run.
    Operations {
        reference: ResourceRef,
        operations: Arc<[OperationRecord]>,
    },
    /// A resource is done with; once for each.
    Resource(Arc<ResourceStatus>),
    /// A graph was asked for.
    Graph { file: &'static str, text: String },
    /// The last event.
    Finished {
        /// Every resource was looked at.
        completed: bool,
        /// Resources that would have been made by others could not be.
        failed_to_generate: bool,
        /// What ended the run early.
        error: Option<String>,
        time: Timestamp,
    },
}

/// Where the events of a run go.
pub trait Sink: Send {
    fn emit(&mut self, event: RunEvent);
}

impl Sink for Vec<RunEvent> {
    fn emit(&mut self, event: RunEvent) {
        self.push(event);
    }
}

impl<F: FnMut(RunEvent) + Send> Sink for F {
    fn emit(&mut self, event: RunEvent) {
        self(event);
    }
}

/// A message (section 17, *Log entry*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub level: Level,
    pub message: String,
    /// Path of a resource or property, reference of a container, or `Puppet`.
    pub source: String,
    /// Those of the resource; the level is added when it is written.
    pub tags: Tags,
    pub time: Timestamp,
    pub file: Option<Arc<str>>,
    pub line: Option<u64>,
}

impl From<LogEntry> for RunEvent {
    fn from(entry: LogEntry) -> Self {
        RunEvent::Log(Arc::new(entry))
    }
}

impl LogEntry {
    /// What was told of a resource when the catalog was loaded.
    pub fn of(told: LoadMessage, time: Timestamp) -> Self {
        Self {
            level: told.level,
            message: told.message,
            source: told.source,
            tags: told.tags,
            time,
            line: told.place.as_ref().map(|place| place.line),
            file: told.place.map(|place| place.file),
        }
    }
}

/// An operation and what became of it; `None` when it was only previewed.
#[derive(Clone, Debug)]
pub struct OperationRecord {
    pub operation: Operation,
    pub result: Option<(Outcome, Duration)>,
}

/// The result of one resource (section 17, *Resource status*).
#[derive(Clone, Debug)]
pub struct ResourceStatus {
    pub reference: ResourceRef,
    pub file: Option<Arc<str>>,
    pub line: Option<u64>,
    /// The provider that was asked, if any.
    pub provider: Option<Arc<str>>,
    pub containment_path: Arc<[Arc<str>]>,
    pub tags: Tags,
    /// When its evaluation began.
    pub time: Timestamp,
    /// `None` when it was not evaluated.
    pub evaluation_time: Option<Duration>,
    pub failed: bool,
    pub failed_to_restart: bool,
    pub restarted: bool,
    pub changed: bool,
    pub out_of_sync: bool,
    pub corrective_change: bool,
    /// Why nothing was done about it.
    pub skipped: Option<Skip>,
    pub change_count: u64,
    pub out_of_sync_count: u64,
    pub failed_dependencies: Vec<ResourceRef>,
    pub events: Vec<Event>,
    /// What was sent for it.
    pub operations: Arc<[OperationRecord]>,
}

/// Why a resource was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// It, or a tag of it, was deselected.
    Tags,
    Schedule,
    FailedDependencies,
    /// Its type could not be read from the device.
    PrefetchFailed,
    /// Its type is for hosts and this is a device, or the other way round.
    OtherKindOfRun,
    /// The run was told to stop.
    Stopped,
}

impl ResourceStatus {
    /// Adds an event and what follows from it.
    pub(super) fn add(&mut self, event: Event) {
        match event.status {
            EventStatus::Failure => self.failed = true,
            EventStatus::Success => {
                self.changed = true;
                self.change_count += 1;
            }
            EventStatus::Noop | EventStatus::Audit => {}
        }
        if event.status != EventStatus::Audit {
            self.out_of_sync = true;
            self.out_of_sync_count += 1;
        }
        self.corrective_change |= event.corrective_change;
        // Most resources have one event or none, and a report holds them all.
        self.events.reserve_exact(1);
        self.events.push(event);
    }
}

/// A change of one property, or something else that happened to a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `mtu_changed`, `dev_vlan_created`, `refresh`, `resource_error`.
    pub name: String,
    pub property: Option<Name>,
    pub previous_value: Option<Value>,
    pub desired_value: Option<Value>,
    /// The audited value of the last run.
    pub historical_value: Option<Value>,
    pub status: EventStatus,
    pub message: Option<String>,
    pub audited: bool,
    pub corrective_change: bool,
    /// True for sensitive properties, none for others, false for what is no property's event.
    pub redacted: Option<bool>,
    pub time: Timestamp,
    /// What the device said to a change that failed.
    pub failure: Option<switchtender_devices::provider::ProviderErrorKind>,
    pub(super) invalidates_refreshes: bool,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum EventStatus {
    Success,
    Failure,
    Noop,
    Audit,
}
