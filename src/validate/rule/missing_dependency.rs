//! A relation with a resource that is not in the catalog.

use switchtender_devices::diagnostic::nearest;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::relation::Other;
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "missing-dependency",
    severity: Severity::Error,
    summary: "a relation with a resource that is not in the catalog",
    explanation: "\
Puppet refuses to apply such a catalog: `Could not find dependency T for REF`. References are found
by title, by the value of the namevar and by `alias`; titles are compared letter by letter.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for relation in &subject.relations {
        let Other::Missing(reference) = &relation.other else {
            continue;
        };
        let from = &subject.catalog.resources[relation.from].reference;
        let titles = subject.names.titles_of(reference.type_name());
        let near = nearest(reference.title(), titles)
            .map(|title| format!("did you mean {}[{title}]?", reference.type_name()));
        let part = Part::Inside(relation.kind.name().to_owned(), relation.inside.clone());
        findings.push(
            Finding::new(
                &RULE,
                At::Resource(relation.from, part),
                format!(
                    "{from} {} {reference}, which is not in the catalog",
                    relation.kind.verb()
                ),
            )
            .help_if(near),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn resources_are_found_by_title_alias_and_name() {
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
}
