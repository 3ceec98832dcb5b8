//! A device of the inventory with its merged settings.

use std::collections::BTreeMap;
use std::ops::Range;

use switchtender_devices::names::{Certname, DeviceName, PlatformName};
use switchtender_devices::value::Value;

use super::SavePolicy;
use super::table_settings::TableSettings;

/// The merged settings of a device. Required settings can be missing.
#[derive(Clone, Debug)]
pub(crate) struct DeviceEntry {
    /// The name in the inventory.
    pub(crate) name: String,
    /// Position of its table in the file.
    pub(crate) span: Range<usize>,
    /// All settings with their origin.
    pub(crate) settings: TableSettings,
}

impl DeviceEntry {
    /// The name of its catalog: the certname, or the name of the device.
    pub(crate) fn certname(&self) -> &str {
        let certname = self.settings.certname.as_ref();
        certname.map_or(&self.name, |certname| &certname.value)
    }

    /// The device. `None`: platform or address is missing, or a name is invalid.
    pub(crate) fn complete(self) -> Option<Device> {
        self.settings.address.as_ref()?;
        Some(Device {
            platform: self.settings.platform.as_ref()?.value.clone(),
            certname: Certname::parse(self.certname()).ok()?,
            name: DeviceName::parse(&self.name).ok()?,
            span: self.span,
            settings: self.settings,
        })
    }
}

/// A device with its settings. Contains no secret of a secret source.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    /// The name in the inventory.
    pub(crate) name: DeviceName,
    /// Position of its table in the file.
    pub(crate) span: Range<usize>,
    pub(crate) platform: PlatformName,
    /// The name of its catalog.
    pub(crate) certname: Certname,
    /// All settings with their origin.
    pub(crate) settings: TableSettings,
}

impl Device {
    pub(crate) fn site(&self) -> Option<&str> {
        self.settings.site.as_ref().map(|site| site.value.as_str())
    }

    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        self.settings
            .labels
            .get(name)
            .map(|label| label.value.as_str())
    }

    /// The policy for saving the startup configuration.
    pub(crate) fn save_policy(&self) -> SavePolicy {
        let save = self.settings.save_config.as_ref();
        save.map_or_else(SavePolicy::default, |save| save.value)
    }

    /// Options of the platform's driver, by dotted name.
    pub(crate) fn options(&self) -> BTreeMap<String, Value> {
        self.settings
            .options
            .iter()
            .map(|(name, option)| (name.clone(), option.value.clone()))
            .collect()
    }
}
