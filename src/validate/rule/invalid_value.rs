//! A value that the attribute does not take.

use switchtender_devices::model::canonical::ValueErrorKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "invalid-value",
    severity: Severity::Error,
    summary: "a value that the attribute does not take",
    explanation: "\
The value has the wrong type, or is outside the set, the range or the pattern that the type's model
gives. A switch would refuse the line halfway through the run.",
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
    check: Check::Value(ValueErrorKind::Refused),
};
