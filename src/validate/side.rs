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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::example::{compile, registry};
    use super::super::{Policy, for_device};
    use super::*;
    use crate::inventory::Reading;

    fn inventory(keys: &str) -> Inventory {
        let text = format!(
            "[device.sw1]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nuser = \"u\"\n\
             agent = true\ncertname = \"sw1.example.net\"\n{keys}\n"
        );
        Inventory::parse("i.toml", &text, Path::new(""), None, &Reading::default()).unwrap()
    }

    fn codes(manifest: &str, routing: Routing<'_>, facts: &Facts) -> Vec<&'static str> {
        let (registry, catalog) = (registry(), compile(manifest).catalog);
        let side = routing.side(&catalog, &registry, facts);
        let found = super::super::catalog(&catalog, &registry, &side, &Policy::default());
        found.iter().map(|found| found.code).collect()
    }

    #[test]
    fn what_is_wanted_decides_then_the_inventory_then_the_resources() {
        let inventory = inventory("");
        let both = "file { '/x': } network_vlan { '40': }";
        let ours = format!("node 'sw1.example.net' {{ {both} f5_ntp {{ '/Common/ntp': }} }}");
        let host_only = "file { '/x': }";
        let wanted = |wanted| Routing {
            wanted,
            ..Routing::default()
        };
        let with_inventory = Routing {
            inventory: Some(&inventory),
            ..Routing::default()
        };
        let cases: [(&str, Routing<'_>, &[&str]); 6] = [
            (both, Routing::default(), &["host-resource"]),
            (both, wanted(For::Host), &["device-resource"]),
            (host_only, Routing::default(), &[]),
            (
                host_only,
                wanted(For::Device),
                &["empty-catalog", "host-resource"],
            ),
            // The platform comes from the inventory, and does not have the type.
            (
                &ours,
                with_inventory,
                &["host-resource", "unsupported-type"],
            ),
            (&ours, Routing::default(), &["host-resource"]),
        ];
        for (manifest, routing, expected) in cases {
            let found = codes(manifest, routing, &Facts::default());
            assert_eq!(found, expected, "{manifest} {routing:?}");
        }
    }

    #[test]
    fn facts_and_options_choose_what_a_device_has() {
        let routing = Routing {
            platform: Some("cisco_ios"),
            ..Routing::default()
        };
        let manifest = "vrf { 'red': ensure => 'present' }";
        let model = |name: &str| Facts::from_iter([("model".to_owned(), name.to_owned())]);
        assert_eq!(codes(manifest, routing, &model("9300")), [""; 0]);
        assert_eq!(
            codes(manifest, routing, &model("2960")),
            ["unsupported-type"]
        );
    }

    #[test]
    fn an_option_of_the_inventory_reaches_the_driver() {
        let catalog = compile(
            "node 'sw1.example.net' { network_vlan { '10': } network_trunk { 'GigabitEthernet1/0/1': \
             ensure => 'present', mode => 'trunk', tagged_vlans => ['10'] } }",
        )
        .catalog;
        for (keys, expected) in [
            ("", vec!["unsupported-attribute"]),
            ("options.network_trunk.manage_vlan_lists = true", vec![]),
        ] {
            let device = inventory(keys).devices["sw1"].clone();
            let (found, _) = for_device(&catalog, &device, &registry(), &Policy::default());
            let found: Vec<&str> = found.iter().map(|found| found.code).collect();
            assert_eq!(found, expected, "{keys}");
        }
    }

    #[test]
    fn before_a_run_the_device_of_the_inventory_counts() {
        let device = |keys: &str| inventory(keys).devices["sw1"].clone();
        let run = |manifest: &str, policy: &Policy| -> Vec<&'static str> {
            let catalog = compile(manifest).catalog;
            let (found, _) = for_device(&catalog, &device(""), &registry(), policy);
            found.iter().map(|found| found.code).collect()
        };
        let policy = Policy::default();
        let other = "node 'sw2.example.net' { network_vlan { '40': } }";
        assert_eq!(run(other, &policy), ["wrong-name"]);
        let forced = Policy {
            force_name: true,
            ..Policy::default()
        };
        assert_eq!(run(other, &forced), [""; 0]);
        let ours = "node 'sw1.example.net' { network_vlan { '40': vlan_name => 'a b' } }";
        assert_eq!(run(ours, &policy), ["unwritable-value"]);
    }
}
