//! Run events: the only output of the engine.
//!
//! Reports, views and stored results are folds of these events. Events contain no secrets:
//! sensitive values are redacted before.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use switchtender_devices::operation::{Operation, Outcome};
use switchtender_devices::value::{Name, Value};

use super::command_record::CommandRecord;
use super::resource_json::ResourceJson;
use crate::catalog::node::Tags;
use crate::catalog::{ConfigVersion, Level, LoadMessage, ResourceRef, rich_data};
use crate::clock;
use crate::words::words;

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
        /// The operations in the order of sending, with their secrets.
        operations: Arc<[OperationRecord]>,
        /// The same as text, for people.
        commands: Arc<[CommandRecord]>,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = StoredLog)]
pub struct LogEntry {
    /// The importance of the message.
    #[schema(value_type = String)]
    pub level: Level,
    /// The path of a resource or property, the reference of a container, or `Puppet`.
    pub source: String,
    /// The text, without source and level.
    pub message: String,
    #[serde(with = "clock::puppet_times")]
    #[schema(value_type = String)]
    pub(crate) time: Timestamp,
    #[schema(value_type = Option<String>)]
    pub(crate) file: Option<Arc<str>>,
    pub(crate) line: Option<u64>,
    /// The tags of the resource. The level is added on output.
    #[serde(skip)]
    pub(crate) tags: Tags,
    #[serde(skip)]
    pub(crate) kind: LogKind,
}

/// What a message is about, for views that show this otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogKind {
    #[default]
    Other,
    /// A change that was not made. The text says what a run without noop would do.
    Planned(String),
    /// A change that was made, in the words of a plan.
    Done(String),
    /// The duration of a run.
    Duration,
    /// The run waits for the device, at most so long. It is shown at once.
    Wait(Duration),
}

impl LogKind {
    /// The kind of the message of an event.
    pub(crate) fn of_event(event: &Event) -> Self {
        match event.status {
            EventStatus::Noop => event.text().map(LogKind::Planned),
            EventStatus::Success => event.done_text().map(LogKind::Done),
            EventStatus::Failure | EventStatus::Audit => None,
        }
        .unwrap_or_default()
    }

    /// Replaces the text for people.
    pub(crate) fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            LogKind::Planned(text) | LogKind::Done(text) => Some(text),
            LogKind::Other | LogKind::Duration | LogKind::Wait(_) => None,
        }
    }
}

impl From<LogEntry> for RunEvent {
    fn from(entry: LogEntry) -> Self {
        RunEvent::Log(Arc::new(entry))
    }
}

impl LogEntry {
    /// The message for people; one about a change that was not made is in the future tense.
    pub(crate) fn text(&self) -> &str {
        match &self.kind {
            LogKind::Planned(text) | LogKind::Done(text) => text,
            LogKind::Other | LogKind::Duration | LogKind::Wait(_) => &self.message,
        }
    }

