//! Checks over all catalogs of one command, and their inventory.
//!
//! A [`CatalogSummary`] of each catalog is kept, so that memory does not grow with the catalogs. The
//! order of the summaries does not change the findings.

use std::net::IpAddr;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, ManifestPosition, Source};
use switchtender_devices::names::{DeviceName, TypeName};

use super::Policy;
use super::rule::{RULES, Rule, RuleCheck};
use super::rule_context::{RuleContext, single_name};
use crate::catalog::{ResourceRef, Segment, locate_all};
use crate::inventory::{Device, Inventory};

/// The data of a catalog that rules compare with other catalogs.
#[derive(Debug)]
pub(crate) struct CatalogSummary {
    /// The node that the catalog was compiled for.
    pub(crate) name: String,
    pub(crate) source: Arc<Source>,
    /// The paths of secrets, masked in excerpts.
    secrets: Vec<Vec<Segment>>,
    pub(crate) for_device: bool,
    /// The device of the inventory.
    pub(crate) device: Option<DeviceName>,
    pub(crate) site: Option<String>,
    /// Resources of device types.
    pub(crate) device_resources: Vec<ResourceLocation>,
    /// Addresses that the resources assign to the device.
    pub(crate) own_addresses: Vec<(IpAddr, ResourceLocation)>,
    /// Names that stand for one instance at a site.
    pub(crate) site_names: Vec<SiteName>,
}

/// A name that stands for one instance at a site, such as the name of a VLAN.
#[derive(Debug)]
pub(crate) struct SiteName {
    pub(crate) type_name: TypeName,
    pub(crate) name: String,
    /// Value of the namevar, such as the number of the VLAN.
    pub(crate) instance: String,
    pub(crate) location: ResourceLocation,
}

/// A resource, or one of its parameters, in the catalog and in the manifest.
#[derive(Clone, Debug)]
pub(crate) struct ResourceLocation {
    pub(crate) reference: ResourceRef,
    index: usize,
    parameter: Option<String>,
    position: Option<ManifestPosition>,
}

impl CatalogSummary {
    pub(crate) fn new(context: &RuleContext<'_>, device: Option<&Device>) -> Self {
        let mut summary = Self {
            name: context.catalog.name.clone(),
            source: Arc::clone(&context.catalog.source),
            secrets: context.secret_paths(),
            for_device: context.for_device(),
            device: device.map(|device| device.name.clone()),
            site: device.and_then(|device| device.site().map(str::to_owned)),
            device_resources: Vec::new(),
            own_addresses: Vec::new(),
            site_names: Vec::new(),
        };
        let locate = |index: usize, parameter: Option<&str>| {
            let resource = &context.catalog.resources[index];
            ResourceLocation {
                reference: resource.reference.clone(),
                index,
                parameter: parameter.map(str::to_owned),
                position: resource.position.clone(),
            }
        };
        for (index, _) in context.resources() {
            if context.destinations[index].is_device_only() {
                summary.device_resources.push(locate(index, None));
            }
        }
        for (index, _, desired) in context.desired() {
            if desired.is_absent() {
                continue;
            }
            let (model, attributes) = (&desired.model, &desired.attributes);
            for (attribute, address) in model.own_addresses(attributes) {
                let location = locate(index, Some(attribute));
                summary.own_addresses.push((address, location));
            }
            for (attribute, name) in model.site_unique_names(attributes) {
                if let Some(instance) = single_name(desired) {
                    summary.site_names.push(SiteName {
                        type_name: model.name.clone(),
                        name: name.to_owned(),
                        instance,
                        location: locate(index, Some(attribute)),
                    });
                }
            }
        }
        summary
    }
}

/// The catalogs of one command.
pub(crate) struct CatalogSet<'a> {
    /// Sorted by name.
    pub(crate) summaries: Vec<&'a CatalogSummary>,
    pub(crate) inventory: Option<&'a Inventory>,
    /// Whole directories were given, so that a device without a catalog is a finding.
    pub(crate) is_complete: bool,
}

/// The findings of the rules about several catalogs.
#[derive(Debug, Default)]
pub(crate) struct CrossFindings(Vec<Diagnostic>);

impl CrossFindings {
    /// Adds a finding at the name of a catalog.
    pub(crate) fn at_name(
        &mut self,
        rule: &'static Rule,
        summary: &CatalogSummary,
        message: String,
    ) -> &mut Diagnostic {
        self.add(rule, summary, vec!["name".into()], None, message)
    }

