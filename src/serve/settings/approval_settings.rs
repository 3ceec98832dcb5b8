//! `[approval]`: the runs that need the approval of a person.

use std::time::Duration;

use switchtender_devices::document::Table;

use super::values::days_or_duration;
use crate::history::device_state::KnownDevice;
use crate::serve::access::DeviceLimit;

pub(super) const DEFAULT_APPROVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Which runs need the approval of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApprovalSettings {
    /// `None`: of all devices.
    devices: Option<DeviceLimit>,
    /// A plan that has not run after this time expires.
    pub(super) expires: Duration,
}

impl ApprovalSettings {
    pub(super) fn read(table: &Table<'_>) -> Self {
        let devices = table
            .get("devices")
            .and_then(|item| DeviceLimit::read(&item));
        let expires = table
            .get("expires")
            .and_then(|item| days_or_duration(&item));
        table.finish();
        Self {
            devices,
            expires: expires.unwrap_or(DEFAULT_APPROVAL),
        }
    }
    /// Whether the runs of a device need it.
    pub(super) fn includes(&self, device: &KnownDevice) -> bool {
        let devices = self.devices.as_ref();
        devices.is_none_or(|devices| devices.includes(device))
    }
}