    /// An entry for a message from loading the catalog.
    pub(crate) fn new(message: LoadMessage, time: Timestamp) -> Self {
        Self {
            level: message.level,
            message: message.message,
            source: message.source,
            tags: message.tags,
            kind: LogKind::Other,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ResourceJson", try_from = "ResourceJson")]
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
    /// The operations that were sent for the resource, or would be sent.
    pub(crate) operations: Arc<[CommandRecord]>,
}

words! {
    /// The result of a resource in one word.
    ResourceResult {
        Unchanged = "unchanged",
        Changed = "changed",
        Failed = "failed",
        Skipped = "skipped",
        /// A run without noop would change it.
        Pending = "pending",
    }
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
    /// The connection broke, or a report says so, for this reason.
    Reason(Arc<str>),
    /// A report does not say why.
    Unknown,
}

impl Skip {
    /// The reason in a report.
    pub(crate) fn of_text(reason: Option<String>) -> Self {
        reason.map_or(Skip::Unknown, |reason| Skip::Reason(reason.into()))
    }
}

impl ResourceStatus {
    /// The status of a resource without events.
    pub(crate) fn of(reference: ResourceRef) -> Self {
        Self {
            reference,
            is_default: false,
            file: None,
            line: None,
            is_declared_noop: false,
            provider: None,
            containment_path: Arc::default(),
            tags: Tags::default(),
            time: Timestamp::UNIX_EPOCH,
            evaluation_time: None,
            failed: false,
            failed_to_restart: false,
            restarted: false,
            changed: false,
            out_of_sync: false,
            corrective_change: false,
            skipped: None,
            change_count: 0,
            out_of_sync_count: 0,
            failed_dependencies: Vec::new(),
            events: Vec::new(),
            operations: Arc::default(),
        }
    }

    /// The result in one word.
    pub(crate) fn result(&self) -> ResourceResult {
        if self.has_failed() {
            ResourceResult::Failed
        } else if self.changed {
            ResourceResult::Changed
        } else if self.is_skipped() {
            ResourceResult::Skipped
        } else if self.is_pending() {
            ResourceResult::Pending
        } else {
            ResourceResult::Unchanged
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed || self.failed_to_restart
    }

    /// Whether a run without noop would change the resource.
    pub(crate) fn is_pending(&self) -> bool {
        let mut events = self.events.iter();
        events.any(|event| event.status == EventStatus::Noop)
    }

    /// Whether the resource failed, was changed or skipped, or would be changed.
    pub(crate) fn is_notable(&self) -> bool {
        self.changes().next().is_some() || self.is_skipped() || self.has_failed()
    }

    /// Whether the device differed from its catalog without a change of the catalog, or still differs.
    pub(crate) fn is_drift(&self) -> bool {
        self.is_pending() || (self.corrective_change && (self.failed || self.changed))
    }

    /// The events without those of audits.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Event> {
        let events = self.events.iter();
        events.filter(|event| event.status != EventStatus::Audit)
    }

    /// `file:line` of the declaration.
    pub(crate) fn position(&self) -> Option<String> {
        file_line(self.file.as_deref(), self.line)
    }

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
            Skip::Reason(reason) => reason,
            Skip::Unknown => return None,
        };
        Some(reason.to_owned())
    }

    /// Adds an event and updates the counters.
    pub(crate) fn add(&mut self, event: Event) {
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

/// `file:line`, as far as they are known.
pub(crate) fn file_line(file: Option<&str>, line: Option<u64>) -> Option<String> {
    let file = file?;
    Some(match line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    })
}

/// A change of one property, or another event of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = StoredEvent)]
pub struct Event {
    /// `mtu_changed`, `dev_vlan_created`, `refresh`, `resource_error`.
    pub name: String,
    /// The property that changed; `None` for other events.
    #[schema(value_type = Option<String>)]
    pub property: Option<Name>,
    /// The outcome: success, failure, noop or audit.
    #[schema(value_type = String)]
    pub status: EventStatus,
    /// The value on the device before the change, redacted if sensitive.
    #[serde(default, with = "rich_data::plain")]
    #[schema(value_type = serde_json::Value)]
    pub previous_value: Option<Value>,
    /// The value from the catalog, redacted if sensitive.
    #[serde(default, with = "rich_data::plain")]
    #[schema(value_type = serde_json::Value)]
    pub desired_value: Option<Value>,
    /// The text that is logged with the event.
    pub message: Option<String>,
    /// Whether the device differed from the state that the last run left.
    #[serde(default)]
    pub corrective_change: bool,
    #[serde(with = "clock::puppet_times")]
    #[schema(value_type = String)]
    pub(crate) time: Timestamp,
    /// The audited value of the last run.
    #[serde(skip)]
    pub historical_value: Option<Value>,
    /// Whether an audit of the property contributed to the event.
    #[serde(skip)]
    pub audited: bool,
    /// `Some(true)` for sensitive properties, `None` for other properties, `Some(false)` for events
    /// without a property.
    #[serde(skip)]
    pub redacted: Option<bool>,
    #[serde(skip)]
    pub(crate) invalidates_refreshes: bool,
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
