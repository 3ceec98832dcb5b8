//! A name that two resources use.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "alias",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a name that two resources use",
    explanation: "\
Resources are found by title, by the value of the namevar and by `alias`. Two resources of one type
must not share any of these. Puppet fails with `Cannot alias`.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type"},
    «{"type": "Network_vlan", "title": "41", "kind": "compilable_type", "parameters": {"alias": "40"}}»
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type"},
    {"type": "Network_vlan", "title": "41", "kind": "compilable_type", "parameters": {"alias": "users"}}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Load,
};
