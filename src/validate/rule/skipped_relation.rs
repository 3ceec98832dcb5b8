//! A relation with a resource that is skipped.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::route::HostResourcePolicy;
use crate::validate::finding::{Location, RuleFinding, RuleFindings, FindingPart};
use crate::validate::relation::RelationTarget;
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "skipped-relation",
    severity: Severity::Warning,
    effects: Effects::ERRORS_ONLY,
    summary: "a relation with a resource that is skipped",
    explanation: "\
One of the two resources is skipped, so the relation has no effect. The other resource is applied
without waiting, and no refresh is sent. Remove the relation, or declare both resources for the same
node.",
    bad: "
package { 'ntp':
  ensure => 'installed',
}
ntp_server { '192.0.2.10':
  ensure  => 'present',
  require => «Package['ntp']»,
}
",
    good: "
ntp_server { '192.0.2.10':
  ensure => 'present',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    if context.policy.host_resources == HostResourcePolicy::Silent {
        return;
    }
    for relation in &context.relations {
        let RelationTarget::Found(other) = relation.target else {
            continue;
        };
        let (from, kind) = (relation.from, relation.kind);
        // One of the two is applied and the other is skipped.
        let skipped = match (context.is_skipped(from), context.is_skipped(other)) {
            (false, true) if context.is_applied(from) => other,
            (true, false) if context.is_applied(other) => from,
            _ => continue,
        };
        let reference = |index: usize| &context.catalog.resources[index].reference;
        let effect = match (kind.has_refresh(), kind.is_reverse() == (skipped == other)) {
            (true, true) => "no refresh is sent",
            (true, false) => "the refresh has no effect",
            (false, _) => "the order has no effect",
        };
        let message = format!(
            "{} {} {}, but {} is skipped: {effect}",
            reference(from),
            kind.verb(),
            reference(other),
            reference(skipped),
        );
        let part = FindingPart::Element(kind.name().to_owned(), relation.inside.clone());
        findings.push(
            RuleFinding::new(&RULE, Location::Resource(from, part), message)
                .also(Location::title(skipped), "skipped")
                .help("remove the relation, or declare both for the same node"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device, findings};

    #[test]
    fn skipped_relation_names_the_effect() {
        let cases = [
            ("require => File['/x']", "the order has no effect"),
            ("before => File['/x']", "the order has no effect"),
            ("subscribe => File['/x']", "no refresh is sent"),
            ("notify => File['/x']", "the refresh has no effect"),
        ];
        for (relation, effect) in cases {
            let manifest = format!("file {{ '/x': }} network_vlan {{ '40': {relation} }}");
            let (_, found) = findings(&manifest, &device("cisco_ios"), &Policy::default());
            let finding = found.iter().find(|found| found.code == RULE.code);
            let finding = finding.unwrap_or_else(|| panic!("{relation}: nothing found"));
            assert!(finding.message.ends_with(effect), "{relation}: {}", finding.message);
        }
    }

    #[test]
    fn skipped_relation_applies_to_hosts_and_lists() {
        let policy = Policy::default();
        let host = crate::validate::CatalogTarget::Host;
        let relation = "file { '/x': require => «Network_vlan['40']» } network_vlan { '40': }";
        assert_marked(&RULE, relation, &host, &policy);
        let of_one_side = "
            network_vlan { '40': require => Network_vlan['41'] }
            network_vlan { '41': require => Class['A'] }
            file { '/x': require => File['/y'] }
            file { '/y': }
            class a { }";
        assert_marked(&RULE, of_one_side, &device("cisco_ios"), &policy);
        let in_a_list = "
            file { '/x': }
            network_vlan { '40': }
            network_vlan { '41': require => [Network_vlan['40'], «File['/x']»] }";
        assert_marked(&RULE, in_a_list, &device("cisco_ios"), &policy);
    }
}
