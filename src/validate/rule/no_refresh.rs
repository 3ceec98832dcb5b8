//! A refresh of a type that has no refresh.

use switchtender_devices::model::Refresh;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::relation::RelationTarget;
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "no-refresh",
    severity: Severity::Note,
    effects: Effects::REFUSE_DEVICE,
    summary: "a refresh of a type that has no refresh",
    explanation: "\
`notify` and `subscribe` set an order and send a refresh after a change. Most device types ignore a
refresh, so only the order remains. Use `before` or `require` for an order.",
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
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for relation in &context.relations {
        let RelationTarget::Found(other) = relation.target else {
            continue;
        };
        if !relation.kind.has_refresh() {
            continue;
        }
        let receiver = if relation.kind.is_reverse() {
            relation.from
        } else {
            other
        };
        let deaf = context.is_applied(receiver)
            && context.typed[receiver]
                .as_ref()
                .is_some_and(|typed| {
                    let driver = context.driver();
                    typed.model.refresh == Refresh::No
                        || driver.is_some_and(|driver| !driver.has_refresh(&typed.model))
                });
        if deaf {
            let reference = &context.catalog.resources[receiver].reference;
            let order = if relation.kind.is_reverse() {
                "require"
            } else {
                "before"
            };
            let part = FindingPart::Element(relation.kind.name().to_owned(), relation.inside.clone());
            findings.push(
                RuleFinding::new(
                    &RULE,
                    Location::Resource(relation.from, part),
                    format!("{reference} has no refresh: the relation only sets the order"),
                )
                .help(format!("use `{order}`")),
            );
        }
    }
}
