//! Resources that wait for each other.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use switchtender_devices::model::AutoKind;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::order::{Cycle, Why};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "cycle",
    severity: Severity::Error,
    summary: "resources that wait for each other",
    explanation: "\
Each of the resources must come before the next, and the last before the first: there is no order in
which they can be applied, and Puppet refuses the catalog (`Found 1 dependency cycle`). Containers
take part: what requires a class waits for all that is in it. Of several ways round, the shortest is
shown.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for cycle in subject.order().cycles() {
        // In the order of the catalog, which is how one reads it.
        let stated: BTreeSet<usize> = cycle
            .iter()
            .filter_map(|(_, why)| match why {
                Why::Stated(number) => Some(*number),
                _ => None,
            })
            .collect();
        let mut places = stated.into_iter().map(|number| {
            let relation = &subject.relations[number];
            let name = relation.kind.name();
            let part = Part::Inside(name.to_owned(), relation.inside.clone());
            (At::Resource(relation.from, part), name.to_owned())
        });
        let (at, beside) = match places.next() {
            Some(first) => first,
            None => (At::title(cycle[0].0), String::new()),
        };
        let names: Vec<String> = steps(subject, &cycle)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let mut finding = Finding::new(
            &RULE,
            at,
            format!("{} wait for each other", listed(&names)),
        )
        .beside(beside)
        .help(drawn(subject, &cycle));
        for (at, text) in places {
            finding = finding.also(at, text);
        }
        findings.push(finding);
    }
}

/// The members of the cycle, each with why it comes before the next. Two markers of one container
/// after each other are one member.
fn steps(subject: &Subject<'_>, cycle: &Cycle) -> Vec<(String, String)> {
    let mut steps: Vec<(usize, String)> = Vec::new();
    for (index, why) in cycle {
        let reference = |index: usize| subject.catalog.resources[index].reference.to_string();
        let why = match why {
            Why::Stated(number) => {
                let relation = &subject.relations[*number];
                format!("`{}` of {}", relation.kind.name(), reference(relation.from))
            }
            Why::Contains => "containment".to_owned(),
            Why::Automatic { of, kind } => format!("{} of {}", automatic(*kind), reference(*of)),
        };
        match steps.last_mut() {
            Some((last, reason)) if last == index => *reason = why,
            _ => steps.push((*index, why)),
        }
    }
    steps
        .into_iter()
        .map(|(index, why)| {
            let name = subject.catalog.resources[index].reference.to_string();
            (name, why)
        })
        .collect()
}

fn drawn(subject: &Subject<'_>, cycle: &Cycle) -> String {
    let steps = steps(subject, cycle);
    let mut text = String::from("one of these must go:");
    for (at, (name, why)) in steps.iter().enumerate() {
        let (next, _) = &steps[(at + 1) % steps.len()];
        let line = match (at, at + 1 == steps.len()) {
            (0, true) => "↺",
            (0, false) => "┌▶",
            (_, false) => "│ ",
            (_, true) => "└─",
        };
        let _ = write!(text, "\n{line} {name} before {next}: {why}");
    }
    text
}

/// The automatic relation as types name it.
pub fn automatic(kind: AutoKind) -> &'static str {
    match kind {
        AutoKind::Require => "autorequire",
        AutoKind::Subscribe => "autosubscribe",
        AutoKind::Before => "autobefore",
        AutoKind::Notify => "autonotify",
    }
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = format!("{} more", names.len().saturating_sub(SHOWN));
    if names.len() > SHOWN {
        shown.push(&more);
    }
    match shown.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => format!("{last} and itself"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device, findings};

    #[test]
    fn containers_and_automatic_relations_take_part() {
        let through_a_class = "
            class a { network_vlan { '40': require => «Class['B']» } }
            class b { network_vlan { '41': require => Network_vlan['40'] } }";
        let itself = "network_vlan { '40': require => «Network_vlan['40']» }";
        let chain = "
            network_vlan { '40': before => Network_vlan['41'] }
            network_vlan { '41': before => Network_vlan['42'] }
            network_vlan { '42': }";
        // The node requires its partition by itself; the detour leads back.
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
    fn the_shortest_way_round_is_drawn() {
        let manifest = "
            network_vlan { '1': before => [Network_vlan['2'], Network_vlan['3']] }
            network_vlan { '2': before => Network_vlan['3'] }
            network_vlan { '3': before => Network_vlan['1'] }";
        let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
        let cycles: Vec<_> = found.iter().filter(|found| found.code == RULE.code).collect();
        assert_eq!(cycles.len(), 1);
        assert_eq!(
            cycles[0].message,
            "Network_vlan[1] and Network_vlan[3] wait for each other"
        );
        assert_eq!(
            cycles[0].help.as_deref(),
            Some(
                "one of these must go:\n\
                 ┌▶ Network_vlan[1] before Network_vlan[3]: `before` of Network_vlan[1]\n\
                 └─ Network_vlan[3] before Network_vlan[1]: `before` of Network_vlan[3]"
            )
        );
    }
}
