//! The end of the session: differences and undo of the run, and the state files.

use switchtender_devices::driver::Registry;
use switchtender_devices::model::TypeModel;
use switchtender_devices::operation::Operation;
use switchtender_devices::provider::driver_provider::DriverProvider;
use switchtender_devices::provider::state::PredictedDiff;
use switchtender_devices::session::Access;

use super::Running;
use super::active_device::ActiveDevice;
use super::change::AppliedCatalog;
use super::recorder::{EventRecorder, ResourceOperations};
use super::save::CompletedDevice;
use crate::error_chain::chain;
use crate::fleet::state_files::ManagedResources;
use crate::fleet::undo::UndoRecord;
use crate::report::{RunRecord, UndoPlan, UnknownText};
use crate::run_kind::RunKind;
use crate::store::blocking_io;

impl CompletedDevice {
    /// Closes the session and writes the state of the device.
    pub(super) async fn finish(self, run: &mut Running<'_>) {
        let Self {
            mut device,
            catalog,
            is_reverted,
            is_saved,
        } = self;
        record_difference(run, &device.provider, &catalog);
        name_left_lines(run, &device.provider, &catalog);
        run.events.record.undo = planned_undo(run, &device.provider);
        let undo_record = (device.access == Access::ReadWrite && !is_reverted)
            .then(|| undo_record(run, &device, &catalog));
        for note in device.provider.close().await {
            run.events.run_log().warning(note);
        }
        run.events.record_findings(&catalog.findings);
        let mask = run.events.mask.clone();
        let facts = std::mem::take(&mut device.facts).into_iter();
        let facts = facts.map(|(name, value)| (name, mask.apply(&value)));
        let record = &mut run.events.record;
        record.facts = Some(facts.collect());
        record.round_trips = device.provider.statistics().round_trips;
        let is_unsaved = device.provider.state().has_changed() && !is_saved;
        record.not_saved = is_unsaved.then_some(device.settings.save);
        if run.request.kind.writes_state() {
            let files = StateFiles {
                undo_record,
                managed: catalog.managed,
                is_reverted,
            };
            files.write(run, device).await;
        }
    }
}

/// Warns of lines of the undone run that the device still has: blocks that it keeps without their lines.
fn name_left_lines(run: &mut Running<'_>, provider: &DriverProvider, catalog: &AppliedCatalog) {
    let state = provider.state();
    let record = catalog.undo.as_ref().filter(|_| state.has_changed());
    for line in record
        .map(|record| record.left_lines(state))
        .unwrap_or_default()
    {
        let text = format!("the undo has left `{line}` in the configuration");
        run.events.run_log().warning(text);
    }
}

/// Records the difference to the configuration.
fn record_difference(run: &mut Running<'_>, provider: &DriverProvider, catalog: &AppliedCatalog) {
    let operations = run.events.operations.take();
    let predicted = operations.map(|operations| predict(&catalog.registry, provider, &operations));
    let (diff, without_diff) = match predicted {
        Some(predicted) => (predicted.diff, predicted.without_diff),
        None if provider.state().has_changed() => (provider.state().applied_diff(), Vec::new()),
        None => (String::new(), Vec::new()),
    };
    let mask = run.events.mask.clone();
    let diff = mask.apply(&diff);
    let without_diff = without_diff.iter().map(|message| mask.apply(message));
    run.events.record.without_difference = without_diff.collect();
    run.request.plan.set_difference(run.events.device(), &diff);
    run.events.record.difference = diff;
}

/// The record of the plan that is shown before a change.
pub(super) fn planned_record(
    mut recorder: EventRecorder<'_>,
    provider: &DriverProvider,
    registry: &Registry,
) -> RunRecord {
    let operations = recorder.operations.take().unwrap_or_default();
    let predicted = predict(registry, provider, &operations);
    let mask = &recorder.mask;
    let undo = provider.state().planned_undo().without_operations();
    let mut not_understood = provider.state().not_understood();
    for found in &mut not_understood {
        found.text = mask.apply(&found.text);
    }
    let without_difference = predicted.without_diff.iter();
    RunRecord {
        difference: mask.apply(&predicted.diff),
        without_difference: without_difference
            .map(|message| mask.apply(message))
            .collect(),
        undo: Some(UndoPlan::new(&undo, mask)),
        not_understood: not_understood.iter().map(UnknownText::from).collect(),
        ..recorder.record
    }
}

/// The difference to the configuration that the commands make.
fn predict(
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
    provider.state().predicted_diff(
        changes
            .iter()
            .map(|(model, operations)| (*model, operations.as_slice())),
    )
}

/// What a plan says about a later undo.
fn planned_undo(run: &Running<'_>, provider: &DriverProvider) -> Option<UndoPlan> {
    let undo = (run.request.kind == RunKind::Plan).then(|| provider.state().planned_undo())?;
    let undo = if run.request.show_undo {
        undo
    } else {
        undo.without_operations()
    };
    Some(UndoPlan::new(&undo, &run.events.mask))
}

/// What the run changed.
fn undo_record(run: &Running<'_>, device: &ActiveDevice, catalog: &AppliedCatalog) -> UndoRecord {
    let record = UndoRecord::new(
        run.request.plan.applied(),
        device.provider.state(),
        &run.events.mask,
        &device.state.remembered,
    );
    record.undoing(catalog.undo.as_deref())
}

/// What a run leaves in the state directory.
struct StateFiles {
    undo_record: Option<UndoRecord>,
    managed: Option<ManagedResources>,
    is_reverted: bool,
}

impl StateFiles {
    async fn write(self, run: &mut Running<'_>, device: ActiveDevice) {
        let Self {
            undo_record,
            managed,
            is_reverted,
        } = self;
        let (state, store) = (device.state, device.owned.store);
        let of_name = run.store.clone();
        let name = run.request.run.clone();
        let written = blocking_io::run(move || {
            // The state of a reverted run is that from before it.
            let stored = if is_reverted {
                Ok(())
            } else {
                state.write(&store)
            };
            let managed = managed.map_or(Ok(()), |managed| managed.write(&of_name));
            let undo = undo_record.filter(|record| !record.resources.is_empty());
            let undo = undo.map_or(Ok(()), |record| {
                state.remembered.save_key(&store)?;
                // The record of a run replaces no other: it is welcome also after the end of the lease.
                record.write(&store.with_epoch(None), &name)
            });
            [stored, managed, undo]
        });
        for error in written.await.into_iter().filter_map(Result::err) {
            run.events.fail(format!(
                "cannot write the state of the device: {}",
                chain(&error)
            ));
        }
    }
}
