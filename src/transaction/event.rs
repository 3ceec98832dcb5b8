//! Run events: the only output of the engine.
//!
//! Reports, views and stored results are folds of these events. Events contain no secrets:
//! sensitive values are redacted before.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use switchtender_devices::operation::{Operation, Outcome};
use switchtender_devices::value::{Name, Value};

use crate::catalog::node::Tags;
use crate::catalog::{ConfigVersion, Level, LoadMessage, ResourceRef};

/// An event of a run, in order.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// The run starts to apply the catalog.
    Applying {
        /// The configuration version of the catalog.
        version: Option<ConfigVersion>,
        /// The Puppet environment of the catalog.
        environment: Option<String>,
        /// The server's identifier of the deployed code, copied to the report.
        code_id: Option<String>,
        /// The identifier of this compilation, copied to the report.
        catalog_uuid: Option<String>,
        /// The global noop setting.
        noop: bool,
        /// The start of the run.
        time: Timestamp,
    },
    /// A log message.
    Log(Arc<LogEntry>),
    /// Host resources in the catalog of a device. At most once per run.
    HostResources(Vec<ResourceRef>),
    /// The evaluation of a resource starts. `number` counts vertices, including markers of
    /// containers.
    Evaluating {
        /// The resource that is evaluated next.
        reference: ResourceRef,
        /// Position in the order of evaluation, from 1.
        number: usize,
        /// Number of vertices in the graph at this moment.
        total: usize,
    },
    /// Operations that were sent for a resource. In a noop run, the operations that would be sent.
    Operations {
        /// The resource that caused the operations.
        reference: ResourceRef,
        /// The operations in the order of sending.
        operations: Arc<[OperationRecord]>,
    },
    /// The evaluation of a resource is complete. Once per resource.
    Resource(Arc<ResourceStatus>),
    /// The verification after the last resource found a difference: the final status of a resource.
    Amended {
        /// The status after the evaluation.
        previous: Arc<ResourceStatus>,
        /// The status that replaces it, with the failure events.
        status: Arc<ResourceStatus>,
    },
    /// The verification could not read the device, so the run failed.
    Unverified {
        /// The message, which was logged.
        reason: String,
    },
    /// A graph file, if requested.
    Graph {
        /// The file name, such as `resources.dot`.
        file: &'static str,
        /// The content in the DOT language.
        text: String,
    },
    /// The last event.
    Finished {
        /// Every resource was evaluated.
        completed: bool,
        /// The number of resources that failed to generate others.
        failed_to_generate: usize,
        /// The reason why the run ended early.
        error: Option<String>,
        /// The end of the run.
        time: Timestamp,
    },
}

/// A receiver of run events.
pub trait Sink: Send {
    /// Receives the next event. Called in the order of the events.
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

/// A log message (section 17, *Log entry*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The importance of the message.
    pub level: Level,
    /// The text, without source and level.
    pub message: String,
    /// The path of a resource or property, the reference of a container, or `Puppet`.
    pub source: String,
    /// The tags of the resource. The level is added on output.
    pub(crate) tags: Tags,
    pub(crate) time: Timestamp,
    pub(crate) file: Option<Arc<str>>,
    pub(crate) line: Option<u64>,
}

impl From<LogEntry> for RunEvent {
    fn from(entry: LogEntry) -> Self {
        RunEvent::Log(Arc::new(entry))
    }
}

impl LogEntry {
    /// An entry for a message from loading the catalog.
    pub(crate) fn new(message: LoadMessage, time: Timestamp) -> Self {
        Self {
            level: message.level,
            message: message.message,
            source: message.source,
            tags: message.tags,
            time,
            line: message.position.as_ref().map(|position| position.line),
            file: message.position.map(|position| position.file),
        }
    }
}

/// An operation and its result; `None` for a preview.
#[derive(Clone, Debug)]
pub struct OperationRecord {
    pub(crate) operation: Operation,
    pub(crate) result: Option<(Outcome, Duration)>,
}

