//! More removals than `--max-removals` allows.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "max-removals",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "more removals than `--max-removals` allows",
    explanation: "\
`apply --max-removals N` changes nothing on a device if the run would remove more than N resources, by
`ensure => absent` or because `resources` purges them. `--max-removals 0` permits no removal. Entries of a
list, such as a VLAN of a trunk, are changes and not removals. `plan --max-removals N` fails for such a
device. `validate` cannot check it, because it does not read the device.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Plan,
};
