//! A value that the commands of the platform cannot express.

use switchtender_devices::driver::ProblemKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "unwritable-value",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a value that the commands of the platform cannot express",
    explanation: "\
The type accepts the value, but a command cannot contain it. Examples are blanks in a single word, a line
break, and a number that differs from the one in the name. The device would truncate the value or read a
part of it as another command. A value that a device can have nevertheless is `unwritable-change`.",
    bad: "
port_channel { 'Port-channel10':
  ensure => 'present',
  id     => «11»,
}
",
    good: "
port_channel { 'Port-channel10':
  ensure => 'present',
  id     => 10,
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Problem(ProblemKind::Unwritable),
};
