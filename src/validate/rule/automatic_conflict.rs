//! A relation that contradicts an automatic relation.

use super::cycle::automatic;
use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "automatic-conflict",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "a relation that contradicts an automatic relation",
    explanation: "\
Types order their resources by the values of attributes: the members of a pool come before the pool. A
relation in the manifest overrides that order. The device may then get a reference to an object that does
not exist yet.",
    bad: "
f5_partition { 'shop':
  ensure  => 'present',
  require => «F5_node['/shop/web1']»,
}
f5_node { '/shop/web1':
  ensure  => 'present',
  address => '198.51.100.11',
}
",
    good: "
f5_partition { 'shop':
  ensure => 'present',
}
f5_node { '/shop/web1':
  ensure  => 'present',
  address => '198.51.100.11',
}
",
    example: Example::Device("f5_bigip"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for conflict in &context.order().conflicts {
        let reference = |index: usize| &context.catalog.resources[index].reference;
        let declared = &context.relations[conflict.declared];
        let (of, other) = (reference(conflict.of), reference(conflict.other));
        let order = if conflict.after { "after" } else { "before" };
        let part = FindingPart::Element(declared.kind.name().to_owned(), declared.inside.clone());
        findings.push(
            RuleFinding::new(
                &RULE,
                Location::Resource(declared.from, part),
                format!("{of} must come {order} {other}, but this relation reverses the order"),
            )
            .help(format!(
                "remove the relation: {} of {} sets the order",
                automatic(conflict.kind),
                of.type_name()
            )),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn automatic_conflict_reverses_the_order_of_removals() {
        let removed = "
            f5_partition { 'shop': ensure => 'absent', require => F5_node['/shop/web1'] }
            f5_node { '/shop/web1': ensure => 'absent' }";
        let wrong = "
            f5_partition { 'shop': ensure => 'absent' }
            f5_node { '/shop/web1': ensure => 'absent', require => «F5_partition['shop']» }";
        for manifest in [removed, wrong] {
            assert_marked(&RULE, manifest, &device("f5_bigip"), &Policy::default());
        }
    }
}
