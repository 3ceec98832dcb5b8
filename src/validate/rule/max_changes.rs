//! More changes than `--max-changes` allows.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "max-changes",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "more changes than `--max-changes` allows",
    explanation: "\
`apply --max-changes N` changes nothing on a device if the run would send commands for more than N
resources. It stops an error in shared data before the first command. The device is read once: the plan
and the run use the same state. `plan --max-changes N` fails for such a device. `validate` cannot check it,
because it does not read the device.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Plan,
};
