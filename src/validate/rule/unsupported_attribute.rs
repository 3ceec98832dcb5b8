//! An attribute or value that the platform does not support.

use switchtender_devices::driver::ProblemKind;

use super::{Effect, Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "unsupported-attribute",
    severity: Severity::Error,
    effects: Effects {
        note: Effect::Inform,
        ..Effects::REFUSE_DEVICE
    },
    summary: "an attribute or value that the platform does not support",
    explanation: "\
The type has the attribute, but this platform, or this model of device (with `--facts`), does not. With a
note or warning, the attribute is omitted and the rest of the resource is applied. With an error, the
catalog is refused. For some attributes an option of the driver adds support; the message names it.",
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
    check: RuleCheck::Problem(ProblemKind::Unsupported),
};
