//! A device of the inventory in the form of the history.

use std::collections::BTreeMap;

use crate::device_conf::DeviceSection;
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
        address: address(device),
        guarantee: None,
    }
}

/// A device of `device.conf` in the form of the history.
pub(crate) fn known_section(section: &DeviceSection) -> KnownDevice {
    KnownDevice {
        name: section.name.to_string(),
        platform: section.kind.clone(),
        site: None,
        labels: BTreeMap::new(),
        address: section.redacted_url(),
        guarantee: None,
    }
}

/// Host name or address, and the port if the inventory has one.
fn address(device: &Device) -> String {
    let settings = &device.settings;
    let Some(host) = settings.address.as_ref().map(|address| &address.value) else {
        return String::new();
    };
    match settings.port.as_ref().map(|port| port.value) {
        Some(port) if host.contains(':') => format!("[{host}]:{port}"),
        Some(port) => format!("{host}:{port}"),
        None => host.clone(),
    }
}