    /// Adds a finding at a resource or parameter of a catalog.
    pub(crate) fn at_resource(
        &mut self,
        rule: &'static Rule,
        summary: &CatalogSummary,
        location: &ResourceLocation,
        message: String,
    ) -> &mut Diagnostic {
        let mut path: Vec<Segment> = vec!["resources".into(), location.index.into()];
        match &location.parameter {
            Some(name) => path.extend(["parameters".into(), name.as_str().into()]),
            None => path.push("title".into()),
        }
        self.add(rule, summary, path, location.position.clone(), message)
    }

    /// Adds a finding outside of the catalogs.
    pub(crate) fn push(&mut self, finding: Diagnostic) {
        self.0.push(finding);
    }

    fn add(
        &mut self,
        rule: &'static Rule,
        summary: &CatalogSummary,
        path: Vec<Segment>,
        position: Option<ManifestPosition>,
        message: String,
    ) -> &mut Diagnostic {
        let found = Diagnostic::new(rule.code, rule.severity, message).in_manifest(position);
        let paths = std::iter::once(&path).chain(&summary.secrets);
        let mut spans = locate_all(&summary.source.text, paths.map(Vec::as_slice)).into_iter();
        let at = spans.next().flatten();
        let hidden: Vec<_> = spans.flatten().collect();
        self.0.push(match at {
            Some(span) => found.at(&summary.source.redacted(&hidden), span, ""),
            None => found,
        });
        self.0.last_mut().expect("it was added")
    }
}

