//! An attribute that the type does not have.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "unknown-attribute",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "an attribute that the type does not have",
    explanation: "\
The name is misspelled, or the attribute belongs to a similar type. Puppet refuses such a catalog with
`no parameter named 'x'`.",
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
    check: RuleCheck::Value(ValueErrorKind::Unknown),
};
