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
The model has a default that shuts the interface down, such as `enable => false`, or the run has Puppet's
defaults (`--compat puppet7`). A resource that only sets a description then shuts down the port. Set the
attribute in each of these resources.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource, desired) in context.desired() {
        let Some(shutdown) = &desired.model.shutdown else {
            continue;
        };
        let attribute = &shutdown.attribute;
        let is_supplied = resource.parameters.contains_key(attribute.as_str());
        if is_supplied || shutdown.is_shut_down(&desired.attributes) != Some(true) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Deviations;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn shuts_down_reports_defaults_of_puppet() {
        let policy = Policy {
            deviations: Deviations::puppet7(),
            ..Policy::default()
        };
        let supplied = "network_interface { 'GigabitEthernet1/0/1': enable => true, mtu => 1500 }";
        let audited = "network_interface { 'GigabitEthernet1/0/1': audit => 'all' }";
        let missing = "network_interface { «'GigabitEthernet1/0/1'»: mtu => 1500 }";
        for manifest in [supplied, audited, missing] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &policy);
        }
        let unmarked = missing.replace(['«', '»'], "");
        assert_marked(&RULE, &unmarked, &device("cisco_ios"), &Policy::default());
    }
}
