//! The same device resource in catalogs of a host and of a device.

use std::collections::BTreeMap;

use super::{Effects, Example, Rule, RuleCheck};
use crate::catalog::ResourceRef;
use crate::diagnostic::Severity;
use crate::validate::cross_catalog::{CatalogSet, CrossFindings, CatalogSummary};

pub(crate) const RULE: Rule = Rule {
    code: "both-sides",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "the same device resource in catalogs of a host and of a device",
    explanation: "\
The host skips the resource, and the device applies it. Usually a class for devices is also included on
hosts. Include it on devices only.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::CrossCatalog(check),
};

fn check(catalogs: &CatalogSet<'_>, findings: &mut CrossFindings) {
    let (devices, hosts): (Vec<&CatalogSummary>, Vec<&CatalogSummary>) = catalogs
        .summaries
        .iter()
        .partition(|summary| summary.for_device);
    let mut declared: BTreeMap<&ResourceRef, &CatalogSummary> = BTreeMap::new();
    for device in devices {
        for location in &device.device_resources {
            declared.entry(&location.reference).or_insert(device);
        }
    }
    for host in hosts {
        for location in &host.device_resources {
            let reference = &location.reference;
            if let Some(device) = declared.get(reference) {
                let message = format!(
                    "{reference} is declared for host `{}` and for device `{}`",
                    host.name, device.name
                );
                findings.at_resource(&RULE, host, location, message).help =
                    Some("declare it for the device only".to_owned());
            }
        }
    }
}
