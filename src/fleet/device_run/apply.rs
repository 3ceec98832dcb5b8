//! The transaction of a run and everything after it, up to the state files.
//!
//! Nothing here ends early: a step that fails is a failure of the run, and the next step follows.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::model::TypeModel;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::operation::Operation;
use switchtender_devices::provider::driver_provider::{
    DriverProvider, PredictedDiff, ProtectPolicy, Verdict,
};
use switchtender_devices::provider::{Provider, ReadOnly};
use switchtender_devices::session::{Access, RevertAbsence, Session};

use super::error::STANDBY_HINT;
use super::recorder::ResourceOperations;
use super::{DeviceRunError, DeviceRunResult, Running};
use crate::catalog::Level;
use crate::catalog::types::Types;
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::catalog_check::PreparedCatalog;
use crate::fleet::connector::DeviceConnector;
use crate::fleet::run_counts::RunCounts;
use crate::fleet::save_config::SaveDecision;
use crate::fleet::state_files::{self, DeviceState, ManagedResources};
use crate::fleet::stored_plan::{PlanCollector, PlanUse, PlannedDevice, PlannedResource};
use crate::fleet::undo::UndoRecord;
use crate::inventory::{FailurePolicy, SavePolicy, StandbyPolicy};
use crate::run_kind::RunKind;
use crate::store::blocking_io;
use crate::transaction::{self, RunEvent, TransactionSettings};

/// A device with an open session.
pub(super) struct Contact {
    pub(crate) connector: DeviceConnector,
    pub(crate) session: Box<dyn Session>,
    pub(crate) facts: Facts,
    pub(crate) access: Access,
}

/// The state of earlier runs, and what this run writes.
pub(super) struct RunFiles {
    pub(crate) state: DeviceState,
    pub(crate) save: SavePolicy,
    pub(crate) protect: ProtectPolicy,
    pub(crate) allows_reload: bool,
    pub(crate) on_failure: FailurePolicy,
    pub(crate) standby: StandbyPolicy,
}

/// Why a device is not changed at all.
struct Obstacles<'a> {
    /// It cannot revert changes, and this is required.
    absence: Option<&'a RevertAbsence>,
    /// It is the standby unit of a pair, in this state.
    standby: Option<&'a str>,
}

/// What a run would change.
struct Preview {
    counts: RunCounts,
    resources: Vec<PlannedResource>,
    /// Why resources failed.
    failures: BTreeMap<String, String>,
    /// Secrets have digests.
    has_secrets: bool,
}

/// The beginning of Puppet's message about the duration of a run.
pub(crate) const APPLIED: &str = "Applied catalog in";

