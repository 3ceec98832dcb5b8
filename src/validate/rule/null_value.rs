//! An attribute whose value is null.

use switchtender_devices::value::Value;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::route::Destination;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "null-value",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "an attribute whose value is null",
    explanation: "\
Compilers omit undefined attributes. Puppet refuses a catalog that contains a null (`Got nil value for
x`). The catalog was edited or written by another program.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {"vlan_name": «null»}}
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {}}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource) in context.resources() {
        if matches!(context.destinations[index], Destination::Container) {
            continue;
        }
        for (name, value) in &resource.parameters {
            if *value == Value::Undef {
                findings.push(
                    RuleFinding::new(
                        &RULE,
                        Location::parameter(index, name),
                        format!("{}: `{name}` is null", resource.reference),
                    )
                    .help("remove the attribute"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Loading, load};
    use crate::diagnostic::Source;
    use crate::validate::example::{device, registry};
    use crate::validate::{Policy, catalog};

    #[test]
    fn null_value_is_reported_for_applied_resources() {
        let text = r#"{"name": "n", "catalog_format": 2, "resources": [
            {"type": "Class", "title": "a", "kind": "class", "parameters": {"x": null}},
            {"type": "Network_vlan", "title": "40", "kind": "compilable_type",
             "parameters": {"vlan_name": null}}]}"#;
        let loaded = load(&Source::new("c", text), &Loading::default()).unwrap();
        let found = catalog(&loaded, &registry(), &device("cisco_ios"), &Policy::default());
        let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(messages, ["Network_vlan[40]: `vlan_name` is null"]);
    }
}
