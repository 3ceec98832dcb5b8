//! The same IP address on several devices of a site.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::cross_catalog::{CatalogSet, CrossFindings, CatalogSummary};

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
    let mut first: BTreeMap<(Option<&str>, IpAddr), &CatalogSummary> = BTreeMap::new();
    for summary in &catalogs.summaries {
        for (address, location) in &summary.own_addresses {
            let key = (summary.site.as_deref(), *address);
            let other = first.entry(key).or_insert(summary);
            if other.name != summary.name {
                let message = format!(
                    "{} uses {address}, and `{}` uses it too",
                    location.reference, other.name
                );
                findings.at_resource(&RULE, summary, location, message);
            }
        }
    }
}
