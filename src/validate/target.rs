//! The target of a catalog: a device of a platform, or a host.

use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::names::Certname;

use super::running_config::RunningConfig;
use crate::catalog::Catalog;
use crate::inventory::{Device, Inventory};
use crate::route::{Destination, route};

/// The node that a catalog is applied to.
#[derive(Clone, Debug)]
pub enum CatalogTarget {
    Host,
    Device {
        /// The name that the catalog must have. `None`: any.
        certname: Option<Certname>,
        /// The driver with the facts of the device. `None`: the platform is unknown.
        driver: Option<Driver>,
        /// The running configuration, if it was given.
        running: Option<RunningConfig>,
        /// Maximum share of the interfaces that the catalog shuts down, in percent. The policy overrides it.
        max_shutdown: Option<u8>,
    },
}

/// The kind of target that the user chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TargetKind {
    /// The inventory decides, then the resources of the catalog.
    #[default]
    Auto,
    Device,
    Host,
}

/// Finds the target of a catalog.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetResolver<'a> {
    /// Target chosen by the user; `Auto` leaves it to inventory and catalog.
    pub kind: TargetKind,
    /// Devices by certname; `None`: no inventory was given.
    pub inventory: Option<&'a Inventory>,
    /// Platform of catalogs whose device is not in the inventory.
    pub platform: Option<&'a str>,
}

impl TargetResolver<'_> {
    /// The device of the inventory whose certname is the name of the catalog.
    pub(crate) fn device(&self, catalog: &Catalog) -> Option<&Device> {
        match self.kind {
            TargetKind::Host => None,
            _ => self.inventory?.by_certname(&catalog.name),
        }
    }

    /// The target of the catalog. `facts`: facts of the device.
    pub fn resolve(&self, catalog: &Catalog, registry: &Registry, facts: &Facts) -> CatalogTarget {
        if let Some(device) = self.device(catalog) {
            return CatalogTarget::for_device(device, registry, facts);
        }
        if !self.is_for_device(catalog, registry) {
            return CatalogTarget::Host;
        }
        let platform = self.platform.and_then(|name| registry.platform(name));
        CatalogTarget::Device {
            certname: None,
            driver: platform.map(|platform| Driver::new(platform, facts)),
            running: None,
            max_shutdown: None,
        }
    }

    fn is_for_device(&self, catalog: &Catalog, registry: &Registry) -> bool {
        match self.kind {
            TargetKind::Device => true,
            TargetKind::Host => false,
            TargetKind::Auto if self.platform.is_some() => true,
            TargetKind::Auto => {
                let destinations = route(catalog, |name| registry.model(name).cloned());
                let any = |desired: fn(&Destination) -> bool| destinations.iter().any(desired);
                // A catalog without host resources is for a device, even if its types are unknown.
                any(Destination::is_device_only) || !any(Destination::is_host_only)
            }
        }
    }
}

impl CatalogTarget {
    /// A device of the inventory. `facts`: facts of the device; its options are added.
    pub(crate) fn for_device(device: &Device, registry: &Registry, facts: &Facts) -> Self {
        CatalogTarget::Device {
            certname: Some(device.certname.clone()),
            driver: device.driver(registry, facts),
            running: None,
            max_shutdown: device.max_shutdown(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::example::{compile, registry};
    use super::super::{Policy, for_run};
    use super::*;
    use crate::inventory::InventoryOptions;

    fn target_of(device: &Device) -> CatalogTarget {
        CatalogTarget::for_device(device, &registry(), &Facts::default())
    }

    fn inventory(keys: &str) -> Inventory {
        let text = format!(
            "[device.sw1]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nuser = \"u\"\n\
             agent = true\ncertname = \"sw1.example.net\"\n{keys}\n"
        );
        Inventory::parse(
            "i.toml",
            &text,
            Path::new(""),
            None,
            &InventoryOptions::default(),
        )
        .unwrap()
    }

    fn codes(manifest: &str, resolver: TargetResolver<'_>, facts: &Facts) -> Vec<&'static str> {
        let (registry, catalog) = (registry(), compile(manifest).catalog);
        let target = resolver.resolve(&catalog, &registry, facts);
        let found = super::super::catalog(&catalog, &registry, &target, &Policy::default());
        found.iter().map(|found| found.code).collect()
    }

    #[test]
    fn resolve_uses_kind_inventory_and_resources() {
        let inventory = inventory("");
        let both = "file { '/x': } network_vlan { '40': }";
        let ours = format!("node 'sw1.example.net' {{ {both} f5_ntp {{ '/Common/ntp': }} }}");
        let host_only = "file { '/x': }";
        let of_kind = |kind| TargetResolver {
            kind,
            ..TargetResolver::default()
        };
        let with_inventory = TargetResolver {
            inventory: Some(&inventory),
            ..TargetResolver::default()
        };
        let cases: [(&str, TargetResolver<'_>, &[&str]); 6] = [
            (both, TargetResolver::default(), &["host-resource"]),
            (both, of_kind(TargetKind::Host), &["device-resource"]),
            (host_only, TargetResolver::default(), &[]),
            (
                host_only,
                of_kind(TargetKind::Device),
                &["empty-catalog", "host-resource"],
            ),
            // The platform of the inventory does not support the type.
            (
                &ours,
                with_inventory,
                &["host-resource", "unsupported-type"],
            ),
            (&ours, TargetResolver::default(), &["host-resource"]),
        ];
        for (manifest, resolver, expected) in cases {
            let found = codes(manifest, resolver, &Facts::default());
            assert_eq!(found, expected, "{manifest} {resolver:?}");
        }
    }

    #[test]
    fn resolve_passes_facts_to_the_driver() {
        let resolver = TargetResolver {
            platform: Some("cisco_ios"),
            ..TargetResolver::default()
        };
        let manifest = "vrf { 'red': ensure => 'present' }";
        let model = |name: &str| Facts::from_iter([("model".to_owned(), name.to_owned())]);
        assert_eq!(codes(manifest, resolver, &model("9300")), [""; 0]);
        assert_eq!(
            codes(manifest, resolver, &model("2960")),
            ["unsupported-type"]
        );
    }

    #[test]
    fn for_device_passes_options_to_the_driver() {
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
            let checked = for_run(
                &catalog,
                &registry(),
                &target_of(&device),
                &Policy::default(),
            );
            let found = checked.findings;
            let found: Vec<&str> = found.iter().map(|found| found.code).collect();
            assert_eq!(found, expected, "{keys}");
        }
    }

    #[test]
    fn for_device_checks_the_certname() {
        let device = |keys: &str| inventory(keys).devices["sw1"].clone();
        let run = |manifest: &str, policy: &Policy| -> Vec<&'static str> {
            let catalog = compile(manifest).catalog;
            let found = for_run(&catalog, &registry(), &target_of(&device("")), policy).findings;
            found.iter().map(|found| found.code).collect()
        };
        let policy = Policy::default();
        let other = "node 'sw2.example.net' { network_vlan { '40': } }";
        assert_eq!(run(other, &policy), ["wrong-name"]);
        let forced = Policy {
            allow_name_mismatch: true,
            ..Policy::default()
        };
        assert_eq!(run(other, &forced), [""; 0]);
        let ours =
            "node 'sw1.example.net' { port_channel { 'Po10': ensure => 'present', id => 11 } }";
        assert_eq!(run(ours, &policy), ["unwritable-value"]);
    }
}
