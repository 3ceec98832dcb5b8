//! A device catalog without a device in the inventory.

use switchtender_devices::diagnostic::suggest;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::cross_catalog::{CatalogSet, CrossFindings};

pub(crate) const RULE: Rule = Rule {
    code: "no-device",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a device catalog without a device in the inventory",
    explanation: "\
No device of the inventory has the name of the catalog as its `certname`. The catalog is not applied
anywhere, and it is checked without a platform. Add the device to the inventory or correct its
`certname`.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::CrossCatalog(check),
};

fn check(catalogs: &CatalogSet<'_>, findings: &mut CrossFindings) {
    let Some(inventory) = catalogs.inventory else {
        return;
    };
    for summary in &catalogs.summaries {
        if !summary.for_device || summary.device.is_some() {
            continue;
        }
        let name = &summary.name;
        let message = format!("no device of the inventory has the certname `{name}`");
        let certnames = inventory.devices.values().map(|device| device.certname.as_str());
        let add = "add the device to the inventory, or set `certname` of its device";
        findings.at_name(&RULE, summary, message).help = Some(suggest(name, certnames, add));
    }
}
