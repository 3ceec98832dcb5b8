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
break, a character that ends the text, and a line longer than the input buffer of the device. The device
would truncate the value or read a part of it as another command.",
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
    check: RuleCheck::Problem(ProblemKind::Unwritable),
};
