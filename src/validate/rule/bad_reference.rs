//! A relation whose value is not a reference.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::relation::RelationTarget;
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "bad-reference",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a relation whose value is not a reference",
    explanation: "\
`before`, `require`, `notify` and `subscribe` require references, `Type['title']`. Puppet refuses a catalog
with any other value.",
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
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for relation in &context.relations {
        if relation.target != RelationTarget::Invalid {
            continue;
        }
        let from = &context.catalog.resources[relation.from].reference;
        let name = relation.kind.name();
        let part = FindingPart::Element(name.to_owned(), relation.inside.clone());
        findings.push(
            RuleFinding::new(
                &RULE,
                Location::Resource(relation.from, part),
                format!("{from}: `{}` in `{name}` is not a reference", relation.text),
            )
            .help("write Type['title']"),
        );
    }
}
