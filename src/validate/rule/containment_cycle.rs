//! A container that contains itself.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "containment-cycle",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a container that contains itself",
    explanation: "\
The containment edges of the catalog lead from a class or a defined type back to it. Compilers do
not write such edges. `validate` reports the cycle with its members; a run refuses the catalog.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Load,
};
