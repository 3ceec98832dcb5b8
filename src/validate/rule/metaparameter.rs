//! A metaparameter with an invalid value.

use switchtender_devices::model::view::METAPARAMETERS;

use super::{Effects, Example, Rule, RuleCheck};
use crate::catalog::read_metaparameters;
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::relation::RelationKind;
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "metaparameter",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a metaparameter with an invalid value",
    explanation: "\
A metaparameter is an attribute that resources of all types can have: it orders them, or changes how they are
applied. `noop` is true or false, `loglevel` is a log level, `tag` is a word, and `audit` names attributes of the
type. Puppet refuses a catalog with other values before it applies the first resource.",
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
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource) in context.resources() {
        let model = context.destinations[index].model();
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
            let at = Location::parameter(index, bad.name);
            findings.push(RuleFinding::new(&RULE, at, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn metaparameter_includes_host_resources() {
        let manifest = "
            file { '/x': loglevel => «'loud'» }
            network_vlan { '40': tag => «'not a tag'» }
            network_vlan { '41': audit => «'vlan_nmae'» }
            network_vlan { '42': audit => 'all', loglevel => 'warning', tag => ['a', 'b'] }";
        assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
    }
}
