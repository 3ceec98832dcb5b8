//! Saving the configuration on the device, after everything that the run says about it.

use switchtender_devices::session::Access;

use super::Running;
use super::active_device::ActiveDevice;
use super::change::AppliedCatalog;
use super::undo::DecidedDevice;
use crate::catalog::Level;
use crate::fleet::save_config::SaveDecision;
use crate::report::UnknownText;

/// A device that the run does not change any more.
pub(super) struct CompletedDevice {
    pub(super) device: ActiveDevice,
    pub(super) catalog: AppliedCatalog,
    pub(super) is_reverted: bool,
    /// The configuration is saved on the device.
    pub(super) is_saved: bool,
}

impl CompletedDevice {
    /// Reports what the run noticed, and saves the configuration, if that is due.
    pub(super) async fn save(run: &mut Running<'_>, decided: DecidedDevice) -> Self {
        let DecidedDevice {
            mut device,
            catalog,
            is_reverted,
            is_unconfirmed,
        } = decided;
        report_notices(run, &device, &catalog);
        record_not_understood(run, &device);
        run.write_graphs().await;
        let is_saved =
            device.access == Access::ReadWrite && !is_unconfirmed && save(run, &mut device).await;
        Self {
            device,
            catalog,
            is_reverted,
            is_saved,
        }
    }
}

fn report_notices(run: &mut Running<'_>, device: &ActiveDevice, catalog: &AppliedCatalog) {
    if run.request.kind.is_noop() {
        for finding in device
            .settings
            .limits
            .exceeded_by(&run.events.record.counts)
        {
            run.events.record.counts.exceeds_limit = true;
            run.events.fail(finding.message);
        }
    }
    let provider = &device.provider;
    if let Some(message) = provider.state().not_compared() {
        run.events.run_log().warning(message);
    }
    // The attributes of an undo are those that were read: nobody has declared them.
    if catalog.undo.is_none() {
        for message in provider.state().left_out() {
            run.events.run_log().notice(message.clone());
        }
        for message in provider.state().ineffective() {
            run.events.run_log().warning(message.clone());
        }
    }
}

/// Adds text that was not understood to the report, the counts and the log.
fn record_not_understood(run: &mut Running<'_>, device: &ActiveDevice) {
    let mut all = device.provider.state().not_understood();
    for found in &mut all {
        found.text = run.events.mask.apply(&found.text);
        let type_name = &found.type_name;
        let message = format!("{type_name}: not understood on the device: `{found}`");
        run.events.run_log().log(Level::Info, message);
    }
    let message = match all.len() {
        0 => return,
        1 => "1 text of the device was not understood; -v prints it".to_owned(),
        count => format!("{count} texts of the device were not understood; -v prints them"),
    };
    run.events.run_log().notice(message);
    run.events.record.counts.not_understood = all.len();
    run.events.record.not_understood = all.iter().map(UnknownText::from).collect();
}

/// Saves the configuration on the device, if that is due. Returns whether it is saved.
async fn save(run: &mut Running<'_>, device: &mut ActiveDevice) -> bool {
    let provider = &mut device.provider;
    match SaveDecision::decide(device.settings.save, provider) {
        SaveDecision::NotDue => {}
        SaveDecision::Due => match provider.save().await {
            Ok(_) => {
                run.events.run_log().notice("saved the configuration");
                return true;
            }
            Err(error) => run
                .events
                .fail(format!("cannot save the configuration: {}", error.kind)),
        },
        SaveDecision::Withheld(why) => run.events.run_log().warning(why),
    }
    false
}
