//! A device of the inventory, after merging.

use std::collections::BTreeMap;
use std::ops::Range;

use switchtender_devices::value::Value;

use super::SavePolicy;
use super::layer::{Jump, Layer};

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
    pub settings: Layer,
}

impl Device {
    /// The port, where the inventory names one.
    pub fn port(&self) -> Option<u16> {
        self.settings.port.as_ref().map(|port| port.value)
    }

    pub fn site(&self) -> Option<&str> {
        self.settings.site.as_ref().map(|site| site.value.as_str())
    }

    /// Name or address of the jump host.
    pub fn jump_host(&self) -> Option<&str> {
        match &self.settings.jump.as_ref()?.value {
            Jump::No => None,
            Jump::Device(name) => Some(name),
            Jump::Host(host) => host.address.as_ref().map(|address| address.value.as_str()),
        }
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
