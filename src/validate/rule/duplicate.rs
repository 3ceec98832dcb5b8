//! A resource that is declared twice.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "duplicate",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a resource that is declared twice",
    explanation: "\
Two resources have the same type and title. Compilers refuse this: the catalog was merged or edited.
Puppet fails with `Duplicate declaration`.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type"},
    {"type": "Network_vlan", "title": «"40"», "kind": "compilable_type"}
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type"},
    {"type": "Network_vlan", "title": "41", "kind": "compilable_type"}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Load,
};
