//! An attribute that the type does not have.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

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
    check: Check::Value(ValueErrorKind::Unknown),
};
