//! A text that is not UTF-8.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "catalog-encoding",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a text that is not UTF-8",
    explanation: "\
Catalogs are JSON, and JSON is UTF-8. The message gives the position of the first invalid byte.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Load,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalog_encoding_is_reported_by_load() {
        let error = crate::catalog::source("c.json", b"\xff".to_vec()).unwrap_err();
        let codes: Vec<&str> = error.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(codes, [RULE.code]);
    }
}
