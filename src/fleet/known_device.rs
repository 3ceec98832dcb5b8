//! A device of the inventory in the form of the history.

use crate::history::device_state::KnownDevice;
use crate::inventory::Device;

/// A device of the inventory in the form of the history.
pub(crate) fn known_device(device: &Device) -> KnownDevice {
    let labels = device.settings.labels.iter();
    KnownDevice {
        name: device.name.to_string(),
        platform: device.platform.to_string(),
        site: device.site().map(str::to_owned),
        labels: labels
            .map(|(name, label)| (name.clone(), label.value.clone()))
            .collect(),
    }
}
