//! A refresh for a resource that cannot be refreshed.

use switchtender_devices::model::Refresh;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::relation::Other;
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "no-refresh",
    severity: Severity::Note,
    summary: "a refresh for a type that cannot be refreshed",
    explanation: "\
`notify` and `subscribe` order two resources and send a refresh when the first changed. Most types
of devices have nothing to refresh: only the order remains. `before` and `require` say that.",
    bad: "
network_vlan { '40':
  notify => «Syslog_server['192.0.2.20']»,
}
syslog_server { '192.0.2.20': }
",
    good: "
network_vlan { '40':
  before => Syslog_server['192.0.2.20'],
}
syslog_server { '192.0.2.20': }
",
    example: Example::Device("cisco_ios"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for relation in &subject.relations {
        let Other::Found(other) = relation.other else {
            continue;
        };
        if !relation.kind.refreshes() {
            continue;
        }
        let receiver = if relation.kind.other_first() {
            relation.from
        } else {
            other
        };
        let deaf = subject.applied(receiver)
            && subject.typed[receiver]
                .as_ref()
                .is_some_and(|typed| typed.model.refresh == Refresh::No);
        if deaf {
            let reference = &subject.catalog.resources[receiver].reference;
            let order = if relation.kind.other_first() {
                "require"
            } else {
                "before"
            };
            let part = Part::Inside(relation.kind.name().to_owned(), relation.inside.clone());
            findings.push(
                Finding::new(
                    &RULE,
                    At::Resource(relation.from, part),
                    format!("{reference} is sent a refresh and cannot be refreshed"),
                )
                .help(format!("only the order is kept; `{order}` says so")),
            );
        }
    }
}
