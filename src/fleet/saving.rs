//! Whether a run ends by making the device save its configuration.
//!
//! What is not saved is gone after a restart, and that is what an engineer relies on where a change
//! has cut the way to the device. So after a connection that broke once a change was sent nothing
//! is saved, whatever the inventory says, and people are told what is left to do.

use switchtender_devices::provider::driver_provider::DriverProvider;

use crate::inventory::SavePolicy;

/// What becomes of the configuration at the end of a run that may write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Saving {
    NotDue,
    Due,
    /// It would be due, were it not for the connection that broke; in words for people.
    Withheld(String),
}

impl Saving {
    /// Of the run of this device that is ending.
    pub fn at_the_end(policy: SavePolicy, device: &str, provider: &DriverProvider) -> Self {
        let later = match policy {
            SavePolicy::Never => return Saving::NotDue,
            SavePolicy::OnChange => "the next run that changes something",
            SavePolicy::Always => "the next run",
        };
        if provider.disconnected_after_change() {
            return Saving::Withheld(format!(
                "{device} was not told to save its configuration: the connection broke after a \
                 change was sent, and the change may have been the cause. A restart of the device \
                 brings back what it saved before. Look at the device, then save its configuration \
                 by hand or run again: {later} saves it, if its connection holds"
            ));
        }
        if policy.is_due(provider.has_changed()) {
            Saving::Due
        } else {
            Saving::NotDue
        }
    }
}
