//! An interface that a default shuts down.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "shuts-down",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "an interface that a default shuts down",
    explanation: "\
The model has a default that shuts the interface down, such as `enable => false`. A resource that only
sets a description shuts down the port. This is the documented behavior of the type. Set the attribute
in any case.",
    bad: "
network_interface { «'GigabitEthernet1/0/1'»:
  description => 'printer',
}
",
    good: "
network_interface { 'GigabitEthernet1/0/1':
  enable      => true,
  description => 'printer',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource, wanted) in context.wanted() {
        let Some(shutdown) = &wanted.model.shutdown else {
            continue;
        };
        let attribute = &shutdown.attribute;
        let is_given = resource.parameters.contains_key(attribute.as_str());
        if is_given || shutdown.is_shut_down(&wanted.attributes) != Some(true) {
            continue;
        }
        let message = format!(
            "`{attribute}` is not set on {}: the default shuts the interface down",
            resource.reference
        );
        let help = format!("set `{attribute}`");
        findings.push(RuleFinding::new(&RULE, Location::title(index), message).help(help));
    }
}
