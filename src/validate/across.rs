//! What can only be seen with all catalogs and the inventory at hand.
//!
//! Of each catalog a [`Summary`] is kept: few names and values, no values that rules do not ask
//! for. The order of the summaries does not matter; findings are the same in every order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Place, Source};
use switchtender_devices::value::Value;

use super::Policy;
use super::relation::texts;
use super::rule::{Rule, both_sides, no_catalog, no_device, shared_address, vlan_names};
use super::subject::Subject;
use crate::catalog::{ResourceRef, Segment, locate, masked};
use crate::inventory::{Device, Inventory};

/// Attributes by which a device takes an address for itself.
const OWN_ADDRESSES: [(&str, &str); 3] = [
    ("f5_selfip", "address"),
    ("f5_virtualserver", "destination_address"),
    ("interface", "ipaddress"),
];

/// What is kept of a catalog.
#[derive(Debug)]
pub struct Summary {
    /// The node that it is for.
    pub name: String,
    pub source: Arc<Source>,
    pub for_device: bool,
    /// The device of the inventory.
    pub device: Option<String>,
    pub site: Option<String>,
    /// Resources of devices.
    device_resources: Vec<Seen>,
    addresses: Vec<(String, Seen)>,
    vlans: Vec<(String, String, Seen)>,
}

/// A resource, or a parameter of it, with its place.
#[derive(Clone, Debug)]
struct Seen {
    reference: ResourceRef,
    index: usize,
    parameter: Option<&'static str>,
    place: Option<Place>,
}

impl Summary {
    pub fn new(subject: &Subject<'_>, device: Option<&Device>) -> Self {
        let mut summary = Self {
            name: subject.catalog.name.clone(),
            source: Arc::clone(&subject.catalog.source),
            for_device: subject.for_device(),
            device: device.map(|device| device.name.clone()),
            site: device.and_then(|device| device.site().map(str::to_owned)),
            device_resources: Vec::new(),
            addresses: Vec::new(),
            vlans: Vec::new(),
        };
        for (index, resource) in subject.resources() {
            if subject.destinations[index].only_device() {
                summary.device_resources.push(Seen {
                    reference: resource.reference.clone(),
                    index,
                    parameter: None,
                    place: resource.place.clone(),
                });
            }
        }
        for (index, resource, wanted) in subject.wanted() {
            if wanted.absent() {
                continue;
            }
            let kind = wanted.model.name.as_str();
            let seen = |parameter| Seen {
                reference: resource.reference.clone(),
                index,
                parameter: Some(parameter),
                place: resource.place.clone(),
            };
            for (owner, attribute) in OWN_ADDRESSES {
                if owner == kind
                    && let Some(value) = wanted.attributes.get(attribute)
                {
                    for text in texts(value) {
                        let address = text.split(['/', '%']).next().unwrap_or(text);
                        summary
                            .addresses
                            .push((address.to_owned(), seen(attribute)));
                    }
                }
            }
            if kind == "network_vlan"
                && let Some(name) = wanted.attributes.get("vlan_name").and_then(Value::as_str)
                && let Some(id) = wanted.attributes.get("id").and_then(Value::as_str)
            {
                let vlan = (name.to_owned(), id.to_owned(), seen("vlan_name"));
                summary.vlans.push(vlan);
            }
        }
        summary
    }
}

/// What the rules across catalogs have to say. `complete` says that whole directories were given,
/// so that a device without a catalog is worth a word.
pub fn check(
    summaries: &[Summary],
    inventory: Option<&Inventory>,
    complete: bool,
    policy: &Policy,
) -> Vec<Diagnostic> {
    let mut summaries: Vec<&Summary> = summaries.iter().collect();
    summaries.sort_by(|a, b| (&a.name, &a.source.name).cmp(&(&b.name, &b.source.name)));
    let mut findings = Vec::new();
    if let Some(inventory) = inventory {
        devices_and_catalogs(&summaries, inventory, complete, &mut findings);
        findings.extend(inventory.warnings.iter().cloned());
    }
    on_both_sides(&summaries, &mut findings);
    addresses(&summaries, &mut findings);
    vlans(&summaries, &mut findings);
    let mut findings = policy.severities.applied(findings);
    crate::diagnostic::sort(&mut findings);
    findings
}

