//! The output of `inventory show`: merged settings of devices, each with its table.

use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;

use super::{Device, Inventory};

/// One merged setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingRow {
    pub(crate) key: String,
    /// For a secret: its source, or a mask.
    pub(crate) value: String,
    /// `[defaults]`, `[platform.cisco_ios]` or `[device.sw1]`; `None`: a default of the program.
    pub(crate) table: Option<String>,
    /// Line in the inventory, from 1.
    pub(crate) line: Option<usize>,
}

/// The merged settings of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceRows {
    pub(crate) name: DeviceName,
    pub(crate) settings: Vec<SettingRow>,
}

impl Inventory {
    /// The settings of these devices. Secrets are not read.
    pub(crate) fn show(&self, devices: &[&Device], registry: &Registry) -> Vec<DeviceRows> {
        let show = |device: &&Device| show(device, &self.source, registry);
        devices.iter().map(show).collect()
    }
}

fn show(device: &Device, file: &Arc<Source>, registry: &Registry) -> DeviceRows {
    let mut settings: Vec<SettingRow> = device
        .settings
        .rows()
        .into_iter()
        .map(|(key, value, origin)| SettingRow {
            key,
            value,
            // The output of a command has no lines that a user can open.
            line: Arc::ptr_eq(file, &origin.source).then(|| origin.line()),
            table: Some(if Arc::ptr_eq(file, &origin.source) {
                origin.table.to_string()
            } else {
                format!("{}, {}", origin.table, origin.source.name)
            }),
        })
        .collect();
    if device.settings.certname.is_none() {
        let at = settings
            .iter()
            .position(|setting| setting.key != "platform");
        settings.insert(
            at.unwrap_or(0),
            SettingRow {
                key: "certname".to_owned(),
                value: device.certname.to_string(),
                table: None,
                line: None,
            },
        );
    }
    let platform = device.platform_of(registry);
    settings.extend(platform.map(|platform| SettingRow {
        key: "guarantee".to_owned(),
        value: device.guarantee(&platform).to_string(),
        table: Some("the platform".to_owned()),
        line: None,
    }));
    DeviceRows {
        name: device.name.clone(),
        settings,
    }
}
