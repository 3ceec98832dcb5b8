//! The same VLAN name with different numbers at one site.

use std::collections::BTreeMap;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
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
    let mut first: BTreeMap<(&str, &str, &str), (&SiteName, &CatalogSummary)> = BTreeMap::new();
    for summary in &catalogs.summaries {
        // Devices without a site need not belong together.
        let Some(site) = summary.site.as_deref() else {
            continue;
        };
        for named in &summary.site_names {
            let key = (site, named.type_name.as_str(), named.name.as_str());
            let (other_named, other) = first.entry(key).or_insert((named, summary));
            if other_named.instance != named.instance && other.name != summary.name {
                let message = format!(
                    "{}: `{}` is the name of {} here and of {} on `{}` of the same site",
                    named.location.reference,
                    named.name,
                    named.instance,
                    other_named.instance,
                    other.name
                );
                findings.at_resource(&RULE, summary, &named.location, message);
            }
        }
    }
}
