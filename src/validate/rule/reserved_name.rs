//! Something that belongs to the device itself.

use switchtender_devices::driver::ProblemKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "reserved-name",
    severity: Severity::Error,
    summary: "something that belongs to the device",
    explanation: "\
The name is one that the device keeps for itself, such as VLAN 1 or 1002 to 1005: it can be neither
made nor changed nor removed, and the device would refuse every line about it.",
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
    check: Check::Problem(ProblemKind::Reserved),
};
