//! Everything about one run, for every reader.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use switchtender_devices::provider::driver_provider::Verdict;

use super::declared_values::DeclaredValues;
use super::{
    Context, CoverageRecord, FindingRecord, ResourceUndo, RunCounts, RunStatus, UndoPlan,
    UnknownText,
};
use crate::catalog::{CachedStatus, ConfigVersion, Level, ResourceRef};
use crate::git::GitRevision;
use crate::inventory::SavePolicy;
use crate::run_kind::RunKind;
use crate::transaction::{LogEntry, LogKind, ResourceStatus, RunEvent};

/// The word for a device that could not be connected.
pub(crate) const UNREACHABLE: &str = "unreachable";

/// The record of a run. Secrets are masked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    pub(crate) context: Context,
    pub(crate) kind: RunKind,
    /// The name that the runs of all devices of one command have, for `undo`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) run_name: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) configuration_version: Option<ConfigVersion>,
    /// The commit of the desired state, if it is in a Git work tree.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) revision: Option<GitRevision>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) environment: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) code_id: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) catalog_uuid: Option<String>,
    /// The evaluated resources, in the order of their evaluation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) resources: Vec<Arc<ResourceStatus>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) logs: Vec<Arc<LogEntry>>,
    pub(crate) counts: RunCounts,
    /// Seconds by category.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) times: BTreeMap<String, f64>,
    /// Text of the device that was not understood.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) not_understood: Vec<UnknownText>,
    /// The difference that the run made to the configuration, or would make. Empty: none is known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) difference: String,
    /// Messages about changes that the difference does not show.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) without_difference: Vec<String>,
    /// What the device has after a protected run with changes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) protection: Option<Verdict>,
    /// What cannot be undone, and the commands that undo the changes, where they are shown; for plans.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) undo: Option<UndoPlan>,
    /// The changes that were undone after a failure, last change first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) undone: Vec<ResourceUndo>,
    /// All changes were undone after a failure, completely.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) is_undone: bool,
    /// Findings about the catalog.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) findings: Vec<FindingRecord>,
    /// `None`: unknown, because the run ended before they were read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) facts: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) round_trips: u64,
    /// Earlier sessions of the login that were ended before the first write.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) ended_sessions: usize,
    /// The run changed the configuration and did not save it: the policy of the device.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) not_saved: Option<SavePolicy>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) completed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) failed_to_generate: bool,
    /// The error that aborted the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) error: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) hint: Option<String>,
    /// The device was not changed for a reason that is no resource's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) is_not_run: bool,
    /// The device could not be connected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) is_unreachable: bool,
    /// The first failure after the transaction, or of its verification: a read, saving, files.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) failure: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) ended: Option<Timestamp>,
    /// What share of the configuration is managed. `None`: it was not requested.
    #[serde(skip)]
    pub(crate) coverage: Option<CoverageRecord>,
    /// The graph of the catalog as an SVG image, or why there is none. `None`: it was not requested.
    #[serde(skip)]
    pub(crate) graph: Option<Result<String, String>>,
    /// The values of the catalog, with secrets hidden. `None`: there was none.
    #[serde(skip)]
    pub(crate) declared: Option<DeclaredValues>,
}

