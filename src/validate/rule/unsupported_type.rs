//! A type that the platform does not support.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "unsupported-type",
    severity: Severity::Error,
    effects: Effects::WARN_OF_FAILURE,
    summary: "a type that the platform does not support",
    explanation: "\
The type has a model, but no driver for this platform or for this model of device (with `--facts`). An
example is a load balancer pool in the catalog of a switch. The resource fails and its dependents are
skipped.",
    bad: "
«f5_pool» { '/Common/web':
  ensure => 'present',
}
",
    good: "
network_vlan { '40':
  ensure => 'present',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let Some(driver) = context.driver() else {
        return;
    };
    for (index, resource, typed) in context.typed() {
        if let Err(why) = driver.supports(&typed.model) {
            findings.push(RuleFinding::new(
                &RULE,
                Location::Resource(index, FindingPart::Type),
                format!("{}: {why}", resource.reference),
            ));
        }
    }
}
