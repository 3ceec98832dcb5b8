//! `resources` that removes all instances of a type.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "undeclared-purge",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a purge of a type that the catalog does not declare",
    explanation: "\
`resources` with `purge => true` removes the instances that the catalog does not declare. If it declares none,
all instances of the type are removed, except built-in ones and those that the session uses. Often a class is
missing. `apply` and `plan` permit it with `--allow purge`.",
    bad: "
resources { «'ntp_server'»:
  purge => true,
}
",
    good: "
ntp_server { '192.0.2.1':
  ensure => 'present',
}
resources { 'ntp_server':
  purge => true,
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    if context.policy.allows_purge || !context.for_device() {
        return;
    }
    for (index, resource) in context.resources() {
        let name = resource.reference.title().to_lowercase();
        let purge = resource.parameters.get("purge").map(|purge| purge.ruby_to_s());
        let is_purging = resource.reference.model_name() == "resources"
            && matches!(purge.as_deref(), Some("true" | "yes"));
        if !is_purging || context.registry.model(&name).is_none() {
            continue;
        }
        let mut others = context.resources();
        if others.any(|(_, other)| other.reference.model_name() == name) {
            continue;
        }
        let message = format!("all instances of {name} would be removed: the catalog declares none");
        findings.push(
            RuleFinding::new(&RULE, Location::title(index), message)
                .help("declare the instances, or use `--allow purge`"),
        );
    }
}
