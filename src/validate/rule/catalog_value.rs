//! Rich data that cannot be read.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "catalog-value",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "rich data that cannot be read",
    explanation: "\
A value names a type (`__ptype`) that does not exist, or its content does not fit the type. Puppet
fails to load such a catalog.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {"vlan_name": «{"__ptype": "Odd"}»}}
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {"vlan_name": {"__ptype": "Sensitive", "__pvalue": "users"}}}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Load,
};
