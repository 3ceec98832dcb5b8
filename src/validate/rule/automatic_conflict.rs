//! A stated relation that leads against an automatic one.

use super::cycle::automatic;
use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings, Part};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "automatic-conflict",
    severity: Severity::Warning,
    summary: "a relation against the order that the type asks for",
    explanation: "\
The type orders itself against what its values name: a pool's members come before the pool. Stating
the opposite wins, without a word, and the device is asked for something that is not there yet.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for conflict in &subject.order().conflicts {
        let reference = |index: usize| &subject.catalog.resources[index].reference;
        let stated = &subject.relations[conflict.stated];
        let (of, other) = (reference(conflict.of), reference(conflict.other));
        let order = if conflict.after { "after" } else { "before" };
        let part = Part::Inside(stated.kind.name().to_owned(), stated.inside.clone());
        findings.push(
            Finding::new(
                &RULE,
                At::Resource(stated.from, part),
                format!("{of} belongs {order} {other}, and this says the opposite"),
            )
            .help(format!(
                "drop it: {} of {} sees to the right order",
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
    fn what_goes_away_goes_in_the_opposite_order() {
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
