//! A device of the inventory, after merging: as it is declared, and as it can be run.

use std::collections::BTreeMap;
use std::ops::Range;

use switchtender_devices::value::Value;

use super::SavePolicy;
use super::table_settings::TableSettings;

/// What the tables of a device say together. What every device needs may be missing.
#[derive(Clone, Debug)]
pub struct DeviceEntry {
    /// The name in the inventory.
    pub name: String,
    /// Place of its table in the file.
    pub span: Range<usize>,
    /// Everything that is set, with its origin.
    pub settings: TableSettings,
}

impl DeviceEntry {
    /// The name that its catalog carries.
    pub fn certname(&self) -> &str {
        let certname = self.settings.certname.as_ref();
        certname.map_or(&self.name, |certname| &certname.value)
    }

    /// The device, unless it lacks its platform or its address.
    pub fn complete(self) -> Option<Device> {
        Some(Device {
            platform: self.settings.platform.as_ref()?.value.clone(),
            address: self.settings.address.as_ref()?.value.clone(),
            certname: self.certname().to_owned(),
            name: self.name,
            span: self.span,
            settings: self.settings,
        })
    }
}

/// A device and how to reach it. Nothing in it is a secret that was looked up.
#[derive(Clone, Debug)]
pub struct Device {
    /// The name in the inventory.
    pub name: String,
    /// Place of its table in the file.
    pub span: Range<usize>,
    pub platform: String,
    /// The name that its catalog carries.
    pub certname: String,
    pub address: String,
    /// Everything that is set, with its origin.
    pub settings: TableSettings,
}

impl Device {
    pub fn site(&self) -> Option<&str> {
        self.settings.site.as_ref().map(|site| site.value.as_str())
    }

    pub fn label(&self, name: &str) -> Option<&str> {
        self.settings
            .labels
            .get(name)
            .map(|label| label.value.as_str())
    }

    /// When the configuration is saved.
    pub fn save_policy(&self) -> SavePolicy {
        let save = self.settings.save_config.as_ref();
        save.map_or_else(SavePolicy::default, |save| save.value)
    }

    /// Options of the platform's driver, by dotted name.
    pub fn options(&self) -> BTreeMap<String, Value> {
        self.settings
            .options
            .iter()
            .map(|(name, option)| (name.clone(), option.value.clone()))
            .collect()
    }
}