fn devices_and_catalogs(
    summaries: &[&Summary],
    inventory: &Inventory,
    complete: bool,
    findings: &mut Vec<Diagnostic>,
) {
    for summary in summaries {
        if summary.for_device && summary.device.is_none() {
            let names = inventory.devices.values().map(|d| d.certname.as_str());
            let near = switchtender_devices::diagnostic::nearest(&summary.name, names);
            let message = format!(
                "no device of the inventory has the certname `{}`",
                summary.name
            );
            let mut found = told(&no_device::RULE, summary, None, message);
            found.help = near.map(|near| format!("did you mean `{near}`?"));
            findings.push(found);
        }
    }
    if !complete {
        return;
    }
    let given: BTreeSet<&str> = summaries
        .iter()
        .filter_map(|summary| summary.device.as_deref())
        .collect();
    for device in inventory.devices.values() {
        if !given.contains(device.name.as_str()) {
            let message = format!("no catalog is for device `{}`", device.name);
            findings.push(
                Diagnostic::new(no_catalog::RULE.code, no_catalog::RULE.severity, message)
                    .at(&inventory.source, device.span.clone(), "")
                    .help(format!("expected one with the name `{}`", device.certname)),
            );
        }
    }
}

fn on_both_sides(summaries: &[&Summary], findings: &mut Vec<Diagnostic>) {
    let mut devices: BTreeMap<&ResourceRef, &Summary> = BTreeMap::new();
    for summary in summaries.iter().filter(|summary| summary.for_device) {
        for seen in &summary.device_resources {
            devices.entry(&seen.reference).or_insert(summary);
        }
    }
    for summary in summaries.iter().filter(|summary| !summary.for_device) {
        for seen in &summary.device_resources {
            if let Some(device) = devices.get(&seen.reference) {
                let message = format!(
                    "{} is in the catalog of host `{}` and in that of device `{}`",
                    seen.reference, summary.name, device.name
                );
                findings.push(
                    told(&both_sides::RULE, summary, Some(seen), message)
                        .help("declare it for the device only"),
                );
            }
        }
    }
}

fn addresses(summaries: &[&Summary], findings: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<(Option<&str>, &str), &Summary> = BTreeMap::new();
    for summary in summaries {
        for (address, seen) in &summary.addresses {
            let other = first
                .entry((summary.site.as_deref(), address))
                .or_insert(summary);
            if other.name != summary.name {
                let message = format!(
                    "{} takes {address}, which `{}` takes too",
                    seen.reference, other.name
                );
                findings.push(told(&shared_address::RULE, summary, Some(seen), message));
            }
        }
    }
}

fn vlans(summaries: &[&Summary], findings: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<(&str, &str), (&str, &Summary)> = BTreeMap::new();
    for summary in summaries {
        // Without sites nothing says that two switches belong together.
        let Some(site) = summary.site.as_deref() else {
            continue;
        };
        for (name, id, seen) in &summary.vlans {
            let (other_id, other) = first.entry((site, name)).or_insert((id, summary));
            if *other_id != id && other.name != summary.name {
                let message = format!(
                    "VLAN {id} is called `{name}`, which is VLAN {other_id} on `{}` of the same site",
                    other.name
                );
                findings.push(told(&vlan_names::RULE, summary, Some(seen), message));
            }
        }
    }
}

