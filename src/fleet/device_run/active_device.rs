//! A device with the provider that reads and changes it.

use switchtender_devices::driver::Facts;
use switchtender_devices::provider::driver_provider::DriverProvider;
use switchtender_devices::session::{Access, RevertAbsence};

use super::DeviceRunError;
use crate::fleet::catalog_source::DeviceSettings;
use crate::fleet::state_files::DeviceState;
use crate::store::identity::OwnedState;

/// A device between its connection and the end of its session.
pub(super) struct ActiveDevice {
    pub(super) provider: DriverProvider,
    pub(super) facts: Facts,
    pub(super) access: Access,
    pub(super) owned: OwnedState,
    pub(super) state: DeviceState,
    pub(super) settings: DeviceSettings,
}

/// Why a device is not changed at all.
pub(super) struct Obstacles {
    /// It cannot revert changes, and this is required.
    pub(super) absence: Option<RevertAbsence>,
    /// It is the standby unit of a pair, in this state.
    pub(super) standby: Option<String>,
}

impl ActiveDevice {
    /// Closes the session of a device that is not changed.
    pub(super) async fn refuse(mut self, error: DeviceRunError) -> DeviceRunError {
        self.provider.close().await;
        error
    }
}
