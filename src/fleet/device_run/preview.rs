//! What the run would change, before it changes anything: limits, plans in files and undos can refuse it.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_devices::provider::ReadOnly;
use switchtender_devices::session::Access;

use super::active_device::{ActiveDevice, Obstacles};
use super::protect::ProtectedDevice;
use super::recorder::{EventRecorder, Observer};
use super::{DeviceRunError, Running, finish, undo};
use crate::catalog::types::Types;
use crate::clock;
use crate::fleet::catalog_check::PreparedCatalog;
use crate::fleet::stored_plan::{PlanCollector, PlanUse, PlannedDevice, PlannedResource};
use crate::report::{RunCounts, RunRecord};
use crate::run_kind::RunKind;
use crate::transaction::{self, RunEvent, Sink as _};

/// A device that nothing prevents from being changed.
pub(super) struct AdmittedDevice {
    pub(super) device: ActiveDevice,
    pub(super) catalog: PreparedCatalog,
    pub(super) obstacles: Obstacles,
    /// What the run would change, if the user has to agree.
    pub(super) preview: Option<Preview>,
}

/// What a run would change.
pub(super) struct Preview {
    counts: RunCounts,
    resources: Vec<PlannedResource>,
    /// Why resources failed.
    failures: BTreeMap<String, String>,
    /// Secrets have digests.
    has_secrets: bool,
    /// The record of a plan, if the user has to agree.
    record: Option<RunRecord>,
}

impl AdmittedDevice {
    /// Compares what the run would change with limits, plan and the run that is undone.
    ///
    /// # Errors
    /// The device is not changed; the session is closed.
    pub(super) async fn admit(
        run: &mut Running<'_>,
        protected: ProtectedDevice,
    ) -> Result<Self, DeviceRunError> {
        let ProtectedDevice {
            mut device,
            catalog,
            obstacles,
        } = protected;
        match check(run, &mut device, &catalog, &obstacles).await {
            Ok(preview) => Ok(Self {
                device,
                catalog,
                obstacles,
                preview,
            }),
            Err(error) => Err(device.refuse(error).await),
        }
    }
}

async fn check(
    run: &mut Running<'_>,
    device: &mut ActiveDevice,
    catalog: &PreparedCatalog,
    obstacles: &Obstacles,
) -> Result<Option<Preview>, DeviceRunError> {
    let writes = device.access == Access::ReadWrite;
    let has_limits = device.settings.limits.is_set()
        || obstacles.absence.is_some()
        || obstacles.standby.is_some();
    let has_plan = !matches!(run.request.plan, PlanUse::None);
    let needs_confirmation = run.request.confirmation.is_some() && writes;
    let mut unconfirmed = None;
    if (has_limits && writes) || has_plan || needs_confirmation {
        let preview = Preview::new(run, device, catalog).await;
        preview.check(run, device, catalog, obstacles)?;
        unconfirmed = needs_confirmation.then_some(preview);
    }
    if let Some(record) = &catalog.undo
        && writes
    {
        // The provider knows then what the undo would not restore.
        let preview = Preview::new(run, device, catalog).await;
        tracing::debug!(failures = preview.failures.len(), "the undo was previewed");
        undo::check(run, record, &device.provider)?;
    }
    Ok(unconfirmed)
}

impl Preview {
    /// The changes that the run would make. Reads the device; the run uses the same state.
    async fn new(run: &Running<'_>, device: &mut ActiveDevice, catalog: &PreparedCatalog) -> Self {
        let mut resources = catalog.resources.clone();
        resources.enforce_noop();
        let registry = &catalog.registry;
        let provider = &mut device.provider;
        let mut counts = RunCounts::new();
        let nobody: Observer = Arc::new(|_, _| {});
        let mut recorder = run.request.confirmation.as_ref().map(|_| {
            let record = RunRecord {
                kind: RunKind::Plan,
                ..RunRecord::new(run.events.record.context.clone())
            };
            let mut recorder = EventRecorder::new(run.events.device(), &nobody, record, true);
            recorder.mask = run.events.mask.clone();
            recorder
        });
        let mut planned = PlanCollector::new(&run.events.mask, &device.state.remembered);
        let input = transaction::Input {
            resources,
            types: &Types::new(|name: &str| registry.model(name).cloned()),
            noop: true,
            settings: &run.request.settings,
            clock: &clock::timestamp,
            zone: clock::zone(),
            memory: &mut device.state.memory.clone(),
            provider: &mut ReadOnly::new(provider),
            sink: &mut |event: RunEvent| {
                counts.fold(&event);
                planned.fold(&event);
                if let Some(recorder) = &mut recorder {
                    recorder.emit(event);
                }
            },
            stop: &|| run.is_stopped(),
        };
        // The run reports errors of the transaction.
        let _ = transaction::run(input).await;
        planned.add_instances(provider.state().previewed_instances());
        planned.add_undo(&provider.state().planned_undo());
        let record = recorder.map(|recorder| finish::planned_record(recorder, provider, registry));
        Self {
            counts,
            record,
            resources: planned.resources,
            failures: planned.failures,
            has_secrets: planned.has_secrets,
        }
    }

    /// Compares the changes with the limits and the plan.
    fn check(
        &self,
        run: &Running<'_>,
        device: &ActiveDevice,
        catalog: &PreparedCatalog,
        obstacles: &Obstacles,
    ) -> Result<(), DeviceRunError> {
        let request = run.request;
        let findings = device.settings.limits.exceeded_by(&self.counts);
        let has_changes = self.counts.to_change > 0;
        let absence = obstacles.absence.as_ref().filter(|_| has_changes);
        let standby = obstacles.standby.as_ref().filter(|_| has_changes);
        let is_refused = absence.is_some() || standby.is_some() || !findings.is_empty();
        if request.kind.writes_state() {
            if let Some(state) = standby {
                let state = state.clone();
                return Err(DeviceRunError::Standby { state });
            }
            if let Some(absence) = absence {
                return Err(DeviceRunError::NoTimedRevert(absence.clone()));
            }
            if !findings.is_empty() {
                return Err(DeviceRunError::Limits { findings });
            }
        }
        let has_secrets = self.has_secrets || catalog.has_secrets;
        if matches!(request.plan, PlanUse::Save(_)) && has_secrets {
            device.owned.save_owner()?;
            device.state.remembered.save_key(&device.owned.store)?;
        }
        let is_complete = !self.counts.has_failed() && !is_refused;
        let planned = |definitions: &str| self.planned(device, catalog, definitions);
        let checked = request
            .plan
            .check(run.events.device(), is_complete, planned);
        checked.map_err(|findings| DeviceRunError::Plan { findings })
    }

    /// The record that is shown to the user.
    pub(super) fn take_record(&mut self) -> Option<RunRecord> {
        self.record.take()
    }

    /// The changes in the form of a plan.
    pub(super) fn planned(
        &self,
        device: &ActiveDevice,
        catalog: &PreparedCatalog,
        definitions: &str,
    ) -> PlannedDevice {
        let digests = &device.state.remembered;
        let digest = catalog.digest.as_deref();
        let digest = digest.expect("a run with a plan has a digest");
        PlannedDevice {
            platform: catalog.platform.name.to_string(),
            identity: device.owned.owner.identity.clone(),
            key: Some(digests.of_text("key")),
            catalog: if catalog.has_secrets {
                digests.of_text(digest)
            } else {
                digest.to_owned()
            },
            definitions: definitions.to_owned(),
            resources: self.resources.clone(),
            difference: String::new(),
            has_secrets: self.has_secrets || catalog.has_secrets,
            failures: self.failures.clone(),
        }
    }
}
