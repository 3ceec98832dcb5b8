//! The runs of `apply` and `plan`.

mod prepare;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::names::DeviceName;
use switchtender_devices::provider::driver_provider::Verdict;
use switchtender_devices::secret_mask::SecretMask;
use tracing::Instrument as _;

use crate::cli::commands::confirmation::{self, PlanQuestions};
use crate::cli::commands::run_recorder::RunRecorder;
use crate::cli::exit::{CommandError, Exit};
use crate::cli::interrupt::stop_run_on_signals;
use crate::cli::options::global::Global;
use crate::cli::options::output_format::RunOutput;
use crate::cli::options::run_arguments::{AllowedChange, ResourceFilterArgs, RunArgs};
use crate::cli::options::target_options::TargetArgs;
use crate::cli::output::view::{
    self, DeviceSummary, FinishedDevice, RunScope, ViewSender, ViewTask,
};
use crate::clock;
use crate::counted::counted;
use crate::fleet::device_run::DeviceRun;
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::limits::{Limits, Membership, Permit};
use crate::fleet::plan_confirmation::PlanConfirmation;
use crate::fleet::rollout::check::CheckEnd;
use crate::fleet::rollout::{Batch, DeviceEnd, Rollout, RolloutSink};
use crate::fleet::run_request::RunRequest;
use crate::fleet::runner::{self, TaskError};
use crate::fleet::undo::UndoChoice;
use crate::run_kind::RunKind;
use crate::telemetry::device_span;
use crate::transaction::TransactionSettings;
use crate::validate::Policy;

/// A run over devices with its arguments.
pub(crate) struct RunCommand<'a> {
    pub(crate) targets: &'a TargetArgs,
    pub(crate) filter: &'a ResourceFilterArgs,
    pub(crate) arguments: &'a RunArgs,
    /// The run that is undone, instead of catalogs.
    pub(crate) undo: Option<&'a UndoChoice>,
    /// The directory of saved configurations that replace the devices.
    pub(crate) running: Option<&'a Path>,
}

impl<'a> RunCommand<'a> {
    /// A run of the devices with their catalogs.
    pub(crate) fn new(
        targets: &'a TargetArgs,
        filter: &'a ResourceFilterArgs,
        arguments: &'a RunArgs,
    ) -> Self {
        Self {
            targets,
            filter,
            arguments,
            undo: None,
            running: None,
        }
    }

    /// The request of these arguments. A command sets its own options beside it.
    pub(crate) fn request(&self, kind: RunKind) -> RunRequest {
        let arguments = self.arguments;
        let settings = self.filter.settings();
        let allows = |change| arguments.allow.contains(&change);
        RunRequest {
            kind,
            policy: Policy {
                host_resources: self.targets.host_resources,
                allow_name_mismatch: self.targets.allow_name_mismatch,
                max_shutdown: arguments.limits.max_shutdown,
                allows_purge: allows(AllowedChange::Purge),
                deviations: settings.deviations,
                ..Policy::default()
            },
            settings: TransactionSettings {
                host_resources: self.targets.host_resources,
                evaltrace: arguments.evaltrace,
                ..settings
            },
            overwrite_unknown: arguments.overwrite_unknown,
            allow_own_path: allows(AllowedChange::OwnPath),
            allow_incomplete_undo: allows(AllowedChange::IncompleteUndo),
            limits: arguments.limits.change_limits(),
            strict: arguments.strict,
            draws: arguments.output == RunOutput::Html,
            ..RunRequest::default()
        }
    }
}

/// A run whose devices can start.
pub(crate) struct PreparedRun {
    recorder: RunRecorder,
    pub(crate) fleet: Arc<InventoryFleet>,
    /// The devices, in the order of the inventory.
    names: Vec<DeviceName>,
    members: HashMap<DeviceName, Membership>,
    /// State that ends with the run.
    scratch: Option<tempfile::TempDir>,
    /// `apply` asks before it changes devices.
    pub(crate) confirms: bool,
}

/// The end of a run.
pub(crate) struct FinishedRun {
    pub(crate) devices: Vec<DeviceSummary>,
    /// Why the rollout stopped before its end.
    pub(crate) stopped: Option<String>,
    /// Whether the output is complete.
    pub(crate) output: Result<(), CommandError>,
}

impl PreparedRun {
    /// The names of the devices, in the order of the inventory.
    pub(crate) fn names(&self) -> &[DeviceName] {
        &self.names
    }