/// The findings of all rules about several catalogs, and the warnings of the inventory.
pub(crate) fn check(
    summaries: &[CatalogSummary],
    inventory: Option<&Inventory>,
    is_complete: bool,
    policy: &Policy,
) -> Vec<Diagnostic> {
    let mut summaries: Vec<&CatalogSummary> = summaries.iter().collect();
    summaries.sort_by_key(|summary| (&summary.name, &summary.source.name));
    let catalogs = CatalogSet {
        summaries,
        inventory,
        is_complete,
    };
    let mut findings = CrossFindings::default();
    for rule in RULES {
        if let RuleCheck::CrossCatalog(check) = rule.check {
            check(&catalogs, &mut findings);
        }
    }
    let warnings = inventory.map_or(&[][..], |inventory| &inventory.warnings);
    findings.0.extend_from_slice(warnings);
    let mut findings = policy.severities.applied(findings.0);
    crate::diagnostic::sort(&mut findings);
    findings
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::inventory::InventoryOptions;
    use crate::validate::example::{compile, registry};
    use crate::validate::{CatalogTarget, TargetResolver};

    const INVENTORY: &str = r#"
        [defaults]
        platform = "cisco_ios"
        user = "u"
        agent = true
        site = "fra"
        [device]
        sw1 = { address = "192.0.2.1" }
        sw2 = { address = "192.0.2.2" }
        far = { address = "192.0.2.3", site = "ber" }
        lb1 = { address = "192.0.2.4", platform = "f5_bigip" }
        lb2 = { address = "192.0.2.5", platform = "f5_bigip" }"#;

    /// `code: message` of the findings about several catalogs.
    fn messages(inventory: Option<&str>, complete: bool, manifests: &[&str]) -> Vec<String> {
        let inventory = inventory.map(|text| {
            let options = InventoryOptions::default();
            Inventory::parse("i.toml", text, Path::new(""), None, &options).unwrap()
        });
        let resolver = TargetResolver {
            inventory: inventory.as_ref(),
            ..TargetResolver::default()
        };
        let (registry, policy) = (registry(), Policy::default());
        let summaries: Vec<CatalogSummary> = manifests
            .iter()
            .map(|manifest| {
                let catalog = compile(manifest).catalog;
                let target: CatalogTarget =
                    resolver.resolve(&catalog, &registry, &Default::default());
                let context = RuleContext::new(&catalog, &registry, &policy, &target);
                CatalogSummary::new(&context, resolver.device(&catalog))
            })
            .collect();
        check(&summaries, inventory.as_ref(), complete, &policy)
            .into_iter()
            .map(|found| format!("{}: {}", found.code, found.message))
            .collect()
    }

    #[test]
    fn cross_catalog_matches_devices_and_catalogs() {
        let catalogs = [
            "node 'sw1' { network_vlan { '40': } }",
            "node 'sw3' { network_vlan { '40': } }",
            "node 'www' { file { '/x': } }",
        ];
        assert_eq!(
            messages(Some(INVENTORY), false, &catalogs),
            ["no-device: no device of the inventory has the certname `sw3`"]
        );
        let complete = messages(Some(INVENTORY), true, &catalogs);
        let missing: Vec<&String> = complete
            .iter()
            .filter(|message| message.starts_with("no-catalog: "))
            .collect();
        let [missing] = missing[..] else {
            panic!("{complete:?}");
        };
        assert!(
            missing.contains("sw2") && !missing.contains("sw1"),
            "{missing}"
        );
        assert_eq!(messages(None, true, &catalogs), [""; 0]);
    }

    #[test]
    fn cross_catalog_reports_both_sides_at_the_host() {
        let catalogs = [
            "node 'sw1' { network_vlan { '40': } network_vlan { '41': } }",
            "node 'www' { file { '/x': } file { '/y': } network_vlan { '40': } }",
            "node 'db' { file { '/x': } }",
        ];
        // Without the inventory, www counts as a device because of its device resource.
        assert_eq!(messages(Some(INVENTORY), false, &catalogs[..1]), [""; 0]);
        let host = TargetResolver {
            kind: crate::validate::TargetKind::Host,
            ..TargetResolver::default()
        };
        let (registry, policy) = (registry(), Policy::default());
        let summaries: Vec<CatalogSummary> = catalogs
            .iter()
            .enumerate()
            .map(|(number, manifest)| {
                let catalog = compile(manifest).catalog;
                let resolver = if number == 0 {
                    TargetResolver::default()
                } else {
                    host
                };
                let target = resolver.resolve(&catalog, &registry, &Default::default());
                CatalogSummary::new(
                    &RuleContext::new(&catalog, &registry, &policy, &target),
                    None,
                )
            })
            .collect();
        let found = check(&summaries, None, false, &policy);
        let found: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(
            found,
            ["Network_vlan[40] is declared for host `www` and for device `sw1`"]
        );
    }

    #[test]
    fn cross_catalog_compares_addresses_and_vlan_names_of_a_site() {
        let selfip = |node: &str, address: &str| {
            format!(
                "node '{node}' {{ f5_selfip {{ '/Common/s': ensure => 'present', \
                 address => '{address}', vlan => '/Common/v' }} }}"
            )
        };
        let (one, same, other) = (
            selfip("lb1", "198.51.100.1/24"),
            selfip("lb2", "198.51.100.1/25"),
            selfip("lb2", "198.51.100.2/24"),
        );
        assert_eq!(
            messages(Some(INVENTORY), false, &[&one, &same]),
            ["shared-address: 2 devices use 198.51.100.1: lb[1-2]"]
        );
        assert_eq!(messages(Some(INVENTORY), false, &[&one, &other]), [""; 0]);

        let vlan = |node: &str, id: &str| {
            format!("node '{node}' {{ network_vlan {{ '{id}': vlan_name => 'users' }} }}")
        };
        let (here, there, same) = (vlan("sw1", "10"), vlan("sw2", "11"), vlan("sw2", "10"));
        assert_eq!(
            messages(Some(INVENTORY), false, &[&here, &there]),
            ["vlan-names: network_vlan: `users` has 2 numbers at site `fra`: 10 on sw1; 11 on sw2"]
        );
        let third = vlan("sw3", "10");
        let inventory = format!("{INVENTORY}\nsw3 = {{ address = \"192.0.2.6\" }}");
        assert_eq!(
            messages(Some(&inventory), false, &[&here, &there, &third]),
            [
                "vlan-names: network_vlan: `users` has 2 numbers at site `fra`: 11 on sw2; 10 on sw1, sw3"
            ]
        );
        let far = vlan("far", "11");
        assert_eq!(
            messages(Some(INVENTORY), false, &[&here, &same, &far]),
            [""; 0]
        );
    }

    #[test]
    fn cross_catalog_includes_inventory_warnings() {
        let inventory = INVENTORY.replace("192.0.2.2", "192.0.2.1");
        assert_eq!(
            messages(Some(&inventory), false, &[]),
            ["duplicate-address: 2 devices have the same address, 192.0.2.1: sw[1-2]"]
        );
    }
}
