//! Undos: one that would not restore everything is refused before anything is sent, and the changes of a run with a
//! failed resource are undone (`on_failure = "undo"`).
//!
//! In a protected run the device reverts the changes itself, and nothing is undone.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::provider::driver_provider::{DriverProvider, Verdict};
use switchtender_devices::session::Access;

use super::active_device::ActiveDevice;
use super::change::AppliedCatalog;
use super::error::INCOMPLETE_UNDO_HINT;
use super::protect::SettledDevice;
use super::{DeviceRunError, Running};
use crate::fleet::undo::UndoRecord;
use crate::inventory::FailurePolicy;
use crate::report::ResourceUndo;

/// Refuses an undo that was previewed.
///
/// # Errors
/// What it would not restore, unless this is allowed.
pub(super) fn check(
    run: &mut Running<'_>,
    record: &UndoRecord,
    provider: &DriverProvider,
) -> Result<(), DeviceRunError> {
    let texts = differences(record, provider);
    name_what_stays(run, record);
    if run.request.allow_incomplete_undo {
        warn(run, texts);
        return Ok(());
    }
    if texts.is_empty() {
        return Ok(());
    }
    let findings = texts.into_iter();
    let findings = findings.map(|text| Diagnostic::error("incomplete-undo", text));
    Err(DeviceRunError::IncompleteUndo {
        findings: findings.collect(),
    })
}

/// Says in the plan of an undo why the undo is refused.
pub(super) fn predict(run: &mut Running<'_>, record: &UndoRecord, provider: &DriverProvider) {
    let texts = differences(record, provider);
    name_what_stays(run, record);
    if run.request.allow_incomplete_undo {
        return warn(run, texts);
    }
    let Some((last, others)) = texts.split_last() else {
        return;
    };
    for text in others {
        run.events.fail(text.clone());
    }
    run.events
        .fail_with_hint(last.clone(), INCOMPLETE_UNDO_HINT);
}

fn warn(run: &mut Running<'_>, texts: Vec<String>) {
    for text in texts {
        run.events.run_log().warning(text);
    }
}

fn name_what_stays(run: &mut Running<'_>, record: &UndoRecord) {
    let texts = record.stays.iter();
    let texts =
        texts.map(|line| format!("`{line}` stays, because other configuration can need it"));
    warn(run, texts.collect());
}

fn differences(record: &UndoRecord, provider: &DriverProvider) -> Vec<String> {
    let mut texts = record.losses();
    texts.extend(record.removals_beyond_run(&provider.state().removed_by_undo()));
    texts
}

/// A device whose changes stay, or are undone.
pub(super) struct DecidedDevice {
    pub(super) device: ActiveDevice,
    pub(super) catalog: AppliedCatalog,
    /// The device has the configuration from before the run.
    pub(super) is_reverted: bool,
    /// The changes were protected, and are not confirmed.
    pub(super) is_unconfirmed: bool,
}

impl DecidedDevice {
    /// Undoes the changes after a failed resource, if that is required.
    pub(super) async fn undo_failure(run: &mut Running<'_>, settled: SettledDevice) -> Self {
        let SettledDevice {
            mut device,
            catalog,
            end,
        } = settled;
        let is_undone = end.is_none() && undo_failure(run, &mut device).await;
        Self {
            device,
            catalog,
            is_reverted: is_undone
                || end
                    .as_ref()
                    .is_some_and(|end| end.verdict == Verdict::Reverted),
            is_unconfirmed: end.is_some_and(|end| end.problem.is_some()),
        }
    }
}

/// Undoes the changes of the run if a resource has failed, and reports it for each resource. Returns
/// whether the device has the state from before the run.
async fn undo_failure(run: &mut Running<'_>, device: &mut ActiveDevice) -> bool {
    let provider = &mut device.provider;
    let is_due = device.access == Access::ReadWrite
        && device.settings.on_failure == FailurePolicy::Undo
        && run.events.record.counts.failed > 0;
    if !is_due || !provider.state().has_committed() {
        return false;
    }
    let undone = provider.undo_run(&|| run.is_stopped()).await;
    let mask = run.events.mask.clone();
    let mut is_complete = true;
    let mut entries = Vec::new();
    for resource in undone {
        let name = &resource.reference;
        let reasons = resource.not_restored.iter();
        let reasons: Vec<String> = reasons.map(|reason| mask.apply(reason)).collect();
        if reasons.is_empty() {
            run.events.run_log().notice(format!("{name}: undone"));
        } else {
            is_complete = false;
            let text = format!("{name}: not undone: {}", reasons.join("; "));
            run.events.fail(text);
        }
        let operations = resource.operations.iter();
        entries.push(ResourceUndo {
            resource: resource.reference.clone(),
            operations: operations
                .map(|(operation, _)| mask.apply(&operation.action.text()))
                .collect(),
            not_restored: reasons,
        });
    }
    for line in provider.state().remaining_lines() {
        is_complete = false;
        let text = format!("not undone in the configuration: {}", mask.apply(&line));
        run.events.fail(text);
    }
    run.events.record.is_undone = is_complete;
    run.events.record.undone = entries;
    is_complete
}