fn told(rule: &Rule, summary: &Summary, seen: Option<&Seen>, message: String) -> Diagnostic {
    let path: Vec<Segment> = match seen {
        None => vec!["name".into()],
        Some(seen) => {
            let mut path = vec!["resources".into(), seen.index.into()];
            match seen.parameter {
                Some(name) => path.extend(["parameters".into(), name.into()]),
                None => path.push("title".into()),
            }
            path
        }
    };
    let found = Diagnostic::new(rule.code, rule.severity, message)
        .in_manifest(seen.and_then(|seen| seen.place.clone()));
    match locate(&summary.source.text, &path) {
        Some(span) => found.at(&masked(&summary.source), span, ""),
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::inventory::Reading;
    use crate::validate::example::{compile, registry};
    use crate::validate::{Routing, Side};

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

    /// `code severity message` of what is found over all these catalogs.
    fn told(inventory: Option<&str>, complete: bool, manifests: &[&str]) -> Vec<String> {
        let inventory = inventory.map(|text| {
            let reading = Reading::default();
            Inventory::parse("i.toml", text, Path::new(""), None, &reading).unwrap()
        });
        let routing = Routing {
            inventory: inventory.as_ref(),
            ..Routing::default()
        };
        let (registry, policy) = (registry(), Policy::default());
        let summaries: Vec<Summary> = manifests
            .iter()
            .map(|manifest| {
                let catalog = compile(manifest).catalog;
                let side: Side = routing.side(&catalog, &registry, &Default::default());
                let subject = Subject::new(&catalog, &registry, &policy, &side);
                Summary::new(&subject, routing.device(&catalog))
            })
            .collect();
        check(&summaries, inventory.as_ref(), complete, &policy)
            .into_iter()
            .map(|found| format!("{}: {}", found.code, found.message))
            .collect()
    }

    #[test]
    fn devices_and_catalogs_find_each_other() {
        let catalogs = [
            "node 'sw1' { network_vlan { '40': } }",
            "node 'sw3' { network_vlan { '40': } }",
            "node 'www' { file { '/x': } }",
        ];
        assert_eq!(
            told(Some(INVENTORY), false, &catalogs),
            ["no-device: no device of the inventory has the certname `sw3`"]
        );
        let complete = told(Some(INVENTORY), true, &catalogs);
        assert!(complete.contains(&"no-catalog: no catalog is for device `sw2`".to_owned()));
        assert!(!complete.contains(&"no-catalog: no catalog is for device `sw1`".to_owned()));
        assert_eq!(told(None, true, &catalogs), [""; 0]);
    }

    #[test]
    fn a_device_resource_in_a_hosts_catalog_too_is_told() {
        let catalogs = [
            "node 'sw1' { network_vlan { '40': } network_vlan { '41': } }",
            "node 'www' { file { '/x': } file { '/y': } network_vlan { '40': } }",
            "node 'db' { file { '/x': } }",
        ];
        // The inventory says which is which: without it www has a device's resource and so is one.
        assert_eq!(told(Some(INVENTORY), false, &catalogs[..1]), [""; 0]);
        let host = Routing {
            wanted: crate::validate::For::Host,
            ..Routing::default()
        };
        let (registry, policy) = (registry(), Policy::default());
        let summaries: Vec<Summary> = catalogs
            .iter()
            .enumerate()
            .map(|(number, manifest)| {
                let catalog = compile(manifest).catalog;
                let routing = if number == 0 {
                    Routing::default()
                } else {
                    host
                };
                let side = routing.side(&catalog, &registry, &Default::default());
                Summary::new(&Subject::new(&catalog, &registry, &policy, &side), None)
            })
            .collect();
        let found = check(&summaries, None, false, &policy);
        let found: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(
            found,
            ["Network_vlan[40] is in the catalog of host `www` and in that of device `sw1`"]
        );
    }

    #[test]
    fn one_address_and_one_vlan_name_per_site() {
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
            told(Some(INVENTORY), false, &[&one, &same]),
            ["shared-address: F5_selfip[/Common/s] takes 198.51.100.1, which `lb1` takes too"]
        );
        assert_eq!(told(Some(INVENTORY), false, &[&one, &other]), [""; 0]);

        let vlan = |node: &str, id: &str| {
            format!("node '{node}' {{ network_vlan {{ '{id}': vlan_name => 'users' }} }}")
        };
        let (here, there, same) = (vlan("sw1", "10"), vlan("sw2", "11"), vlan("sw2", "10"));
        assert_eq!(
            told(Some(INVENTORY), false, &[&here, &there]),
            ["vlan-names: VLAN 11 is called `users`, which is VLAN 10 on `sw1` of the same site"]
        );
        let far = vlan("far", "11");
        assert_eq!(told(Some(INVENTORY), false, &[&here, &same, &far]), [""; 0]);
    }

    #[test]
    fn two_devices_with_one_address_are_told_with_the_rest() {
        let inventory = INVENTORY.replace("192.0.2.2", "192.0.2.1");
        assert_eq!(
            told(Some(&inventory), false, &[]),
            ["duplicate-address: devices `sw1` and `sw2` have one address, 192.0.2.1"]
        );
    }
}
