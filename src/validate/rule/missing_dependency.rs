//! A relation with a resource that is not in the catalog.

use switchtender_devices::diagnostic::nearest;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::relation::RelationTarget;
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "missing-dependency",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a relation with a resource that is not in the catalog",
    explanation: "\
Puppet refuses such a catalog with `Could not find dependency T for REF`. A reference can name the title,
the value of the namevar or an alias. Titles are compared exactly.",
    bad: "
network_vlan { '40': }
network_interface { 'GigabitEthernet1/0/9':
  enable  => true,
  require => «Network_vlan['41']»,
}
",
    good: "
network_vlan { '40': }
network_interface { 'GigabitEthernet1/0/9':
  enable  => true,
  require => Network_vlan['40'],
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for relation in &context.relations {
        let RelationTarget::Missing(reference) = &relation.target else {
            continue;
        };
        let from = &context.catalog.resources[relation.from].reference;
        // The resource does not need itself.
        let is_other = |title: &&str| {
            *title != from.title() || reference.type_name() != from.type_name()
        };
        let titles = context.index.titles_of(reference.type_name());
        let titles = titles.filter(is_other);
        let near = nearest(reference.title(), titles)
            .map(|title| format!("did you mean {}[{title}]?", reference.type_name()));
        let role = if relation.kind.is_reverse() { "dependency" } else { "dependent" };
        let part = FindingPart::Element(relation.kind.name().to_owned(), relation.inside.clone());
        findings.push(
            RuleFinding::new(
                &RULE,
                Location::Resource(relation.from, part),
                format!("Could not find {role} {reference} for {from}"),
            )
            .help_if(near),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device, findings};

    #[test]
    fn missing_dependency_finds_titles_aliases_and_names() {
        let manifest = "
            network_vlan { '40': alias => 'printers' }
            network_interface { 'uplink': name => 'GigabitEthernet1/0/1', enable => true }
            class time { }
            network_vlan { '41': require => [
              Network_vlan['40'], Network_vlan['printers'], Class['Time'],
              Network_interface['uplink'], Network_interface['GigabitEthernet1/0/1'],
              «Network_vlan['printer']», «Class['Tyme']»,
            ] }";
        assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
    }

    #[test]
    fn missing_dependency_suggests_other_resources_only() {
        let one = "network_vlan { '41': require => Network_vlan['43'] }";
        let two = format!("{one} network_vlan {{ '42': }}");
        for (manifest, help) in [
            (one, None),
            (two.as_str(), Some("did you mean Network_vlan[42]?")),
        ] {
            let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
            let found = found.iter().find(|found| found.code == RULE.code).unwrap();
            assert_eq!(found.help.as_deref(), help);
        }
    }
}
