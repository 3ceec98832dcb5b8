//! A value that the commands of the platform cannot express, and that a device can have.

use switchtender_devices::driver::ProblemKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "unwritable-change",
    severity: Severity::Warning,
    effects: Effects::ERRORS_ONLY,
    summary: "a value that a device can have, and that no command can set",
    explanation: "\
A command cannot contain the value, as with `unwritable-value`, but a device can have it, for example
from another image or a copied file. While the device has it, nothing is to be done. Otherwise the
resource fails, and nothing of it is sent.",
    bad: "
network_vlan { '30':
  vlan_name => «'Guests & visitors'»,
}
",
    good: "
network_vlan { '30':
  vlan_name => 'guests',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Problem(ProblemKind::Unchangeable),
};
