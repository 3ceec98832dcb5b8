//! The protection of the changes: prepared before the first one, and ended after the last one.
//!
//! Its record in the state directory exists from before the first change until the end of the changes is
//! certain. The next run reads it, so that it reports what a run left that ended early.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use switchtender_devices::driver::Driver;
use switchtender_devices::duration;
use switchtender_devices::format_version::FormatVersion;
use switchtender_devices::provider::driver_provider::{
    DriverProvider, ProtectPolicy, ProtectionEnd, ProtectionRecord, Verdict,
};
use switchtender_devices::session::{Access, RevertAbsence, RevertMethod};

use super::active_device::{ActiveDevice, Obstacles};
use super::change::{AppliedCatalog, ChangedDevice};
use super::connect::{ConnectedDevice, ReadyDevice};
use super::error::revert_hint;
use super::{DeviceRunError, Running};
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::catalog_check::PreparedCatalog;
use crate::fleet::catalog_source::DeviceSettings;
use crate::inventory::{SavePolicy, StandbyPolicy};
use crate::store::file::state_version;
use crate::store::state_key::SealedError;
use crate::store::{DeviceStore, StoreError, blocking_io};

const FILE: &str = "protected-run.json";
/// The digest of the configuration before the first change of the run. The configuration has secrets that are short, so the
/// digest is as secret as they are.
const BEFORE: &str = "protected-run-before.json";
const VERSION: FormatVersion = state_version(1);

/// A protected run whose end is not certain.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenRun {
    started: Timestamp,
    /// The device reloads unless the changes are confirmed.
    reloads: bool,
}

/// Stores the record of a protected run.
struct OpenRunFile(DeviceStore);

#[async_trait]
impl ProtectionRecord for OpenRunFile {
    async fn start(&self, digest: &str, method: RevertMethod) -> Result<(), String> {
        let open = OpenRun {
            started: clock::timestamp(),
            reloads: method == RevertMethod::Reload,
        };
        let (store, digest) = (self.0.clone(), digest.to_owned());
        let saved = blocking_io::run(move || {
            store.save_before_change(BEFORE, VERSION, &digest)?;
            store.save_before_change(FILE, VERSION, &open)
        });
        saved.await.map_err(|error| chain(&error))
    }
}

/// Removes the record. The next run cannot mistake a run with a certain end for an open one.
async fn remove_record(store: &DeviceStore) -> Result<(), StoreError> {
    let store = store.clone();
    let removed = blocking_io::run(move || {
        store.remove(FILE)?;
        store.remove(BEFORE)
    });
    removed.await
}

/// The record of a protected run, and the digest of the configuration before it. Without the key of the hosts, the digest
/// is unknown.
async fn open_run(store: &DeviceStore) -> Result<Option<(OpenRun, Option<String>)>, StoreError> {
    let store = store.clone();
    let loaded = blocking_io::run(move || {
        let Some(open) = store.load(FILE, VERSION)? else {
            return Ok(None);
        };
        match store.load(BEFORE, VERSION) {
            Err(StoreError::Sealed(SealedError::OtherKey { .. })) => Ok(Some((open, None))),
            before => Ok(Some((open, before?))),
        }
    });
    loaded.await
}

/// What is known of a run with an unknown end.
fn render_unknown(end: &ProtectionEnd) -> String {
    let hidden = end.hidden.join(", ");
    let applied = end.not_reverted.join(", ");
    match (applied.is_empty(), hidden.is_empty()) {
        (true, true) => {
            "it is unknown whether the changes were reverted: check the device".to_owned()
        }
        (true, false) => format!(
            "it is unknown whether the changes were reverted, because the device does not show all values of {hidden}: check the device"
        ),
        (false, true) => format!(
            "the device has reverted only a part of the changes; it still has {applied}: check the device"
        ),
        (false, false) => format!(
            "the device still has {applied}, and does not show all values of {hidden}: check the device"
        ),
    }
}

/// A device whose changes are protected, if that is required and possible.
pub(super) struct ProtectedDevice {
    pub(super) device: ActiveDevice,
    pub(super) catalog: PreparedCatalog,
    pub(super) obstacles: Obstacles,
}

