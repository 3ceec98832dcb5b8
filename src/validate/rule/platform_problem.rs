//! Problems of drivers, reported by the rule of their kind.

use switchtender_devices::driver::ProblemKind;

use super::Rule;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

/// Reports the problems of one kind.
pub(crate) fn report(
    context: &RuleContext<'_>,
    findings: &mut RuleFindings,
    rule: &'static Rule,
    kind: ProblemKind,
) {
    for (index, resource, typed) in context.typed() {
        for problem in typed.problems.iter().filter(|problem| problem.kind == kind) {
            let (reference, attribute) = (&resource.reference, &problem.attribute);
            let message = format!("{reference}: {attribute}: {}", problem.message);
            findings.push(
                RuleFinding::new(rule, Location::parameter(index, attribute), message)
                    .severity(problem.severity)
                    .help_if(problem.help.clone()),
            );
        }
    }
}
