//! A containment edge to a resource that is not in the catalog.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "catalog-edge",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a containment edge to a resource that is not in the catalog",
    explanation: "\
An edge of the catalog names a resource that the catalog does not contain. Compilers do not write such
edges: the catalog was edited or damaged.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Class", "title": "Site", "kind": "class"},
    {"type": "Network_vlan", "title": "41", "kind": "compilable_type"}
  ],
  "edges": [
    {"source": "Class[Site]", "target": «"Network_vlan[42]"»}
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Class", "title": "Site", "kind": "class"},
    {"type": "Network_vlan", "title": "41", "kind": "compilable_type"}
  ],
  "edges": [
    {"source": "Class[Site]", "target": "Network_vlan[41]"}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Load,
};
