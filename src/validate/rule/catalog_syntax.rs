//! A text that is not a catalog.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "catalog-syntax",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a text that is not a catalog",
    explanation: "\
The text is not JSON, or it is JSON without the fields of a catalog. Typical causes are a truncated
file, an error page of a server, or a report instead of a catalog.",
    bad: r#"
«<»html><body>502 Bad Gateway</body></html>
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type"}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Load,
};
