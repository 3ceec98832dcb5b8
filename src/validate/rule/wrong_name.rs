//! A catalog that was compiled for another device.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::{Side, Subject};

pub const RULE: Rule = Rule {
    code: "wrong-name",
    severity: Severity::Error,
    summary: "a catalog whose name is another device",
    explanation: "\
A catalog carries the name of the node that it was compiled for. Applying it to a device of another
name would configure that device as somebody else. A device whose certificate has another name than
its entry in the inventory says so there: `certname = \"sw1.example.net\"`.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let Side::Device {
        certname: Some(certname),
        ..
    } = subject.side
    else {
        return;
    };
    if subject.catalog.name != *certname && !subject.policy.force_name {
        findings.push(
            Finding::new(
                &RULE,
                At::Name,
                format!(
                    "the catalog is for `{}`, not for `{certname}`",
                    subject.catalog.name
                ),
            )
            .help("give the device this `certname` in the inventory, or force it with --force-name"),
        );
    }
}
