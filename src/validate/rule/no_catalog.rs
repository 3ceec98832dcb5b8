//! A device of the inventory without a catalog.

use std::collections::BTreeSet;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::{Diagnostic, Severity};
use crate::inventory::{Device, range};
use crate::validate::cross_catalog::{CatalogSet, CrossFindings};

pub(crate) const RULE: Rule = Rule {
    code: "no-catalog",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a device of the inventory without a catalog",
    explanation: "\
None of the catalogs in these directories has the `certname` of this device as its name. The device
would not be managed. Typical causes are a failed compilation and a wrong `certname`.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::CrossCatalog(check),
};

fn check(catalogs: &CatalogSet<'_>, findings: &mut CrossFindings) {
    let Some(inventory) = catalogs.inventory.filter(|_| catalogs.is_complete) else {
        return;
    };
    let summaries = catalogs.summaries.iter();
    let supplied: BTreeSet<&str> = summaries
        .filter_map(|summary| summary.device.as_deref())
        .collect();
    let devices = inventory.devices.values();
    let missing: Vec<&Device> = devices
        .filter(|device| !supplied.contains(device.name.as_str()))
        .collect();
    let Some(first) = missing.first() else {
        return;
    };
    let message = match &missing[..] {
        [device] => format!("device `{}` has no catalog", device.name),
        all => {
            let names = range::of_names(all.iter().map(|device| device.name.as_str()));
            format!("{} devices have no catalog: {}", all.len(), names.join(", "))
        }
    };
    let help = format!("compile a catalog with the name `{}`", first.certname);
    findings.push(
        Diagnostic::new(RULE.code, RULE.severity, message)
            .at(&first.position.source, first.position.span.clone(), "")
            .help(help),
    );
}
