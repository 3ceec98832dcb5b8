//! The same IP address on several devices of a site.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::inventory::range;
use crate::validate::cross_catalog::{CatalogSet, CatalogSummary, CrossFindings, ResourceLocation};

/// Maximum number of resources in the hint.
const MAX_RESOURCES: usize = 5;

pub(crate) const RULE: Rule = Rule {
    code: "shared-address",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "the same IP address on several devices of a site",
    explanation: "\
Catalogs of two devices of a site assign the same IP address, and both devices would answer for it.
Members of a cluster can share an address on purpose. In that case set the severity of this rule to
\"off\" or use different sites.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::CrossCatalog(check),
};

fn check(catalogs: &CatalogSet<'_>, findings: &mut CrossFindings) {
    type Assignment<'a> = (&'a CatalogSummary, &'a ResourceLocation);
    let mut assignments: BTreeMap<(Option<&str>, IpAddr), Vec<Assignment<'_>>> = BTreeMap::new();
    for summary in &catalogs.summaries {
        for (address, location) in &summary.own_addresses {
            let key = (summary.site.as_deref(), *address);
            let assignments = assignments.entry(key).or_default();
            // A device may use its address twice.
            if assignments.iter().all(|(other, _)| other.name != summary.name) {
                assignments.push((*summary, location));
            }
        }
    }
    for ((_, address), assignments) in &assignments {
        let [(first, location), others @ ..] = &assignments[..] else {
            continue;
        };
        if others.is_empty() {
            continue;
        }
        let names = range::of_names(assignments.iter().map(|(summary, _)| summary.name.as_str()));
        let message = format!("{} devices use {address}: {}", assignments.len(), names.join(", "));
        let found = findings.at_resource(&RULE, first, location, message);
        let assignment = |(summary, location): &Assignment<'_>| format!("{} of {}", location.reference, summary.name);
        let others: Vec<String> = others.iter().take(MAX_RESOURCES).map(assignment).collect();
        found.help = Some(format!("compare it with {}", others.join(", ")));
    }
}