/// The result of one resource (section 17, *Resource status*).
#[derive(Clone, Debug)]
pub struct ResourceStatus {
    /// The resource that was evaluated.
    pub reference: ResourceRef,
    /// The run added the resource: no catalog declares it.
    pub(crate) is_default: bool,
    /// The manifest that declares the resource.
    pub file: Option<Arc<str>>,
    /// Line in the manifest, from 1.
    pub line: Option<u64>,
    /// The catalog declares the resource with `noop => true`.
    pub(crate) is_declared_noop: bool,
    /// The provider of the resource, if it needs one.
    pub(crate) provider: Option<Arc<str>>,
    /// Class titles and container references, outermost first, and the resource's own reference.
    pub containment_path: Arc<[Arc<str>]>,
    /// The tags that the catalog and the `tag` metaparameter give.
    pub tags: Tags,
    /// The start of the evaluation.
    pub(crate) time: Timestamp,
    /// `None` when it was not evaluated.
    pub(crate) evaluation_time: Option<Duration>,
    /// Whether an event is a failure or the evaluation failed.
    pub failed: bool,
    /// Whether a refresh of the resource failed.
    pub failed_to_restart: bool,
    /// Whether the resource was refreshed successfully.
    pub restarted: bool,
    /// Whether an event is a success, refreshes included.
    pub changed: bool,
    /// Whether there is an event other than an audit.
    pub out_of_sync: bool,
    /// Whether an event is a corrective change.
    pub corrective_change: bool,
    /// The reason why the resource was skipped.
    pub(crate) skipped: Option<Skip>,
    /// Number of successful events, refreshes included.
    pub change_count: u64,
    /// Number of events other than audits.
    pub out_of_sync_count: u64,
    /// Failed resources that this resource depends on.
    pub failed_dependencies: Vec<ResourceRef>,
    /// The events in the order in which they occurred.
    pub events: Vec<Event>,
    /// The operations that were sent for the resource.
    pub(crate) operations: Arc<[OperationRecord]>,
}

/// The reason why a resource was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    /// Its tags are not selected.
    Tags,
    Schedule,
    FailedDependencies,
    /// The prefetch of its type failed.
    PrefetchFailed,
    /// Declared and not realized.
    Virtual,
    /// A host resource in a device run.
    HostResource,
    /// A device resource in a host run.
    DeviceResource,
    /// The run was stopped.
    Stopped,
    /// The connection broke, for this reason.
    Disconnected(Arc<str>),
}

impl ResourceStatus {
    /// Whether the resource was skipped.
    pub fn is_skipped(&self) -> bool {
        self.skipped.is_some()
    }

    /// The reason why the resource was skipped, in words.
    pub(crate) fn skip_reason(&self) -> Option<String> {
        let reason = match self.skipped.as_ref()? {
            Skip::Tags => "the run does not select its tags",
            Skip::Schedule => "its schedule does not include this time",
            Skip::FailedDependencies => {
                let failed = self.failed_dependencies.iter();
                let failed: Vec<String> = failed.map(ToString::to_string).collect();
                return Some(format!("failed dependencies: {}", failed.join(", ")));
            }
            Skip::PrefetchFailed => "the type cannot be read from the device",
            Skip::Virtual => "it is virtual",
            Skip::HostResource => "it is for a host",
            Skip::DeviceResource => "it is for a device",
            Skip::Stopped => "the run was stopped",
            Skip::Disconnected(reason) => reason,
        };
        Some(reason.to_owned())
    }

    /// Adds an event and updates the counters.
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
        // Most resources have at most one event, and a report contains all of them.
        self.events.reserve_exact(1);
        self.events.push(event);
    }
}

/// A change of one property, or another event of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `mtu_changed`, `dev_vlan_created`, `refresh`, `resource_error`.
    pub name: String,
    /// The property that changed; `None` for other events.
    pub property: Option<Name>,
    /// The value on the device before the change, redacted if sensitive.
    pub previous_value: Option<Value>,
    /// The value from the catalog, redacted if sensitive.
    pub desired_value: Option<Value>,
    /// The audited value of the last run.
    pub historical_value: Option<Value>,
    /// The outcome: success, failure, noop or audit.
    pub status: EventStatus,
    /// The text that is logged with the event.
    pub message: Option<String>,
    /// Whether an audit of the property contributed to the event.
    pub audited: bool,
    /// Whether the device differed from the state that the last run left.
    pub corrective_change: bool,
    /// `Some(true)` for sensitive properties, `None` for other properties, `Some(false)` for events
    /// without a property.
    pub redacted: Option<bool>,
    pub(crate) time: Timestamp,
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