    /// Number of devices.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Limits the next runs to these devices.
    pub(crate) fn retain<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let names: HashSet<&str> = names.collect();
        self.names.retain(|name| names.contains(name.as_str()));
    }

    /// Whether the state of the run ends with it, as that of mocks does.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.scratch.is_some()
    }

    /// All devices at once.
    pub(crate) fn at_once(&self) -> Rollout {
        Rollout {
            batches: vec![self.names.clone()],
            ..Rollout::default()
        }
    }

    /// The exit code of a run (`docs/reference/transaction.md`, section 17, *Exit status of a run*): a device
    /// that could not run is never hidden behind others. A plan has changes where something would
    /// be sent; a noop run, as Puppet's, has none.
    pub(crate) fn exit(request: &RunRequest, all: &[DeviceSummary], detailed: bool) -> Exit {
        if request.stop.is_cancelled() || all.iter().any(DeviceSummary::is_not_run) {
            return Exit::FAILURE;
        }
        let records: Vec<_> = all
            .iter()
            .filter_map(|device| device.record.as_ref())
            .collect();
        let failed = records.iter().any(|record| record.counts.has_failed());
        let changed = records.iter().any(|record| match request.kind {
            RunKind::Apply | RunKind::Noop => record.has_changed(),
            RunKind::Plan => record.counts.to_send > 0,
        });
        if detailed {
            Exit(u8::from(changed) * 2 + u8::from(failed) * 4)
        } else {
            Exit(u8::from(failed))
        }
    }

    /// Checks all devices as far as they need no connection, and shows those with errors.
    ///
    /// # Errors
    /// A device has errors.
    pub(crate) async fn check_offline(
        &self,
        request: &Arc<RunRequest>,
        arguments: &RunArgs,
        global: &Global,
    ) -> Result<(), CommandError> {
        let names = self.names.iter();
        let devices = names.map(|name| (name.clone(), Membership::default()));
        let limits = Limits::new(usize::from(arguments.concurrency), None, None, []);
        let (fleet, of_run) = (Arc::clone(&self.fleet), Arc::clone(request));
        let check = move |name: DeviceName| {
            let (fleet, request) = (Arc::clone(&fleet), Arc::clone(&of_run));
            async move { fleet.check_offline(&name, &request).await }
        };
        let mut refused = HashMap::new();
        runner::run(
            devices.collect(),
            &limits,
            &request.stop,
            check,
            |name, ended| {
                // The run reports a defect of this program.
                if let Ok(Some(ended)) = ended {
                    refused.insert(name, ended);
                }
            },
        )
        .await;
        if refused.is_empty() {
            return Ok(());
        }
        let (count, all) = (refused.len(), self.names.len());
        let view = ViewTask::start(view::new(
            arguments.output,
            &self.fleet,
            request,
            global,
            &arguments.view,
            RunScope {
                devices: all,
                is_stored: false,
            },
        ));
        let mut devices = Vec::with_capacity(count);
        for name in &self.names {
            if let Some(run) = refused.remove(name) {
                let finished = self.finished(name.clone(), Ok((run, Duration::ZERO)));
                devices.push(DeviceSummary::from(&finished));
                view.sender().finished(finished);
            }
        }
        view.end(devices).await?;
        let error = CommandError::new(format!(
            "nothing was changed: {count} of {} cannot be applied",
            counted(all, "device")
        ));
        Err(error.hint("correct the errors, or change the other devices with --keep-going"))
    }

    /// A device whose task has ended.
    fn finished(
        &self,
        device: DeviceName,
        ended: Result<(DeviceRun, Duration), TaskError>,
    ) -> FinishedDevice {
        let platform = self.fleet.connector.inventory.devices[&device]
            .platform
            .clone();
        match ended {
            Ok((run, took)) => FinishedDevice {
                device,
                platform,
                record: Some(run.record),
                result: run.result.map_err(Into::into),
                mask: run.mask,
                took,
            },
            Err(error) => FinishedDevice {
                device,
                platform,
                record: None,
                result: Err(error.into()),
                mask: SecretMask::default(),
                took: Duration::ZERO,
            },
        }
    }

    /// Runs all devices, shows what happens, and writes their reports to a directory. Ctrl-C stops
    /// in order; the results are complete all the same.
    pub(crate) async fn execute(
        &self,
        request: &Arc<RunRequest>,
        rollout: &Rollout,
        arguments: &RunArgs,
        reports: Option<&Path>,
        global: &Global,
    ) -> FinishedRun {
        let view = ViewTask::start(view::new(
            arguments.output,
            &self.fleet,
            request,
            global,
            &arguments.view,
            RunScope {
                devices: self.names.len(),
                is_stored: !self.is_forgotten(),
            },
        ));
        stop_run_on_signals(request, view.sender());
        let work = {
            let (fleet, request) = (Arc::clone(&self.fleet), Arc::clone(request));
            let observer = view.sender().observer();
            let reports = reports.map(Path::to_owned);
            let recorder = self.recorder.clone();
            move |name: DeviceName, permit: Permit| {
                let (fleet, observer) = (Arc::clone(&fleet), Arc::clone(&observer));
                let (request, reports) = (Arc::clone(&request), reports.clone());
                let recorder = recorder.clone();
                async move {
                    let _permit = match &request.confirmation {
                        Some(confirmation) => {
                            confirmation.hold(&name, permit);
                            None
                        }
                        None => Some(permit),
                    };
                    let (began, started) = (clock::instant(), clock::timestamp());
                    let run = fleet.run(&name, &request, reports.as_deref(), &observer);
                    let run = run.instrument(device_span(&name)).await;
                    if !run.is_declined() {
                        recorder.record(&name, started, &run).await;
                    }
                    let took = began.elapsed().saturating_sub(run.waited);
                    (run, took)
                }
            }
        };
        let inventory = &self.fleet.connector.inventory;
        let concurrency = usize::from(arguments.concurrency);
        let limits = Limits::of_inventory(inventory, concurrency, self.members.values());
        let members = &self.members;
        let mut sink = RunSink {
            run: self,
            rollout,
            limits: &limits,
            confirmation: request.confirmation.as_deref(),
            sender: view.sender(),
            devices: Vec::with_capacity(self.names.len()),
            has_applied: false,
            is_declined: false,
        };
        let running = rollout.run(members, &limits, &request.stop, work, &mut sink);
        let ended = match &request.confirmation {
            None => running.await,
            Some(confirmation) => {
                let questions = PlanQuestions {
                    confirmation,
                    request,
                    inventory,
                    view: view.sender(),
                };
                tokio::select! {
                    ended = running => ended,
                    () = questions.ask_all() => unreachable!("never ends"),
                }
            }
        };
        let is_declined = sink.is_declined;
        if is_declined && !sink.has_applied {
            confirmation::report_no();
            return FinishedRun {
                devices: sink.devices,
                stopped: None,
                output: view.discard().await,
            };
        }
        let mut devices = sink.devices;
        let order: HashMap<&str, usize> =
            self.names.iter().map(DeviceName::as_str).zip(0..).collect();
        devices.sort_by_key(|ended| order.get(ended.device.as_str()).copied());
        let output = view.end(devices.clone()).await;
        FinishedRun {
            devices,
            stopped: match ended {
                Ok(()) if is_declined => Some("a batch was not confirmed".to_owned()),
                ended => ended.err(),
            },
            output,
        }
    }
}