impl ProtectedDevice {
    /// Protects the changes as the run or the device requires, and reports what an earlier protected run left.
    ///
    /// # Errors
    /// The device cannot be read, or still reverts the changes of an earlier run; the session is closed.
    pub(super) async fn protect(
        run: &mut Running<'_>,
        ready: ReadyDevice,
        settings: DeviceSettings,
    ) -> Result<Self, DeviceRunError> {
        let ReadyDevice { device, catalog } = ready;
        let mut device = activate(run, device, &catalog, settings);
        let absence = match revert_absence(run, &mut device).await {
            Ok(absence) => absence,
            Err(error) => return Err(device.refuse(error).await),
        };
        for note in device.provider.notes() {
            run.events.run_log().warning(note);
        }
        run.events.record.complete_context(|context| {
            context.environment.clone_from(&catalog.environment);
        });
        let state = catalog.platform.standby_state(&device.facts);
        let standby = match (state, device.settings.standby) {
            (Some(state), StandbyPolicy::Refuse) => Some(state.to_owned()),
            (Some(_), _) => {
                let text = "the device is the standby unit of a pair: a synchronization can remove changes";
                run.events.run_log().warning(text);
                None
            }
            (None, _) => None,
        };
        Ok(Self {
            obstacles: Obstacles { absence, standby },
            device,
            catalog,
        })
    }
}

/// The device with the provider that reads and changes it.
fn activate(
    run: &Running<'_>,
    device: ConnectedDevice,
    catalog: &PreparedCatalog,
    settings: DeviceSettings,
) -> ActiveDevice {
    let ConnectedDevice {
        connector,
        session,
        facts,
        access,
        owned,
        state,
        ..
    } = device;
    let record = Box::new(OpenRunFile(owned.store.clone()));
    let provider = DriverProvider::new(
        Driver::new(&catalog.platform, &facts).with_saved(session.saved_answers()),
        session,
        Box::new(connector),
        Arc::clone(&state.remembered) as Arc<_>,
    )
    .allow_reload(settings.allows_reload)
    .overwrite_unknown(run.request.overwrite_unknown)
    .allow_own_path(run.request.allow_own_path)
    .show_difference(run.request.kind.is_noop() || run.request.confirmation.is_some())
    .compare_saved(settings.save == SavePolicy::OnChange && catalog.platform.shows_saved())
    .protect(settings.protect, facts.clone(), record);
    let provider = match &catalog.undo {
        Some(record) => provider.undo_of(record.left(&state.remembered)),
        None => provider,
    };
    ActiveDevice {
        provider,
        facts,
        access,
        owned,
        state,
        settings,
    }
}

/// Why the device cannot revert changes whose protection is required.
async fn revert_absence(
    run: &mut Running<'_>,
    device: &mut ActiveDevice,
) -> Result<Option<RevertAbsence>, DeviceRunError> {
    let is_required = device.settings.protect == ProtectPolicy::Required;
    match device.access {
        Access::ReadOnly if is_required => {
            // Saved answers do not have it.
            Ok(device.provider.missing_for_revert().await.ok().flatten())
        }
        Access::ReadOnly => Ok(None),
        Access::ReadWrite => {
            report_open_run(run, device).await?;
            if is_required {
                Ok(device.provider.missing_for_revert().await?)
            } else {
                Ok(None)
            }
        }
    }
}

/// Reports what a protected run left that ended early.
async fn report_open_run(
    run: &mut Running<'_>,
    device: &mut ActiveDevice,
) -> Result<(), DeviceRunError> {
    let store = &device.owned.store;
    let Some((OpenRun { started, reloads }, before)) = open_run(store).await? else {
        return Ok(());
    };
    let method = if reloads {
        RevertMethod::Reload
    } else {
        RevertMethod::TimedRevert
    };
    let digest = before.as_deref().unwrap_or_default();
    let compared = device.provider.compare_with_earlier(digest, method).await;
    let (is_pending, is_before) = compared?;
    if is_pending {
        return Err(DeviceRunError::RevertPending { started });
    }
    let text = if before.is_none() {
        "the digest of the configuration before it is lost: check the device"
    } else if is_before {
        "the device has the configuration from before it"
    } else {
        "its changes, or later ones, are on the device: the configuration is not the one from before it"
    };
    let text = format!("the protected run of {started} ended early: {text}");
    run.events.run_log().warning(text);
    remove_record(store).await?;
    Ok(())
}