/// Whether a field is left out of the stored form.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl RunRecord {
    /// Creates a record without events.
    pub fn new(context: Context) -> Self {
        Self {
            kind: if context.noop {
                RunKind::Noop
            } else {
                RunKind::Apply
            },
            run_name: None,
            configuration_version: None,
            revision: None,
            environment: context.environment.clone(),
            code_id: None,
            catalog_uuid: None,
            resources: Vec::new(),
            logs: Vec::new(),
            counts: RunCounts::new(),
            times: BTreeMap::new(),
            not_understood: Vec::new(),
            difference: String::new(),
            without_difference: Vec::new(),
            protection: None,
            undo: None,
            undone: Vec::new(),
            is_undone: false,
            findings: Vec::new(),
            facts: None,
            round_trips: 0,
            ended_sessions: 0,
            not_saved: None,
            completed: false,
            failed_to_generate: false,
            error: None,
            hint: None,
            is_not_run: false,
            is_unreachable: false,
            failure: None,
            ended: None,
            coverage: None,
            graph: None,
            declared: None,
            context,
        }
    }

    /// Adds an event.
    pub fn fold(&mut self, event: &RunEvent) {
        self.counts.fold(event);
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
                self.resources.push(Arc::clone(status));
            }
            RunEvent::Amended { status, .. } => {
                let mut statuses = self.resources.iter_mut();
                if let Some(amended) = statuses.find(|old| old.reference == status.reference) {
                    *amended = Arc::clone(status);
                }
            }
            RunEvent::Unverified { reason } => {
                self.failure.get_or_insert_with(|| reason.clone());
            }
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

    /// Adds a failure after the transaction: the run failed, whatever its resources did.
    pub(crate) fn fail(&mut self, text: String) {
        self.counts.failed_after_transaction = true;
        self.failure.get_or_insert(text);
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
        &self.resources
    }

    /// The resources without those that every run has: Puppet's file bucket and its schedules.
    pub(crate) fn managed(&self) -> impl Iterator<Item = &Arc<ResourceStatus>> {
        let resources = self.resources.iter();
        resources.filter(|status| !status.is_default)
    }

    /// A record with the resources of a run.
    #[must_use]
    pub(crate) fn with_resources(mut self, resources: Vec<Arc<ResourceStatus>>) -> Self {
        self.resources = resources;
        self.mark_logs_of_changes();
        self
    }

    /// The record of a run that ended without a result.
    pub(crate) fn lost(kind: RunKind, error: String) -> Self {
        Self {
            kind,
            error: Some(error),
            is_not_run: true,
            ..Self::new(unknown_context(Timestamp::UNIX_EPOCH))
        }
    }

    /// The record of a complete plan without resources.
    pub(crate) fn planned(time: Timestamp) -> Self {
        let record = Self {
            kind: RunKind::Plan,
            completed: true,
            ..Self::new(unknown_context(time))
        };
        Self {
            counts: RunCounts::default(),
            ..record
        }
    }

    /// Marks the messages that are about changes.
    pub(super) fn mark_logs_of_changes(&mut self) {
        let resources = self.resources.iter();
        let changes: Vec<(String, &str, LogKind)> = resources
            .flat_map(|status| status.events.iter())
            .filter_map(|event| {
                let property = event.property.as_deref()?;
                Some((
                    format!("/{property}"),
                    event.message.as_deref()?,
                    LogKind::of_event(event),
                ))
            })
            .collect();
        for entry in &mut self.logs {
            let mut changes = changes.iter();
            let found = changes.find(|(property, message, _)| {
                entry.message == *message && entry.source.ends_with(property.as_str())
            });
            if let Some((_, _, kind)) = found {
                Arc::make_mut(entry).kind = kind.clone();
            }
        }
    }

    /// The record without its resources and facts, which the store has elsewhere.
    pub(crate) fn without_resources(&self) -> Self {
        Self {
            resources: Vec::new(),
            facts: None,
            ..self.clone()
        }
    }

    /// The result, without what only one device needs.
    pub(crate) fn summary(&self) -> Self {
        Self {
            logs: Vec::new(),
            not_understood: Vec::new(),
            difference: String::new(),
            without_difference: Vec::new(),
            undo: None,
            undone: Vec::new(),
            findings: Vec::new(),
            times: BTreeMap::new(),
            coverage: self.coverage.as_ref().map(CoverageRecord::shares),
            graph: None,
            declared: None,
            ..self.without_resources()
        }
    }

    /// Whether a resource failed to generate other resources.
    pub fn has_failed_to_generate(&self) -> bool {
        self.failed_to_generate
    }

    /// The status of the run.
    pub(crate) fn status(&self) -> RunStatus {
        if self.is_not_run {
            RunStatus::NotRun
        } else {
            self.counts.status()
        }
    }

    /// The status for people: `unreachable` is one of those of devices that did not run.
    pub(crate) fn status_word(&self) -> &'static str {
        if self.is_not_run && self.is_unreachable {
            UNREACHABLE
        } else {
            self.status().word()
        }
    }

    /// Why the device did not run, or the first failure that is no resource's.
    pub(crate) fn problem(&self) -> Option<&str> {
        let problem = if self.is_not_run {
            &self.error
        } else {
            &self.failure
        };
        problem.as_deref()
    }

    /// Whether nothing was to be changed.
    pub(crate) fn is_without_changes(&self) -> bool {
        self.kind.is_noop()
    }

    /// Whether the device has changes of the run.
    pub(crate) fn has_changed(&self) -> bool {
        self.counts.changed > 0 && !self.is_undone && self.protection != Some(Verdict::Reverted)
    }

    /// The notes of findings on a resource.
    pub(crate) fn notes_on(&self, reference: &ResourceRef) -> impl Iterator<Item = &str> {
        let own = format!("{reference}: ");
        let notes = self.findings.iter().filter(|finding| finding.is_note);
        notes.filter_map(move |finding| finding.message.strip_prefix(&own))
    }

    /// The start of the run without fractions of a second.
    pub(crate) fn start(&self) -> String {
        let time = self.context.time.strftime("%Y-%m-%dT%H:%M:%S+00:00");
        time.to_string()
    }

    /// The version of the catalog as text.
    pub(crate) fn version(&self) -> Option<String> {
        let version = self.configuration_version.as_ref();
        version.map(ToString::to_string)
    }

    /// The sum of all changes.
    pub fn changes(&self) -> u64 {
        let resources = self.resources.iter();
        resources.map(|status| status.change_count).sum()
    }

    pub(crate) fn has_corrective_change(&self) -> bool {
        self.resources.iter().any(|status| status.corrective_change)
    }

    /// Bits of the exit status: 2 changes, 4 failures; `None`: the run was aborted.
    pub fn exit_bits(&self) -> Option<u8> {
        if self.error.is_some() {
            return None;
        }
        let changed = if self.changes() > 0 { 2 } else { 0 };
        let failed = self.resources.iter().any(|status| status.has_failed());
        Some(changed | if failed { 4 } else { 0 })
    }
}

/// The context of a run that nothing else is known of.
fn unknown_context(time: Timestamp) -> Context {
    Context {
        host: String::new(),
        time,
        transaction_uuid: None,
        puppet_version: String::new(),
        noop: false,
        environment: None,
        server_used: None,
        job_id: None,
        cached_catalog_status: CachedStatus::NotUsed,
        log_level: Level::Notice,
    }
}