/// Passes the results of devices to the view.
struct RunSink<'a> {
    run: &'a PreparedRun,
    rollout: &'a Rollout,
    limits: &'a Limits,
    confirmation: Option<&'a PlanConfirmation>,
    sender: ViewSender,
    devices: Vec<DeviceSummary>,
    /// The user has agreed to a batch.
    has_applied: bool,
    /// The user has not agreed to a batch.
    is_declined: bool,
}

impl RolloutSink<(DeviceRun, Duration)> for RunSink<'_> {
    fn batch(&mut self, batch: Batch) {
        if let Some(confirmation) = self.confirmation {
            let members = batch.devices.iter();
            let members = members.filter_map(|device| self.run.members.get(device));
            let fits = self.limits.admit_all(members);
            confirmation.start(&batch, self.rollout.after.clone(), fits);
            self.sender.begin_plan(batch.devices.len());
        }
        self.sender.batch(batch);
    }

    fn check(&mut self, end: CheckEnd) {
        self.sender.check(end);
    }

    fn device(
        &mut self,
        device: DeviceName,
        ended: Result<(DeviceRun, Duration), TaskError>,
    ) -> DeviceEnd {
        let is_complete = matches!(&ended, Ok((run, _)) if !run.stopped);
        let is_declined = matches!(&ended, Ok((run, _)) if run.is_declined());
        self.is_declined |= is_declined;
        let finished = self.run.finished(device, ended);
        let summary = DeviceSummary::from(&finished);
        let end = match &summary.record {
            Some(record) if record.protection == Some(Verdict::Reverted) => DeviceEnd::Reverted,
            Some(record) if is_complete && !record.is_not_run && !record.counts.has_failed() => {
                DeviceEnd::Succeeded
            }
            _ if is_declined => DeviceEnd::NotConfirmed,
            _ => DeviceEnd::Failed,
        };
        if let Some(confirmation) = self.confirmation {
            self.has_applied |= !is_declined && confirmation.is_answered(&summary.device);
        }
        // The user knows that nothing was changed.
        if !is_declined || self.has_applied {
            self.sender.finished(finished);
        }
        if let Some(confirmation) = self.confirmation
            && let Some(planned_next) = confirmation.end(&summary.device)
        {
            self.sender.begin_plan(planned_next);
        }
        self.devices.push(summary);
        end
    }
}
