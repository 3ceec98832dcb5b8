//! A value that the platform cannot be told.

use switchtender_devices::driver::ProblemKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "unwritable-value",
    severity: Severity::Error,
    summary: "a value that the platform cannot be told",
    explanation: "\
The type takes the value, but there is no way to tell it to this platform: it holds blanks where the
device reads one word, a line break, a character that ends the text early, or makes a line longer
than the device's input takes. The device would cut it, or take its end for another command.",
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
    check: Check::Problem(ProblemKind::Unwritable),
};
