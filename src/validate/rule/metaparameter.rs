//! A metaparameter with a value that Puppet refuses.

use super::{Check, Example, Rule};
use crate::catalog::{METAPARAMETERS, read_metaparameters};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::relation::RelationKind;
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "metaparameter",
    severity: Severity::Error,
    summary: "a metaparameter with a value that Puppet refuses",
    explanation: "\
`noop` is true or false, `loglevel` one of the levels, a tag a word, `audit` names attributes of the
type. Anything else fails the whole catalog when it is loaded, before the first resource.",
    bad: "
network_vlan { '40':
  noop => «'maybe'»,
}
",
    good: "
network_vlan { '40':
  noop => true,
}
",
    example: Example::Device("cisco_ios"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, resource) in subject.resources() {
        let model = subject.destinations[index].model();
        let attribute = |name: &str| {
            model.is_none_or(|model| model.attributes.contains_key(name))
                || METAPARAMETERS.contains(&name)
        };
        let Err(bad) = read_metaparameters(&resource.parameters, &resource.reference, attribute)
        else {
            continue;
        };
        // Relations have rules of their own.
        if RelationKind::ALL.iter().all(|kind| kind.name() != bad.name) {
            let message = format!("{}: {}: {}", resource.reference, bad.name, bad.message);
            let at = At::parameter(index, bad.name);
            findings.push(Finding::new(&RULE, at, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn containers_and_hosts_resources_count_too() {
        let manifest = "
            file { '/x': loglevel => «'loud'» }
            network_vlan { '40': tag => «'not a tag'» }
            network_vlan { '41': audit => «'vlan_nmae'» }
            network_vlan { '42': audit => 'all', loglevel => 'warning', tag => ['a', 'b'] }";
        assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
    }
}
