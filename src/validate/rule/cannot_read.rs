//! A file that cannot be read.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "cannot-read",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a file that cannot be read",
    explanation: "\
The file does not exist, the user has no permission, or the file is larger than the limit. For facts
and running configurations: the content has another format. The check of this file is incomplete and
the exit code is 2.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Load,
};
