//! Reports of runs.
//!
//! [`Report`] collects the events of a run and computes its result. It is written as a Puppet
//! report, format 12, with extensions (`ARCHITECTURE.md`), and as
//! `last_run_summary.yaml`
//! (`docs/reference/transaction.md`, section 17). [`stored`] reads it again, [`page`] renders it as HTML. This
//! module does not write files.

pub(crate) mod command_lines;
pub(crate) mod json;
mod metrics;
pub(crate) mod page;
pub(crate) mod stored;
mod summary;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::provider::driver_provider::Verdict;

use crate::catalog::{CachedStatus, ConfigVersion, Level};
use crate::transaction::{EventStatus, LogEntry, ResourceStatus, RunEvent};

pub use metrics::Number;

/// The status of a device that was not changed for a reason that is no resource's.
pub(crate) const NOT_RUN: &str = "not run";

/// A resource whose changes were undone after a failure, with masked secrets.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct UndoneEntry {
    pub(crate) resource: String,
    /// What was sent.
    pub(crate) operations: Vec<String>,
    /// What was not restored, with reasons; empty if it is undone.
    pub(crate) not_restored: Vec<String>,
}

/// The data of a report that does not come from events.
#[derive(Clone, Debug)]
pub struct Context {
    /// Certname of the device.
    pub host: String,
    /// Start of the run.
    pub time: Timestamp,
    /// UUID that identifies the transaction.
    pub transaction_uuid: Option<String>,
    /// The version of Puppet in the report.
    pub puppet_version: String,
    /// The global `noop` setting.
    pub noop: bool,
    /// The requested environment.
    pub environment: Option<String>,
    /// `host:port` of the server that was selected from `server_list`.
    pub server_used: Option<String>,
    /// ID of the orchestrator job that started the run.
    pub job_id: Option<String>,
    /// Whether the catalog came from the cache, and why.
    pub cached_catalog_status: CachedStatus,
    /// Minimum level of messages.
    pub log_level: Level,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Failed,
    Changed,
    Unchanged,
}

/// The report of a run.
#[derive(Clone, Debug)]
pub struct Report {
    context: Context,
    configuration_version: Option<ConfigVersion>,
    environment: Option<String>,
    code_id: Option<String>,
    catalog_uuid: Option<String>,
    logs: Vec<Arc<LogEntry>>,
    statuses: Vec<Arc<ResourceStatus>>,
    /// Text of the device that was not understood.
    not_understood: Vec<NotUnderstood>,
    /// The difference that the run made to the configuration, or would make. Empty: none is known.
    configuration_difference: String,
    /// What the device has after a protected run with changes.
    protection: Option<Verdict>,
    /// The changes that were undone after a failure, last change first.
    undone: Vec<UndoneEntry>,
    /// Seconds by category.
    times: BTreeMap<String, f64>,
    completed: bool,
    failed_to_generate: bool,
    error: Option<String>,
    /// A step after the transaction failed.
    failed_after_transaction: bool,
    ended: Option<Timestamp>,
}

impl Report {
    /// Creates a report without events.
    pub fn new(context: Context) -> Self {
        Self {
            configuration_version: None,
            environment: context.environment.clone(),
            code_id: None,
            catalog_uuid: None,
            logs: Vec::new(),
            statuses: Vec::new(),
            not_understood: Vec::new(),
            configuration_difference: String::new(),
            protection: None,
            undone: Vec::new(),
            times: BTreeMap::new(),
            completed: false,
            failed_to_generate: false,
            error: None,
            failed_after_transaction: false,
            ended: None,
            context,
        }
    }