impl Running<'_> {
    /// Applies a catalog.
    ///
    /// # Errors
    /// The run would exceed a limit, or lacks a required protection; nothing was changed.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub(super) async fn apply(
        &mut self,
        catalog: PreparedCatalog,
        contact: Contact,
        mut files: RunFiles,
    ) -> Result<DeviceRunResult, DeviceRunError> {
        let Contact {
            connector,
            session,
            facts,
            access,
        } = contact;
        let provider = DriverProvider::new(
            Driver::new(&catalog.platform, &facts),
            session,
            Box::new(connector),
            Arc::clone(&files.state.remembered) as Arc<_>,
        )
        .allow_reload(files.allows_reload)
        .overwrite_unknown(self.request.overwrite_unknown)
        .allow_own_path(self.request.allow_own_path)
        .show_difference(self.request.kind.is_noop());
        let provider = match &catalog.undo {
            Some(record) => provider.undo_of(record.left(&files.state.remembered)),
            None => provider,
        };
        let protected = self.protect(files.protect, access, &facts, provider);
        let (mut provider, absence) = match protected.await {
            Ok(protected) => protected,
            Err((mut provider, error)) => {
                provider.close().await;
                return Err(error);
            }
        };
        for note in provider.notes() {
            self.events.run_log().warning(note);
        }
        self.events.report.complete_context(|context| {
            context.environment.clone_from(&catalog.environment);
        });
        // An undo manages nothing.
        let managed = match &catalog.undo {
            None => Some(ManagedResources::of(&catalog.resources)),
            Some(_) => None,
        };
        let standby = catalog.platform.standby_state(&facts).map(str::to_owned);
        let refused_standby = standby
            .clone()
            .filter(|_| files.standby == StandbyPolicy::Refuse);
        if standby.is_some() && refused_standby.is_none() {
            let text =
                "the device is the standby unit of a pair: a synchronization can remove changes";
            self.events.run_log().warning(text.to_owned());
        }
        let has_limits = self.limits.is_set() || absence.is_some() || refused_standby.is_some();
        let can_refuse = has_limits && access == Access::ReadWrite;
        if (can_refuse || !matches!(self.request.plan, PlanUse::None))
            && let Err(error) = self
                .check_preview(
                    &catalog,
                    &mut provider,
                    &files,
                    &Obstacles {
                        absence: absence.as_ref(),
                        standby: refused_standby.as_deref(),
                    },
                )
                .await
        {
            provider.close().await;
            return Err(error);
        }
        if let Some(record) = &catalog.undo
            && access == Access::ReadWrite
        {
            let preview = self.preview(&catalog, &mut provider, &files).await;
            tracing::debug!(failures = preview.failures.len(), "the undo was previewed");
            if let Err(error) = self.check_undo(record, &provider) {
                provider.close().await;
                return Err(error);
            }
        }
        self.run_transaction(
            &catalog.registry,
            catalog.resources,
            access,
            &mut provider,
            &mut files,
        )
        .await;
        if self.request.kind.is_noop() && access == Access::ReadOnly {
            let policy = files.protect;
            let command = if catalog.undo.is_some() {
                "undo"
            } else {
                "apply"
            };
            self.predict_protection(command, policy, absence, &mut provider)
                .await;
            if let Some(state) = refused_standby.filter(|_| self.events.counts.to_change > 0) {
                self.events.counts.is_standby = true;
                let text = format!("`{command}` will refuse the device: it is {state}");
                self.events.fail_with_hint(text, STANDBY_HINT);
            }
        }
        if let Some(record) = &catalog.undo
            && access == Access::ReadOnly
        {
            self.predict_incomplete_undo(record, &provider);
        }
        let end = self.end_protection(access, &mut provider).await;
        if end
            .as_ref()
            .is_some_and(|end| end.verdict == Verdict::Unknown)
        {
            files.state.remembered.forget_set();
        }
        let is_undone = end.is_none()
            && access == Access::ReadWrite
            && files.on_failure == FailurePolicy::Undo
            && self.undo_after_failure(&mut provider).await;
        if self.request.kind.is_noop() {
            for finding in self.limits.exceeded_by(&self.events.counts) {
                self.events.counts.exceeds_limit = true;
                self.events.fail(finding.message);
            }
        }
        if let Some(message) = provider.not_compared() {
            self.events.run_log().warning(message);
        }
        // The attributes of an undo are those that were read: nobody has declared them.
        if catalog.undo.is_none() {
            for message in provider.left_out() {
                self.events.run_log().notice(message.clone());
            }
            for message in provider.ineffective() {
                self.events.run_log().warning(message.clone());
            }
        }
        let mut not_understood = provider.not_understood();
        for found in &mut not_understood {
            found.text = self.events.mask.apply(&found.text);
        }
        self.record_not_understood(&not_understood);
        self.write_graphs().await;
        let is_saved = access == Access::ReadWrite
            && end.as_ref().is_none_or(|end| end.problem.is_none())
            && self.save(files.save, &mut provider).await;
        let operations = self.events.operations.take();
        let predicted =
            operations.map(|operations| predicted(&catalog.registry, &provider, &operations));
        let undo = (self.request.kind == RunKind::Plan).then(|| {
            if self.request.show_undo {
                provider.planned_undo()
            } else {
                provider.planned_undo().without_operations()
            }
        });
        let diff = match &predicted {
            Some(predicted) => predicted.diff.clone(),
            None if provider.has_changed() => provider.applied_diff(),
            None => String::new(),
        };
        let diff = self.events.mask.apply(&diff);
        self.request
            .plan
            .set_difference(self.events.device(), &diff);
        self.events.report.set_difference(diff);
        let is_reverted = is_undone || end.is_some_and(|end| end.verdict == Verdict::Reverted);
        let undo_record = (access == Access::ReadWrite && !is_reverted)
            .then(|| self.undo_record(&provider, &files))
            .map(|record| record.undoing(catalog.undo.as_deref()));
        for note in provider.close().await {
            self.events.run_log().warning(note);
        }
        if self.request.kind.writes_state() {
            let (state, store) = (files.state, self.owned.store.clone());
            let of_name = self.store.clone();
            let run = self.request.run.clone();
            let digests = Arc::clone(&state.remembered);
            let written = blocking_io::run(move || {
                // The state of a reverted run is that from before it.
                let state = if is_reverted {
                    Ok(())
                } else {
                    state.write(&store)
                };
                let managed = managed.map_or(Ok(()), |managed| managed.write(&of_name));
                let undo = undo_record.filter(|record| !record.resources.is_empty());
                let undo = undo.map_or(Ok(()), |record| {
                    digests.save_key(&store)?;
                    record.write(&store, &run)
                });
                [state, managed, undo]
            });
            for error in written.await.into_iter().filter_map(Result::err) {
                self.events.fail(format!(
                    "cannot write the state of the device: {}",
                    chain(&error)
                ));
            }
        }
        Ok(DeviceRunResult {
            counts: RunCounts::default(),
            failure: None,
            not_understood,
            predicted,
            undo,
            facts,
            statistics: provider.statistics(),
            not_saved: (provider.has_changed() && !is_saved).then_some(files.save),
            findings: catalog.findings,
        })
    }

    /// What the run changed.
    fn undo_record(&self, provider: &DriverProvider, files: &RunFiles) -> UndoRecord {
        let plan = self.request.plan.applied();
        let digests = &files.state.remembered;
        UndoRecord::new(
            plan,
            provider,
            provider.run_undo(),
            &self.events.mask,
            digests,
        )
    }

    /// Compares what the run would change with the limits and the plan.
    async fn check_preview(
        &self,
        catalog: &PreparedCatalog,
        provider: &mut DriverProvider,
        files: &RunFiles,
        obstacles: &Obstacles<'_>,
    ) -> Result<(), DeviceRunError> {
        let Preview {
            counts,
            resources,
            failures,
            has_secrets,
        } = self.preview(catalog, provider, files).await;
        let has_secrets = has_secrets || catalog.has_secrets;
        let findings = self.limits.exceeded_by(&counts);
        let has_changes = counts.to_change > 0;
        let absence = obstacles.absence.filter(|_| has_changes);
        let standby = obstacles.standby.filter(|_| has_changes);
        if self.request.kind.writes_state() {
            if let Some(state) = standby {
                let state = state.to_owned();
                return Err(DeviceRunError::Standby { state });
            }
            if let Some(absence) = absence {
                return Err(DeviceRunError::NoTimedRevert(absence.clone()));
            }
            if !findings.is_empty() {
                return Err(DeviceRunError::Limits { findings });
            }
        }
        let digests = &files.state.remembered;
        if matches!(self.request.plan, PlanUse::Save(_)) && has_secrets {
            self.owned.save_owner()?;
            digests.save_key(&self.owned.store)?;
        }
        let digest = catalog.digest.as_deref();
        let planned = |definitions: &str| {
            let digest = digest.expect("a run with a plan has a digest");
            PlannedDevice {
                platform: catalog.platform.name.to_string(),
                identity: self.owned.owner.identity.clone(),
                key: Some(digests.of_text("key")),
                catalog: if catalog.has_secrets {
                    digests.of_text(digest)
                } else {
                    digest.to_owned()
                },
                definitions: definitions.to_owned(),
                resources,
                difference: String::new(),
                has_secrets,
                failures,
            }
        };
        let plan = &self.request.plan;
        let is_refused = absence.is_some() || standby.is_some() || !findings.is_empty();
        let is_complete = !counts.has_failed() && !is_refused;
        let checked = plan.check(self.events.device(), is_complete, planned);
        checked.map_err(|findings| DeviceRunError::Plan { findings })
    }

    /// The changes that the run would make. Reads the device; the run uses the same state.
    async fn preview(
        &self,
        catalog: &PreparedCatalog,
        provider: &mut DriverProvider,
        files: &RunFiles,
    ) -> Preview {
        let mut resources = catalog.resources.clone();
        resources.enforce_noop();
        let registry = &catalog.registry;
        let mut counts = RunCounts::new();
        let mut planned = PlanCollector::new(&self.events.mask, &files.state.remembered);
        let mut memory = files.state.memory.clone();
        let input = transaction::Input {
            resources,
            types: &Types::new(|name: &str| registry.model(name).cloned()),
            noop: true,
            settings: &self.request.settings,
            clock: &clock::timestamp,
            zone: clock::zone(),
            memory: &mut memory,
            provider: &mut ReadOnly::new(provider),
            sink: &mut |event: RunEvent| {
                counts.fold(&event);
                planned.fold(&event);
            },
            stop: &|| self.stop.is_cancelled() || self.deadline.passed_by().is_some(),
        };
        // The run reports errors of the transaction.
        let _ = transaction::run(input).await;
        planned.add_instances(provider.previewed_instances());
        planned.add_undo(&provider.planned_undo());
        Preview {
            counts,
            resources: planned.resources,
            failures: planned.failures,
            has_secrets: planned.has_secrets,
        }
    }

    /// Adds text that was not understood to the report, the counts and the log.
    fn record_not_understood(&mut self, all: &[NotUnderstood]) {
        if all.is_empty() {
            return;
        }
        for text in all {
            let type_name = &text.type_name;
            let message = format!("{type_name}: not understood on the device: `{text}`");
            self.events.run_log().log(Level::Info, message);
        }
        let message = match all.len() {
            1 => "1 text of the device was not understood; -v prints it".to_owned(),
            count => format!("{count} texts of the device were not understood; -v prints them"),
        };
        self.events.run_log().notice(message);
        self.events.counts.not_understood = all.len();
        self.events.report.add_not_understood(all);
    }

    async fn run_transaction(
        &mut self,
        registry: &Arc<Registry>,
        resources: crate::catalog::Resources,
        access: Access,
        provider: &mut DriverProvider,
        files: &mut RunFiles,
    ) {
        let mut guarded;
        let applied: &mut dyn Provider = match access {
            Access::ReadOnly => {
                guarded = ReadOnly::new(provider);
                &mut guarded
            }
            Access::ReadWrite => provider,
        };
        let types = Types::new(|name: &str| registry.model(name).cloned());
        let settings = TransactionSettings {
            cycles_file: self.cycles_file(),
            stop_at_failure: files.on_failure == FailurePolicy::Undo,
            ..self.request.settings.clone()
        };
        let began = clock::instant();
        let input = transaction::Input {
            resources,
            types: &types,
            noop: self.request.kind.is_noop(),
            settings: &settings,
            clock: &clock::timestamp,
            zone: clock::zone(),
            memory: &mut files.state.memory,
            provider: applied,
            sink: &mut self.events,
            stop: &|| self.stop.is_cancelled() || self.deadline.passed_by().is_some(),
        };
        // An error of the transaction is in its last event.
        let _ = transaction::run(input).await;
        let elapsed = began.elapsed();
        self.events.report.measured("catalog_application", elapsed);
        self.events
            .run_log()
            .notice(format!("{APPLIED} {:.2} seconds", elapsed.as_secs_f64()));
    }

    /// Writes the graphs. An error fails the run, as that of the report does.
    pub(super) async fn write_graphs(&mut self) {
        let Some(dir) = &self.graph_dir else {
            return;
        };
        let graphs = std::mem::take(&mut self.events.graphs).into_iter();
        let graphs: Vec<_> = graphs.map(|(file, text)| (dir.join(file), text)).collect();
        let written = blocking_io::run(move || state_files::write_graphs(&graphs)).await;
        if let Err(error) = written {
            self.events
                .fail(format!("cannot write a graph: {}", chain(&error)));
        }
    }

    /// Saves the configuration on the device, if that is due. Returns whether it is saved.
    async fn save(&mut self, policy: SavePolicy, provider: &mut DriverProvider) -> bool {
        match SaveDecision::decide(policy, provider) {
            SaveDecision::NotDue => {}
            SaveDecision::Due => match provider.save().await {
                Ok(_) => {
                    self.events.run_log().notice("saved the configuration");
                    return true;
                }
                Err(error) => self
                    .events
                    .fail(format!("cannot save the configuration: {}", error.kind)),
            },
            SaveDecision::Withheld(why) => self.events.run_log().warning(why),
        }
        false
    }
}

/// The difference to the configuration that the commands make.
fn predicted(
    registry: &Registry,
    provider: &DriverProvider,
    operations: &[ResourceOperations],
) -> PredictedDiff {
    let changes: Vec<(&TypeModel, Vec<Operation>)> = operations
        .iter()
        .filter_map(|(reference, operations)| {
            let model = registry.model(&reference.model_name())?;
            let operations = operations.iter().map(|record| record.operation.clone());
            Some((model.as_ref(), operations.collect()))
        })
        .collect();
    provider.predicted_diff(
        changes
            .iter()
            .map(|(model, operations)| (*model, operations.as_slice())),
    )
}
