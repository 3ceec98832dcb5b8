//! The transaction: resources are compared with the device, and changed unless the run is noop.

use std::sync::Arc;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Registry;
use switchtender_devices::provider::{Provider, ReadOnly};
use switchtender_devices::session::Access;

use super::active_device::{ActiveDevice, Obstacles};
use super::error::STANDBY_HINT;
use super::preview::AdmittedDevice;
use super::{Running, protect, undo};
use crate::catalog::types::Types;
use crate::clock;
use crate::fleet::catalog_check::PreparedCatalog;
use crate::fleet::state_files::ManagedResources;
use crate::fleet::undo::UndoRecord;
use crate::inventory::FailurePolicy;
use crate::transaction::{self, TransactionSettings};

/// A device after the transaction.
pub(super) struct ChangedDevice {
    pub(super) device: ActiveDevice,
    pub(super) catalog: AppliedCatalog,
}

/// What remains of a catalog after the transaction.
pub(super) struct AppliedCatalog {
    pub(super) registry: Arc<Registry>,
    /// The record of the run that the catalog undoes.
    pub(super) undo: Option<Arc<UndoRecord>>,
    /// `None`: an undo manages nothing.
    pub(super) managed: Option<ManagedResources>,
    /// Findings that do not prevent the run.
    pub(super) findings: Vec<Diagnostic>,
}

impl ChangedDevice {
    /// Applies the catalog, and reports in a plan why its command will refuse the device.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub(super) async fn change(run: &mut Running<'_>, admitted: AdmittedDevice) -> Self {
        let AdmittedDevice {
            mut device,
            catalog,
            obstacles,
            preview: _,
        } = admitted;
        let managed = match &catalog.undo {
            None => Some(ManagedResources::of(&catalog.resources)),
            Some(_) => None,
        };
        let PreparedCatalog {
            registry,
            resources,
            findings,
            undo,
            ..
        } = catalog;
        apply(run, &mut device, &registry, resources).await;
        if device.access == Access::ReadOnly {
            predict_refusal(run, &mut device, &obstacles, undo.as_deref()).await;
        }
        Self {
            device,
            catalog: AppliedCatalog {
                registry,
                undo,
                managed,
                findings,
            },
        }
    }
}

async fn apply(
    run: &mut Running<'_>,
    device: &mut ActiveDevice,
    registry: &Arc<Registry>,
    resources: crate::catalog::Resources,
) {
    let mut guarded;
    let applied: &mut dyn Provider = match device.access {
        Access::ReadOnly => {
            guarded = ReadOnly::new(&mut device.provider);
            &mut guarded
        }
        Access::ReadWrite => &mut device.provider,
    };
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let settings = TransactionSettings {
        cycles_file: run.cycles_file(),
        stop_at_failure: device.settings.on_failure == FailurePolicy::Undo,
        ..run.request.settings.clone()
    };
    let (stop, deadline) = (&run.stop, &run.deadline);
    let began = clock::instant();
    let input = transaction::Input {
        resources,
        types: &types,
        noop: run.request.kind.is_noop(),
        settings: &settings,
        clock: &clock::timestamp,
        zone: clock::zone(),
        memory: &mut device.state.memory,
        provider: applied,
        sink: &mut run.events,
        stop: &|| stop.is_cancelled() || deadline.passed_by().is_some(),
    };
    // An error of the transaction is in its last event.
    let _ = transaction::run(input).await;
    let elapsed = began.elapsed();
    run.events.record.measured("catalog_application", elapsed);
    run.events.log_duration(elapsed);
}

/// Reports in a plan why its command, `apply` or `undo`, will refuse the device.
async fn predict_refusal(
    run: &mut Running<'_>,
    device: &mut ActiveDevice,
    obstacles: &Obstacles,
    undone: Option<&UndoRecord>,
) {
    let command = if undone.is_some() { "undo" } else { "apply" };
    protect::predict(run, device, command, obstacles.absence.as_ref()).await;
    if let Some(state) = &obstacles.standby
        && run.events.record.counts.to_change > 0
    {
        run.events.record.counts.is_standby = true;
        let text = format!("`{command}` will refuse the device: it is {state}");
        run.events.fail_with_hint(text, STANDBY_HINT);
    }
    if let Some(record) = undone {
        undo::predict(run, record, &device.provider);
    }
}
