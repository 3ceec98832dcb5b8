//! Whether a run ends by saving the configuration on the device.
//!
//! A configuration that is not saved is lost at a restart. Engineers rely on that when a change has
//! cut the connection. So nothing is saved after a connection that broke once a change was sent,
//! independent of the inventory.

use switchtender_devices::provider::driver_provider::{DriverProvider, SavedBefore};

use crate::inventory::SavePolicy;

const UNSAVED_BEFORE: &str = "configuration not saved: the device had unsaved changes before the run, which are of somebody else. \
     Check them, and save the configuration manually";
const UNKNOWN_BEFORE: &str = "configuration not saved: the device does not show whether it had unsaved changes of somebody else. \
     Save the configuration manually";

/// Whether a run that may write saves the configuration at its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SaveDecision {
    NotDue,
    Due,
    /// Saving is due, but the connection broke; with a message for the operator.
    Withheld(String),
}

impl SaveDecision {
    /// The decision at the end of a run.
    pub(crate) fn decide(policy: SavePolicy, provider: &DriverProvider) -> Self {
        if policy == SavePolicy::OnChange && provider.state().has_changed() {
            match provider.saved_before() {
                SavedBefore::Unsaved => return SaveDecision::Withheld(UNSAVED_BEFORE.to_owned()),
                SavedBefore::Unknown => return SaveDecision::Withheld(UNKNOWN_BEFORE.to_owned()),
                SavedBefore::Saved | SavedBefore::NotRead => {}
            }
        }
        let next = match policy {
            SavePolicy::Never => return SaveDecision::NotDue,
            SavePolicy::OnChange => "the next run with a change",
            SavePolicy::Always => "the next run",
        };
        if provider.is_disconnected_after_change() {
            return SaveDecision::Withheld(format!(
                "configuration not saved: the connection broke after a change was sent. \
                 A restart of the device restores the saved configuration. Check the device, then \
                 save the configuration manually or run again: {next} saves it"
            ));
        }
        if policy.is_due(provider.state().has_changed()) {
            SaveDecision::Due
        } else {
            SaveDecision::NotDue
        }
    }
}
