//! A value that the attribute does not accept.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "invalid-value",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a value that the attribute does not accept",
    explanation: "\
The value has the wrong type, or it is not in the set, range or pattern of the model. The device would
reject the command in the middle of the run, so the catalog is refused before the run.",
    bad: "
network_interface { 'GigabitEthernet1/0/1':
  enable => true,
  speed  => «'fast'»,
}
",
    good: "
network_interface { 'GigabitEthernet1/0/1':
  enable => true,
  speed  => '1g',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Value(ValueErrorKind::Refused),
};