/// Reports in a plan what its command, `apply` or `undo`, does with changes that the device cannot
/// revert.
pub(super) async fn predict(
    run: &mut Running<'_>,
    device: &mut ActiveDevice,
    command: &str,
    required: Option<&RevertAbsence>,
) {
    if run.events.record.counts.to_change == 0 {
        return;
    }
    if let Some(absence) = required {
        run.events.record.counts.lacks_protection = true;
        let text = format!(
            "`{command}` will refuse the device: {}, and `protect` is \"required\"",
            absence.reason
        );
        run.events.fail_with_hint(text, &revert_hint(absence));
    } else if device.settings.protect != ProtectPolicy::Off {
        match device.provider.missing_for_revert().await {
            Ok(None) => warn_about_reload(run, &device.provider),
            Ok(Some(RevertAbsence { reason, hint })) => {
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                let text = format!("the changes would not be protected: {reason}{hint}");
                run.events.run_log().warning(text);
            }
            // Saved answers do not have it.
            Err(_) => {}
        }
    }
}

/// Warns that the device reloads unless the changes are confirmed.
fn warn_about_reload(run: &mut Running<'_>, provider: &DriverProvider) {
    let Some(limit) = provider.reload_limit() else {
        return;
    };
    let minutes = limit.timer.as_secs() / 60;
    let text = if run.request.kind.writes_state() {
        format!("the device reloads within {minutes} minutes unless the changes are confirmed")
    } else {
        format!("the device would reload after {minutes} minutes unless the changes are confirmed")
    };
    run.events.run_log().warning(text);
}

/// A device whose changes are confirmed or reverted, if they were protected.
pub(super) struct SettledDevice {
    pub(super) device: ActiveDevice,
    pub(super) catalog: AppliedCatalog,
    /// `None`: nothing was protected.
    pub(super) end: Option<ProtectionEnd>,
}

impl SettledDevice {
    /// Confirms the changes of a protected run, or waits until the device has reverted them.
    pub(super) async fn confirm_or_revert(run: &mut Running<'_>, changed: ChangedDevice) -> Self {
        let ChangedDevice {
            mut device,
            catalog,
        } = changed;
        let end = match device.access {
            Access::ReadOnly => None,
            Access::ReadWrite => end_protection(run, &mut device).await,
        };
        if end
            .as_ref()
            .is_some_and(|end| end.verdict == Verdict::Unknown)
        {
            device.state.remembered.forget_set();
        }
        Self {
            device,
            catalog,
            end,
        }
    }
}

async fn end_protection(run: &mut Running<'_>, device: &mut ActiveDevice) -> Option<ProtectionEnd> {
    let provider = &mut device.provider;
    if provider.has_protection() {
        warn_about_reload(run, provider);
    }
    let ended = if run.events.record.counts.has_failed() {
        Err("the run failed".to_owned())
    } else {
        Ok(())
    };
    let (stop, deadline) = (&run.stop, &run.deadline);
    let is_stopped = || stop.is_cancelled() || deadline.passed_by().is_some();
    let events = &mut run.events;
    let mut on_wait = |problem: &str, longest: Duration| {
        let limit = duration::render(longest);
        let text =
            format!("waiting for the device to revert the changes, at most {limit}: {problem}");
        events.log_wait(text, longest);
    };
    let end = provider.end_run(ended, &is_stopped, &mut on_wait).await;
    if let Some(reason) = provider.unprotected() {
        let text = format!("the changes were not protected: {reason}");
        run.events.run_log().warning(text);
    }
    let store = &device.owned.store;
    let Some(end) = end else {
        forget_open_run(run, store).await;
        return None;
    };
    let result = match end.verdict {
        Verdict::Applied => "the changes are on the device".to_owned(),
        Verdict::Reverted => {
            "the changes were reverted: the device has the configuration from before the run"
                .to_owned()
        }
        Verdict::Unknown => render_unknown(&end),
    };
    match &end.problem {
        None => run
            .events
            .run_log()
            .notice("confirmed the changes after a second login"),
        Some(problem) => {
            let problem = format!("the changes were not confirmed: {problem}; {result}");
            run.events.fail(problem);
        }
    }
    run.events.record.protection = Some(end.verdict);
    if end.verdict != Verdict::Unknown {
        forget_open_run(run, store).await;
    }
    Some(end)
}

async fn forget_open_run(run: &mut Running<'_>, store: &DeviceStore) {
    if let Err(error) = remove_record(store).await {
        let text = format!("cannot write the state of the device: {}", chain(&error));
        run.events.fail(text);
    }
}