    /// Adds an event.
    pub fn fold(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Applying {
                version,
                environment,
                code_id,
                catalog_uuid,
                ..
            } => {
                self.configuration_version.clone_from(version);
                self.code_id.clone_from(code_id);
                self.catalog_uuid.clone_from(catalog_uuid);
                if environment.is_some() {
                    self.environment.clone_from(environment);
                }
            }
            RunEvent::Log(entry) => {
                if entry.level >= self.context.log_level {
                    self.logs.push(Arc::clone(entry));
                }
            }
            RunEvent::Resource(status) => {
                if let Some(took) = status.evaluation_time {
                    let name = status.reference.model_name();
                    *self.times.entry(name).or_default() += took.as_secs_f64();
                }
                self.statuses.push(Arc::clone(status));
            }
            RunEvent::Amended { status, .. } => {
                let mut statuses = self.statuses.iter_mut();
                if let Some(amended) = statuses.find(|old| old.reference == status.reference) {
                    *amended = Arc::clone(status);
                }
            }
            RunEvent::Unverified { .. } => self.fail(),
            RunEvent::Finished {
                completed,
                failed_to_generate,
                error,
                time,
            } => {
                self.completed = *completed;
                self.failed_to_generate = *failed_to_generate > 0;
                self.error.clone_from(error);
                self.ended = Some(*time);
            }
            RunEvent::HostResources(_)
            | RunEvent::Evaluating { .. }
            | RunEvent::Operations { .. }
            | RunEvent::Graph { .. } => {}
        }
    }

    /// Adds text of the device that was not understood.
    pub(crate) fn add_not_understood(&mut self, all: &[NotUnderstood]) {
        self.not_understood.extend_from_slice(all);
    }

    /// Sets the difference to the configuration, with masked secrets.
    pub(crate) fn set_difference(&mut self, diff: String) {
        self.configuration_difference = diff;
    }

    /// Sets what the device has after a protected run with changes.
    pub(crate) fn set_protection(&mut self, verdict: Verdict) {
        self.protection = Some(verdict);
    }

    /// Sets the changes that were undone after a failure, with masked secrets.
    pub(crate) fn set_undone(&mut self, undone: Vec<UndoneEntry>) {
        self.undone = undone;
    }

    /// Marks the run as failed, because a step after the transaction failed.
    pub(crate) fn fail(&mut self) {
        self.failed_after_transaction = true;
    }

    /// Adds to the context what is known only after the run has started.
    pub(crate) fn complete_context(&mut self, complete: impl FnOnce(&mut Context)) {
        complete(&mut self.context);
        if self.environment.is_none() {
            self.environment.clone_from(&self.context.environment);
        }
    }

    /// Adds a measured time, such as `config_retrieval`, to the metrics.
    pub(crate) fn measured(&mut self, name: &str, took: Duration) {
        self.times.insert(name.to_owned(), took.as_secs_f64());
    }

    /// The statuses of the evaluated resources, in the order of their evaluation.
    pub fn statuses(&self) -> &[Arc<ResourceStatus>] {
        &self.statuses
    }

    /// The error that aborted the run.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.completed
    }

    /// Whether a resource failed to generate other resources.
    pub fn has_failed_to_generate(&self) -> bool {
        self.failed_to_generate
    }

    pub(crate) fn status(&self) -> Status {
        let failed = |status: &Arc<ResourceStatus>| status.failed || status.failed_to_restart;
        if self.failed_after_transaction
            || self.failed_to_generate
            || !self.completed
            || self.statuses.iter().any(failed)
        {
            Status::Failed
        } else if self.changes() > 0 {
            Status::Changed
        } else {
            Status::Unchanged
        }
    }

    /// The sum of all changes.
    pub fn changes(&self) -> u64 {
        self.statuses.iter().map(|status| status.change_count).sum()
    }

    pub(crate) fn is_noop_pending(&self) -> bool {
        self.statuses.iter().any(|status| {
            status
                .events
                .iter()
                .any(|event| event.status == EventStatus::Noop)
        })
    }

    pub(crate) fn has_corrective_change(&self) -> bool {
        self.statuses.iter().any(|status| status.corrective_change)
    }

    /// Bits of the exit status: 2 changes, 4 failures; `None`: the run was aborted.
    pub fn exit_bits(&self) -> Option<u8> {
        if self.error.is_some() {
            return None;
        }
        let changed = if self.changes() > 0 { 2 } else { 0 };
        let failed = self
            .statuses
            .iter()
            .any(|status| status.failed || status.failed_to_restart);
        Some(changed | if failed { 4 } else { 0 })
    }
}

impl Status {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Status::Failed => "failed",
            Status::Changed => "changed",
            Status::Unchanged => "unchanged",
        }
    }
}
