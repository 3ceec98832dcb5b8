//! A deferred function that is not available.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "catalog-deferred",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a deferred function that is not available",
    explanation: "\
`Deferred('f', …)` is called when the catalog is applied. Switchtender has no Ruby and calls only the
functions that it implements itself. Call the function in the manifest instead.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {"vlan_name": «{"__ptype": "Deferred", "name": "site::name", "arguments": [["a"], "b"]}»}}
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {"vlan_name": {"__ptype": "Deferred", "name": "join", "arguments": [["a"], "b"]}}}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Load,
};
