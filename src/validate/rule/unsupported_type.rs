//! A type without an implementation on the device's platform.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "unsupported-type",
    severity: Severity::Error,
    summary: "a type that the platform does not have",
    explanation: "\
The type is known, but nothing says how this platform reads and writes it: a load balancer's pool in
the catalog of a switch, or a type that this model of switch lacks (with `--facts`). The resource
and what depends on it would fail.",
    bad: "
«f5_pool» { '/Common/web':
  ensure => 'present',
}
",
    good: "
network_vlan { '40':
  ensure => 'present',
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(driver) = subject.driver() else {
        return;
    };
    for (index, resource, typed) in subject.typed() {
        if let Err(why) = driver.supports(&typed.model) {
            findings.push(Finding::new(
                &RULE,
                At::Resource(index, Part::Type),
                format!("{}: {why}", resource.reference),
            ));
        }
    }
}
