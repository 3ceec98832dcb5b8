//! A name that the device reserves.

use switchtender_devices::driver::ProblemKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "reserved-name",
    severity: Severity::Warning,
    effects: Effects::ERRORS_ONLY,
    summary: "a name that the device reserves",
    explanation: "\
The device owns this instance, such as VLAN 1 or VLANs 1002 to 1005. It cannot be created, changed or
removed. A resource that is in sync is accepted. A resource that differs from the device fails.",
    bad: "
network_vlan { «'1002'»:
  ensure => 'absent',
}
",
    good: "
network_vlan { '102':
  ensure => 'absent',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Problem(ProblemKind::Reserved),
};
