//! A schedule that is not in the catalog.

use super::{Effects, Example, Rule, RuleCheck};
use crate::catalog::ResourceRef;
use crate::diagnostic::{Severity, did_you_mean};
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "unknown-schedule",
    severity: Severity::Error,
    effects: Effects::WARN_OF_FAILURE,
    summary: "a schedule that is not in the catalog",
    explanation: "\
Puppet aborts the run at such a resource with `Could not find schedule NAME`. Here the resource fails and
its dependents are skipped. The schedules puppet, hourly, daily, weekly, monthly and never always exist.",
    bad: "
network_vlan { '40':
  schedule => «'maintenence'»,
}
schedule { 'maintenance':
  range => '02:00 - 04:00',
}
",
    good: "
network_vlan { '40':
  schedule => 'maintenance',
}
schedule { 'maintenance':
  range => '02:00 - 04:00',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

const ALWAYS: [&str; 6] = ["puppet", "hourly", "daily", "weekly", "monthly", "never"];

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource) in context.resources() {
        let name = resource.parameters.get("schedule");
        let Some(name) = name.and_then(|value| value.as_str()) else {
            continue;
        };
        let is_known = ALWAYS.contains(&name)
            || context.index.find(&ResourceRef::new("Schedule", name)).is_some();
        if context.is_applied(index) && !is_known {
            let titles = context.index.titles_of("Schedule").chain(ALWAYS);
            findings.push(
                RuleFinding::new(
                    &RULE,
                    Location::parameter(index, "schedule"),
                    format!("{}: unknown schedule `{name}`", resource.reference),
                )
                .help_if(did_you_mean(name, titles)),
            );
        }
    }
}
