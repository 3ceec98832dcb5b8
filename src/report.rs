//! Reports: folds of the events of a run.
//!
//! [`Report`] gathers events and answers what a run came to; it is written as a Puppet report,
//! format 12, with our extension `operations`, or summarised as `last_run_summary.yaml`
//! (`docs/reference/transaction.md`, section 17). It knows no files.

mod json;
mod metrics;
mod summary;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::catalog::{ConfigVersion, Level};
use crate::transaction::{EventStatus, LogEntry, ResourceStatus, RunEvent};

pub use metrics::{Metric, Number};

/// What a report says besides what happened in the run.
#[derive(Clone, Debug)]
pub struct Context {
    /// Certname of the device.
    pub host: String,
    /// Start of the run.
    pub time: Timestamp,
    pub transaction_uuid: Option<String>,
    /// The version that readers expect to be told.
    pub puppet_version: String,
    /// The global setting.
    pub noop: bool,
    /// Asked for at the beginning.
    pub environment: Option<String>,
    pub server_used: Option<String>,
    pub job_id: Option<String>,
    pub cached_catalog_status: CachedCatalog,
    /// Messages below it are left out.
    pub log_level: Level,
}

/// Whether the catalog came from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedCatalog {
    NotUsed,
    ExplicitlyRequested,
    OnFailure,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Failed,
    Changed,
    Unchanged,
}

/// A run, as far as it has got.
#[derive(Clone, Debug)]
pub struct Report {
    context: Context,
    configuration_version: Option<ConfigVersion>,
    environment: Option<String>,
    code_id: Option<String>,
    catalog_uuid: Option<String>,
    logs: Vec<Arc<LogEntry>>,
    statuses: Vec<Arc<ResourceStatus>>,
    /// Seconds by category.
    times: BTreeMap<String, f64>,
    completed: bool,
    failed_to_generate: bool,
    error: Option<String>,
    /// Something failed that is no resource.
    flawed: bool,
    ended: Option<Timestamp>,
}

impl Report {
    pub fn new(context: Context) -> Self {
        Self {
            configuration_version: None,
            environment: context.environment.clone(),
            code_id: None,
            catalog_uuid: None,
            logs: Vec::new(),
            statuses: Vec::new(),
            times: BTreeMap::new(),
            completed: false,
            failed_to_generate: false,
            error: None,
            flawed: false,
            ended: None,
            context,
        }
    }

    /// Takes an event in.
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
            RunEvent::Finished {
                completed,
                failed_to_generate,
                error,
                time,
            } => {
                self.completed = *completed;
                self.failed_to_generate = *failed_to_generate;
                self.error.clone_from(error);
                self.ended = Some(*time);
            }
            RunEvent::HostResources(_)
            | RunEvent::Reached { .. }
            | RunEvent::Operations { .. }
            | RunEvent::Graph { .. } => {}
        }
    }

    /// Something failed after the transaction: the run has failed, whatever its resources say.
    pub fn fail(&mut self) {
        self.flawed = true;
    }

    /// Adds a measured time, such as `config_retrieval`, to the metrics.
    pub fn measured(&mut self, name: &str, took: Duration) {
        self.times.insert(name.to_owned(), took.as_secs_f64());
    }

    pub fn statuses(&self) -> &[Arc<ResourceStatus>] {
        &self.statuses
    }

    pub fn logs(&self) -> &[Arc<LogEntry>] {
        &self.logs
    }

    /// What ended the run early.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    pub fn completed(&self) -> bool {
        self.completed
    }

    pub fn failed_to_generate(&self) -> bool {
        self.failed_to_generate
    }

    pub fn status(&self) -> Status {
        let failed = |status: &Arc<ResourceStatus>| status.failed || status.failed_to_restart;
        if self.flawed
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

    pub fn noop_pending(&self) -> bool {
        self.statuses.iter().any(|status| {
            status
                .events
                .iter()
                .any(|event| event.status == EventStatus::Noop)
        })
    }

    pub fn corrective_change(&self) -> bool {
        self.statuses.iter().any(|status| status.corrective_change)
    }

    /// Bits of the exit status: 2 changes, 4 failures; `None` if the run died.
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
    pub fn name(self) -> &'static str {
        match self {
            Status::Failed => "failed",
            Status::Changed => "changed",
            Status::Unchanged => "unchanged",
        }
    }
}
