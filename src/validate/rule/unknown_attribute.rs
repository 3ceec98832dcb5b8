//! An attribute that the type does not have.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Check, Example, Rule, value_error};
use crate::diagnostic::Severity;
use crate::validate::finding::Findings;
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "unknown-attribute",
    severity: Severity::Error,
    summary: "an attribute that the type does not have",
    explanation: "\
Puppet fails the whole catalog with `no parameter named 'x'`, on the device that gets it first. Most
often the name is misspelt, or the attribute belongs to a neighbouring type.",
    bad: "
network_vlan { '40':
  vlan_nmae => «'printers'»,
}
",
    good: "
network_vlan { '40':
  vlan_name => 'printers',
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    value_error::report(subject, findings, &RULE, ValueErrorKind::Unknown);
}
