//! What a platform says against a resource, told by the rule that documents that kind of problem.

use switchtender_devices::driver::ProblemKind;

use super::Rule;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

/// Reports the problems of one kind.
pub fn report(
    subject: &Subject<'_>,
    findings: &mut Findings,
    rule: &'static Rule,
    kind: ProblemKind,
) {
    for (index, resource, typed) in subject.typed() {
        for problem in typed.problems.iter().filter(|problem| problem.kind == kind) {
            let (reference, attribute) = (&resource.reference, &problem.attribute);
            let message = format!("{reference}: {attribute}: {}", problem.message);
            findings.push(
                Finding::new(rule, At::parameter(index, attribute), message)
                    .severity(problem.severity)
                    .help_if(problem.help.clone()),
            );
        }
    }
}
