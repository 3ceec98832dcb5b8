//! Errors of models, reported by the rule of their kind.

use switchtender_devices::model::canonical::{ValueError, ValueErrorKind};

use super::Rule;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

/// Reports the errors of one kind.
pub(crate) fn report(
    context: &RuleContext<'_>,
    findings: &mut RuleFindings,
    rule: &'static Rule,
    kind: ValueErrorKind,
) {
    for (index, resource, typed) in context.typed() {
        let mut errors: Vec<(Vec<&str>, &ValueError)> = Vec::new();
        for error in typed.errors.iter().filter(|error| error.kind == kind) {
            // A title without names is one error, also for several namevars.
            match errors.last_mut() {
                Some((names, last)) if last.message == error.message && last.help == error.help => {
                    names.push(&error.attribute);
                }
                _ => errors.push((vec![&error.attribute], error)),
            }
        }
        for (names, error) in errors {
            let reference = &resource.reference;
            let message = format!("{reference}: {}: {}", names.join(", "), error.message);
            findings.push(
                RuleFinding::new(rule, Location::parameter(index, &error.attribute), message)
                    .help_if(error.help.clone()),
            );
        }
    }
}
