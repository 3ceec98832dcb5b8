//! An attribute, or a value of it, that the platform does not have.

use switchtender_devices::driver::ProblemKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;

pub const RULE: Rule = Rule {
    code: "unsupported-attribute",
    severity: Severity::Error,
    summary: "an attribute or value that the platform does not have",
    explanation: "\
The type knows the attribute; this platform, or this model of device (with `--facts`), does not. At
note or warning the attribute is left out and the rest of the resource applied; at error the resource
cannot be applied. With an option of the driver some of these are managed after all: the message says
so.",
    bad: "
network_vlan { '40':
  description => «'printers of the second floor'»,
}
",
    good: "
network_vlan { '40':
  vlan_name => 'printers',
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Problem(ProblemKind::Unsupported),
};
