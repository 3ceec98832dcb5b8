//! Where a catalog is going: which device of which platform, or a host.

use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::value::Value;

use super::subject::Side;
use crate::catalog::Catalog;
use crate::inventory::{Device, Inventory};
use crate::route::{Destination, route};

/// What the user says about where catalogs are going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum For {
    /// The inventory decides, then what is in the catalog.
    #[default]
    Auto,
    Device,
    Host,
}

/// What decides where catalogs are going.
#[derive(Clone, Copy, Debug, Default)]
pub struct Routing<'a> {
    pub wanted: For,
    pub inventory: Option<&'a Inventory>,
    /// Platform of catalogs whose device is not in the inventory.
    pub platform: Option<&'a str>,
}

impl Routing<'_> {
    /// The device of the inventory that a catalog is for.
    pub fn device(&self, catalog: &Catalog) -> Option<&Device> {
        match self.wanted {
            For::Host => None,
            _ => self.inventory?.by_certname(&catalog.name),
        }
    }

    /// Where the catalog is going. `facts` are those of its device.
    pub fn side(&self, catalog: &Catalog, registry: &Registry, facts: &Facts) -> Side {
        if let Some(device) = self.device(catalog) {
            return Side::of_device(device, registry, facts);
        }
        if !self.is_for_device(catalog, registry) {
            return Side::Host;
        }
        let platform = self.platform.and_then(|name| registry.platform(name));
        Side::Device {
            certname: None,
            driver: platform.map(|platform| Driver::new(platform, facts)),
            running: None,
        }
    }

    fn is_for_device(&self, catalog: &Catalog, registry: &Registry) -> bool {
        match self.wanted {
            For::Device => true,
            For::Host => false,
            For::Auto if self.platform.is_some() => true,
            For::Auto => {
                let destinations = route(catalog, |name| registry.model(name).cloned());
                let any = |wanted: fn(&Destination) -> bool| destinations.iter().any(wanted);
                // A catalog with nothing for a host is a device's, even where its types are new.
                any(Destination::only_device) || !any(Destination::only_host)
            }
        }
    }
}

impl Side {
    /// A device of the inventory. `facts` are what is known of it besides.
    pub fn of_device(device: &Device, registry: &Registry, facts: &Facts) -> Self {
        let mut facts = facts.clone();
        for (name, value) in device.options() {
            facts.insert(format!("option.{name}"), shown(&value));
        }
        Side::Device {
            certname: Some(device.certname.clone()),
            driver: registry
                .platform(&device.platform)
                .map(|platform| Driver::new(platform, &facts)),
            running: None,
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => format!("{other:?}"),
    }
}
