//! What `inventory show` shows: each device's merged settings and where each comes from.

use super::{Device, Inventory};

/// One merged setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSetting {
    pub key: String,
    /// A secret shows as the place where it is kept, or as a mask.
    pub value: String,
    /// `[defaults]`, `[platform.cisco_ios]` or `[device.sw1]`; `None` for what nobody wrote.
    pub table: Option<String>,
    /// Line in the inventory, from 1.
    pub line: Option<usize>,
}

/// One device as merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDevice {
    pub name: String,
    pub settings: Vec<ShownSetting>,
}

impl Inventory {
    /// These devices with all their settings. No secret is looked up.
    pub fn show(&self, devices: &[&Device]) -> Vec<ShownDevice> {
        devices.iter().map(|device| show(device)).collect()
    }
}

fn show(device: &Device) -> ShownDevice {
    let mut settings: Vec<ShownSetting> = device
        .settings
        .shown()
        .into_iter()
        .map(|(key, value, origin)| ShownSetting {
            key,
            value,
            line: Some(origin.line()),
            table: Some(origin.table.to_string()),
        })
        .collect();
    if device.settings.certname.is_none() {
        let at = settings
            .iter()
            .position(|setting| setting.key != "platform");
        settings.insert(
            at.unwrap_or(0),
            ShownSetting {
                key: "certname".to_owned(),
                value: device.certname.clone(),
                table: None,
                line: None,
            },
        );
    }
    ShownDevice {
        name: device.name.clone(),
        settings,
    }
}
