//! A relation whose text is no reference.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::relation::Other;
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "bad-reference",
    severity: Severity::Error,
    summary: "a relation whose value is no reference",
    explanation: "\
`before`, `require`, `notify` and `subscribe` hold references, `Type['title']`. A quoted text that
only looks like one, or a bare title, is refused when the catalog is loaded.",
    bad: "
network_vlan { '40': }
network_interface { 'GigabitEthernet1/0/9':
  enable  => true,
  require => «'vlan 40'»,
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
        if relation.other != Other::NoReference {
            continue;
        }
        let from = &subject.catalog.resources[relation.from].reference;
        let name = relation.kind.name();
        let part = Part::Inside(name.to_owned(), relation.inside.clone());
        findings.push(
            Finding::new(
                &RULE,
                At::Resource(relation.from, part),
                format!("{from}: `{}` of {name} is no reference", relation.text),
            )
            .help("write it as Type['title']"),
        );
    }
}
