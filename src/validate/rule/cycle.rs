//! A dependency cycle.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use switchtender_devices::model::AutoKind;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::order::{OrderCycle, OrderReason};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "cycle",
    severity: Severity::Error,
    effects: Effects::REFUSE_CYCLE,
    summary: "a dependency cycle",
    explanation: "\
Each resource must be applied before the next, and the last before the first, so there is no possible
order. Puppet refuses the catalog (`Found 1 dependency cycle`). Containers are part of cycles: a resource
that requires a class waits for all resources in it. The shortest cycle is shown.",
    bad: "
network_vlan { '40':
  require => «Network_vlan['41']»,
}
network_vlan { '41':
  require => Network_vlan['40'],
}
",
    good: "
network_vlan { '40':
  require => Network_vlan['41'],
}
network_vlan { '41': }
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

/// Maximum number of relations in a finding.
const MAX_STEPS: usize = 20;

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for cycle in context.order().cycles() {
        // In the order of the catalog.
        let declared: BTreeSet<usize> = cycle
            .iter()
            .filter_map(|(_, why)| match why {
                OrderReason::Declared(number) => Some(*number),
                _ => None,
            })
            .collect();
        let mut locations = declared.into_iter().map(|number| {
            let relation = &context.relations[number];
            let name = relation.kind.name();
            let part = FindingPart::Element(name.to_owned(), relation.inside.clone());
            (Location::Resource(relation.from, part), name.to_owned())
        });
        let (at, label) = match locations.next() {
            Some(first) => first,
            None => (Location::title(cycle[0].0), String::new()),
        };
        let names: Vec<String> = steps(context, &cycle)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let mut finding = RuleFinding::new(
            &RULE,
            at,
            format!("Found 1 dependency cycle: ({})", render_list(&names)),
        )
        .label(label)
        .help(render_cycle(context, &cycle));
        for (at, text) in locations.take(MAX_STEPS) {
            finding = finding.also(at, text);
        }
        findings.push(finding);
    }
}

/// The members of the cycle, each with the reason why it comes before the next. The two vertices of
/// a container are one member.
fn steps(context: &RuleContext<'_>, cycle: &OrderCycle) -> Vec<(String, String)> {
    let mut steps: Vec<(usize, String)> = Vec::new();
    for (index, why) in cycle {
        let reference = |index: usize| context.catalog.resources[index].reference.to_string();
        let why = match why {
            OrderReason::Declared(number) => {
                let relation = &context.relations[*number];
                format!("`{}` of {}", relation.kind.name(), reference(relation.from))
            }
            OrderReason::Contains => "containment".to_owned(),
            OrderReason::Automatic { of, kind } => format!("{} of {}", automatic(*kind), reference(*of)),
        };
        match steps.last_mut() {
            Some((last, reason)) if last == index => *reason = why,
            _ => steps.push((*index, why)),
        }
    }
    steps
        .into_iter()
        .map(|(index, why)| {
            let name = context.catalog.resources[index].reference.to_string();
            (name, why)
        })
        .collect()
}

fn render_cycle(context: &RuleContext<'_>, cycle: &OrderCycle) -> String {
    let steps = steps(context, cycle);
    let mut text = String::from("remove one of these relations:");
    for (at, (name, why)) in steps.iter().enumerate().take(MAX_STEPS) {
        let (next, _) = &steps[(at + 1) % steps.len()];
        let line = match (at, at + 1 == steps.len()) {
            (0, true) => "↺",
            (0, false) => "┌▶",
            (_, false) => "│ ",
            (_, true) => "└─",
        };
        let _ = write!(text, "\n{line} {name} before {next}: {why}");
    }
    if steps.len() > MAX_STEPS {
        let _ = write!(text, "\n└─ … {} more", steps.len() - MAX_STEPS);
    }
    text
}

/// The name of an automatic relation in types.
pub(crate) fn automatic(kind: AutoKind) -> &'static str {
    match kind {
        AutoKind::Require => "autorequire",
        AutoKind::Subscribe => "autosubscribe",
        AutoKind::Before => "autobefore",
        AutoKind::Notify => "autonotify",
    }
}

/// The members up to the first one again. A long list is shortened.
fn render_list(names: &[String]) -> String {
    const MAX_NAMES: usize = 6;
    let mut listed: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
    let more = format!("… {} more", names.len().saturating_sub(MAX_NAMES));
    if names.len() > MAX_NAMES {
        listed.push(&more);
    }
    listed.extend(names.first().map(String::as_str));
    listed.join(" => ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device, findings};

    #[test]
    fn cycle_includes_containers_and_automatic_relations() {
        let through_a_class = "
            class a { network_vlan { '40': require => «Class['B']» } }
            class b { network_vlan { '41': require => Network_vlan['40'] } }";
        let itself = "network_vlan { '40': require => «Network_vlan['40']» }";
        let chain = "
            network_vlan { '40': before => Network_vlan['41'] }
            network_vlan { '41': before => Network_vlan['42'] }
            network_vlan { '42': }";
        // The node requires its partition automatically.
        let automatic = "
            f5_partition { 'shop': require => «F5_irule['/Common/x']» }
            f5_irule { '/Common/x': require => F5_node['/shop/web1'] }
            f5_node { '/shop/web1': address => '198.51.100.11' }";
        for (manifest, platform) in [
            (through_a_class, "cisco_ios"),
            (itself, "cisco_ios"),
            (chain, "cisco_ios"),
            (automatic, "f5_bigip"),
        ] {
            assert_marked(&RULE, manifest, &device(platform), &Policy::default());
        }
    }

    #[test]
    fn cycle_renders_the_shortest_one() {
        let manifest = "
            network_vlan { '1': before => [Network_vlan['2'], Network_vlan['3']] }
            network_vlan { '2': before => Network_vlan['3'] }
            network_vlan { '3': before => Network_vlan['1'] }";
        let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
        let cycles: Vec<_> = found.iter().filter(|found| found.code == RULE.code).collect();
        assert_eq!(cycles.len(), 1);
        assert_eq!(
            cycles[0].message,
            "Found 1 dependency cycle: (Network_vlan[1] => Network_vlan[3] => Network_vlan[1])"
        );
        assert_eq!(
            cycles[0].help.as_deref(),
            Some(
                "remove one of these relations:\n\
                 ┌▶ Network_vlan[1] before Network_vlan[3]: `before` of Network_vlan[1]\n\
                 └─ Network_vlan[3] before Network_vlan[1]: `before` of Network_vlan[3]"
            )
        );
    }
}
