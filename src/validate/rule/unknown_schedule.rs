//! A schedule that is not in the catalog.

use super::{Check, Example, Rule};
use crate::catalog::ResourceRef;
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "unknown-schedule",
    severity: Severity::Error,
    summary: "a schedule that is not in the catalog",
    explanation: "\
When Puppet comes to such a resource the whole run ends with `Could not find schedule NAME`. The
schedules puppet, hourly, daily, weekly, monthly and never are always there.",
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
    check: Check::Catalog(check),
};

const ALWAYS: [&str; 6] = ["puppet", "hourly", "daily", "weekly", "monthly", "never"];

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, resource) in subject.resources() {
        let name = resource.parameters.get("schedule");
        let Some(name) = name.and_then(|value| value.as_str()) else {
            continue;
        };
        let known = ALWAYS.contains(&name)
            || subject.names.find(&ResourceRef::new("Schedule", name)).is_some();
        if subject.applied(index) && !known {
            let titles = subject.names.titles_of("Schedule").chain(ALWAYS);
            let near = switchtender_devices::diagnostic::nearest(name, titles);
            findings.push(
                Finding::new(
                    &RULE,
                    At::parameter(index, "schedule"),
                    format!("{}: there is no schedule `{name}`", resource.reference),
                )
                .help_if(near.map(|near| format!("did you mean `{near}`?"))),
            );
        }
    }
}
