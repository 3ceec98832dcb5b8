//! Stores no runs: this build has no store.

use jiff::Timestamp;
use switchtender_devices::names::DeviceName;

use super::exit::CommandError;
use super::store_options::StoreOption;
use crate::fleet::device_run::{DeviceRun, RunOptions};
use crate::inventory::Device;

/// Stores nothing.
#[derive(Clone)]
pub(crate) struct NoRunRecorder;

pub(crate) use self::NoRunRecorder as RunRecorder;

impl NoRunRecorder {
    /// Opens nothing.
    pub(crate) fn open(_: &StoreOption, _: bool) -> Result<Self, CommandError> {
        Ok(Self)
    }

    /// Stores nothing.
    pub(crate) async fn add_devices<'a>(
        &self,
        _: impl IntoIterator<Item = &'a Device>,
    ) -> Result<(), CommandError> {
        Ok(())
    }

    /// Stores nothing.
    pub(crate) async fn record(&self, _: &DeviceName, _: &RunOptions, _: Timestamp, _: &DeviceRun) {
    }
}
