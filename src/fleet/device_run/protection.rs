//! The protection of a run: its record in the state directory, and its end.
//!
//! The record exists from before the first change until the end of the changes is certain. The next
//! run reads it, so that it reports what a run left that ended early.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use switchtender_devices::driver::Facts;
use switchtender_devices::provider::driver_provider::{
    DriverProvider, ProtectPolicy, ProtectionEnd, ProtectionRecord, Verdict,
};
use switchtender_devices::session::{Access, RevertAbsence, RevertMethod};

use super::error::revert_hint;
use super::{DeviceRunError, Running};
use crate::clock;
use crate::error_chain::chain;
use crate::store::{DeviceStore, StoreError, blocking_io};

const FILE: &str = "protected-run.json";
const VERSION: u32 = 1;

/// A protected run whose end is not certain.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenRun {
    started: Timestamp,
    /// The digest of the configuration before its first change.
    before: String,
    /// The device reloads unless the changes are confirmed.
    reloads: bool,
}

/// A provider, and why its device cannot revert changes, if that is required.
type ProtectedProvider = (DriverProvider, Option<RevertAbsence>);

/// Stores the record of a protected run.
struct RunRecord(DeviceStore);

#[async_trait]
impl ProtectionRecord for RunRecord {
    async fn start(&self, digest: &str, method: RevertMethod) -> Result<(), String> {
        let open = OpenRun {
            started: clock::timestamp(),
            before: digest.to_owned(),
            reloads: method == RevertMethod::Reload,
        };
        let store = self.0.clone();
        let saved = blocking_io::run(move || store.save(FILE, VERSION, &open)).await;
        saved.map_err(|error| chain(&error))
    }
}

/// Removes the record. The next run cannot mistake a run with a certain end for an open one.
async fn remove_record(store: &DeviceStore) -> Result<(), StoreError> {
    let store = store.clone();
    blocking_io::run(move || store.remove(FILE)).await
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

impl Running<'_> {
    /// Protects the changes of the run as its options or those of the device require, and reports what
    /// an earlier protected run left. Returns why a device cannot revert changes whose protection is
    /// required.
    ///
    /// # Errors
    /// The device cannot be read, or still reverts the changes of an earlier run.
    pub(super) async fn protect(
        &mut self,
        policy: ProtectPolicy,
        access: Access,
        facts: &Facts,
        provider: DriverProvider,
    ) -> Result<ProtectedProvider, (DriverProvider, DeviceRunError)> {
        let record = Box::new(RunRecord(self.owned.store.clone()));
        let mut provider = provider.protect(policy, facts.clone(), record);
        if access == Access::ReadOnly {
            let absence = match policy {
                // Saved answers do not have it.
                ProtectPolicy::Required => provider.missing_for_revert().await.ok().flatten(),
                _ => None,
            };
            return Ok((provider, absence));
        }
        if let Err(error) = self.report_open_run(&mut provider).await {
            return Err((provider, error));
        }
        if policy != ProtectPolicy::Required {
            return Ok((provider, None));
        }
        match provider.missing_for_revert().await {
            Ok(absence) => Ok((provider, absence)),
            Err(error) => Err((provider, error.into())),
        }
    }

    /// Reports in a plan what its command, `apply` or `undo`, does with changes that the device cannot
    /// revert.
    pub(super) async fn predict_protection(
        &mut self,
        command: &str,
        policy: ProtectPolicy,
        required: Option<RevertAbsence>,
        provider: &mut DriverProvider,
    ) {
        if self.events.counts.to_change == 0 {
            return;
        }
        if let Some(absence) = required {
            self.events.counts.lacks_protection = true;
            let text = format!(
                "`{command}` will refuse the device: {}, and `protect` is \"required\"",
                absence.reason
            );
            self.events.fail_with_hint(text, &revert_hint(&absence));
        } else if policy != ProtectPolicy::Off {
            match provider.missing_for_revert().await {
                Ok(None) => self.warn_about_reload(provider),
                Ok(Some(RevertAbsence { reason, hint })) => {
                    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                    let text = format!("the changes would not be protected: {reason}{hint}");
                    self.events.run_log().warning(text);
                }
                // Saved answers do not have it.
                Err(_) => {}
            }
        }
    }

    /// Reports what a protected run left that ended early.
    async fn report_open_run(
        &mut self,
        provider: &mut DriverProvider,
    ) -> Result<(), DeviceRunError> {
        let open: Option<OpenRun> = self.owned.store.load(FILE, VERSION)?;
        let Some(OpenRun {
            started,
            before,
            reloads,
        }) = open
        else {
            return Ok(());
        };
        let method = if reloads {
            RevertMethod::Reload
        } else {
            RevertMethod::TimedRevert
        };
        let (is_pending, is_before) = provider.compare_with_earlier(&before, method).await?;
        if is_pending {
            return Err(DeviceRunError::RevertPending { started });
        }
        let text = if is_before {
            "the device has the configuration from before it"
        } else {
            "its changes, or later ones, are on the device: the configuration is not the one from before it"
        };
        let text = format!("the protected run of {started} ended early: {text}");
        self.events.run_log().warning(text);
        remove_record(&self.owned.store).await?;
        Ok(())
    }

    /// Warns that the device reloads unless the changes are confirmed.
    fn warn_about_reload(&mut self, provider: &DriverProvider) {
        let Some(limit) = provider.reload_limit() else {
            return;
        };
        let minutes = limit.timer.as_secs() / 60;
        let text = if self.request.kind.writes_state() {
            format!("the device reloads within {minutes} minutes unless the changes are confirmed")
        } else {
            format!(
                "the device would reload after {minutes} minutes unless the changes are confirmed"
            )
        };
        self.events.run_log().warning(text);
    }

    /// Confirms the changes of a protected run, or waits until the device has reverted them.
    pub(super) async fn end_protection(
        &mut self,
        access: Access,
        provider: &mut DriverProvider,
    ) -> Option<ProtectionEnd> {
        if access == Access::ReadOnly {
            return None;
        }
        if provider.has_protection() {
            self.warn_about_reload(provider);
        }
        let ended = if self.events.counts.has_failed() {
            Err("the run failed".to_owned())
        } else {
            Ok(())
        };
        let is_stopped = || self.stop.is_cancelled() || self.deadline.passed_by().is_some();
        let end = provider.end_run(ended, &is_stopped).await;
        if let Some(reason) = provider.unprotected() {
            let text = format!("the changes were not protected: {reason}");
            self.events.run_log().warning(text);
        }
        let Some(end) = end else {
            self.forget_open_run().await;
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
            None => self
                .events
                .run_log()
                .notice("confirmed the changes after a second login"),
            Some(problem) => {
                let problem = format!("the changes were not confirmed: {problem}; {result}");
                self.events.fail(problem);
            }
        }
        self.events.counts.protection = Some(end.verdict);
        self.events.report.set_protection(end.verdict);
        if end.verdict != Verdict::Unknown {
            self.forget_open_run().await;
        }
        Some(end)
    }

    async fn forget_open_run(&mut self) {
        if let Err(error) = remove_record(&self.owned.store).await {
            let text = format!("cannot write the state of the device: {}", chain(&error));
            self.events.fail(text);
        }
    }
}
