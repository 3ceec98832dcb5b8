//! The same VLAN name with different numbers at one site.

use std::collections::{BTreeMap, BTreeSet};

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::inventory::range;
use crate::validate::cross_catalog::{CatalogSet, CrossFindings, SiteName, CatalogSummary};

pub(crate) const RULE: Rule = Rule {
    code: "vlan-names",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "the same VLAN name with different numbers at one site",
    explanation: "\
Two switches of a site use the same name for different VLANs. A trunk between them connects networks with
different names, and the networks with the same name are not connected.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::CrossCatalog(check),
};

fn check(catalogs: &CatalogSet<'_>, findings: &mut CrossFindings) {
    /// The devices of each number, with the first resource.
    type Instances<'a> = BTreeMap<&'a str, (&'a SiteName, Vec<&'a CatalogSummary>)>;
    let mut names: BTreeMap<(&str, &str, &str), Instances<'_>> = BTreeMap::new();
    for summary in &catalogs.summaries {
        // Devices without a site need not belong together.
        let Some(site) = summary.site.as_deref() else {
            continue;
        };
        for named in &summary.site_names {
            let key = (site, named.type_name.as_str(), named.name.as_str());
            let instances = names.entry(key).or_default();
            let (_, devices) = instances
                .entry(named.instance.as_str())
                .or_insert_with(|| (named, Vec::new()));
            if devices.iter().all(|other| other.name != summary.name) {
                devices.push(summary);
            }
        }
    }
    for ((site, type_name, name), instances) in names {
        let mut all: Vec<(&str, &SiteName, &[&CatalogSummary])> = instances
            .iter()
            .map(|(instance, (first, devices))| (*instance, *first, &devices[..]))
            .collect();
        let devices = all.iter().flat_map(|(.., devices)| devices.iter());
        let nodes: BTreeSet<&str> = devices.map(|device| device.name.as_str()).collect();
        // One device may use a name twice.
        if all.len() < 2 || nodes.len() < 2 {
            continue;
        }
        // The number of the fewest devices is the suspect.
        all.sort_by_key(|(_, _, devices)| devices.len());
        let numbers = all.iter().map(|(instance, _, devices)| {
            let names = devices.iter().map(|device| device.name.as_str());
            format!("{instance} on {}", range::of_names(names).join(", "))
        });
        let numbers: Vec<String> = numbers.collect();
        let (_, named, devices) = all[0];
        let message = format!(
            "{type_name}: `{name}` has {} numbers at site `{site}`: {}",
            all.len(),
            numbers.join("; ")
        );
        let found = findings.at_resource(&RULE, devices[0], &named.location, message);
        found.help = Some("use one number, or different names".to_owned());
    }
}
