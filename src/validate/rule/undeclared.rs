//! A reference to an object that is not declared.

use std::collections::{BTreeMap, BTreeSet};

use switchtender_devices::change::Desired;
use switchtender_devices::driver::ProblemKind;
use switchtender_devices::model::Reference;
use switchtender_devices::names::TypeName;

use super::{Effects, Example, Rule, RuleCheck};
use crate::catalog::ResourceRef;
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "undeclared",
    severity: Severity::Warning,
    effects: Effects::ERRORS_ONLY,
    summary: "a reference to an object that is not declared",
    explanation: "\
The value names another object, such as an access list, a VLAN or a pool. The catalog removes the object, or
neither the catalog nor the running configuration (`--running`) has it: the device rejects the value, or the
setting has no effect. Without `--running`, only removed objects are reported, because the device may have the
others. `plan` checks the device. Each object is reported once, at the first resource that names it. Single
numbers in the VLAN list of a trunk are notes, because a trunk may allow more VLANs than the switch has.
Ranges, built-in objects, and objects of types that were not read are not reported.",
    bad: "
f5_virtualserver { '/Common/web':
  ensure              => 'present',
  provider            => 'standard',
  protocol            => 'tcp',
  destination_address => '203.0.113.80',
  service_port        => '443',
  default_pool        => «'/shop/web'»,
}
",
    good: "
f5_partition { 'shop':
  ensure => 'present',
}
f5_pool { '/shop/web':
  ensure => 'present',
}
f5_virtualserver { '/Common/web':
  ensure              => 'present',
  provider            => 'standard',
  protocol            => 'tcp',
  destination_address => '203.0.113.80',
  service_port        => '443',
  default_pool        => '/shop/web',
}
",
    example: Example::EmptyDevice("f5_bigip"),
    check: RuleCheck::Catalog(check),
};

/// A reference of a resource.
struct ObjectReference<'a> {
    index: usize,
    attribute: String,
    severity: Severity,
    desired: &'a Desired,
}

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    if !context.for_device() {
        return;
    }
    let mut missing: BTreeMap<ResourceRef, Vec<ObjectReference<'_>>> = BTreeMap::new();
    for (index, _, typed) in context.typed() {
        let Some(desired) = typed.desired.as_ref().filter(|desired| !desired.is_absent()) else {
            continue;
        };
        let references: Vec<_> = desired.model.references().collect();
        for (number, reference) in references.iter().enumerate() {
            let left_out = typed.problems.iter().any(|problem| {
                problem.kind == ProblemKind::Unsupported && problem.attribute == reference.attribute
            });
            // The value may name an object of one of several types. The first stands for all.
            let is_same = |other: &&&Reference| other.is_same_value(reference);
            let is_repeated = references[..number].iter().any(|other| is_same(&other));
            if left_out || is_repeated || !desired.model.needs_object(reference) {
                continue;
            }
            let types = references.iter().filter(is_same);
            let types: Vec<&TypeName> = types.map(|one| &one.target).collect();
            for name in desired.model.referenced_names(reference, &desired.attributes) {
                let Some(target) = missing_object(context, &types, &name) else {
                    continue;
                };
                let severity = if reference.is_numbers() { Severity::Note } else { RULE.severity };
                let of_object = missing.entry(ResourceRef::new(target, &name)).or_default();
                of_object.push(ObjectReference {
                    index,
                    attribute: reference.attribute.to_string(),
                    severity,
                    desired,
                });
            }
        }
    }
    for (other, references) in missing {
        findings.push(finding(context, &other, &references));
    }
}

/// The type of which an object is missing. `None`: it exists as an object of one of the types, or
/// that is unknown.
fn missing_object<'a>(
    context: &RuleContext<'_>,
    types: &[&'a TypeName],
    name: &str,
) -> Option<&'a TypeName> {
    let mut missing = None;
    let mut removed = None;
    for target in types {
        let Some(model) = context.registry.model(target) else {
            continue;
        };
        let is_supported = context.driver().is_none_or(|driver| driver.supports(model).is_ok());
        // Types without `ensure`, such as interfaces, cannot be declared.
        if !model.is_ensurable() || !is_supported {
            continue;
        }
        if model.exists_undeclared(name) {
            return None;
        }
        let declared = context.index.of_object(&ResourceRef::new(target, name));
        let created = |index: &usize| is_created(context, *index) && !context.is_removed(*index);
        if declared.iter().any(created) {
            return None;
        }
        if declared.iter().any(|index| context.is_removed(*index)) {
            removed.get_or_insert(*target);
            continue;
        }
        match context.has_running(target, name) {
            Some(true) => return None,
            Some(false) => {
                missing.get_or_insert(*target);
            }
            None => {}
        }
    }
    removed.or(missing)
}

fn finding(context: &RuleContext<'_>, other: &ResourceRef, references: &[ObjectReference<'_>]) -> RuleFinding {
    let worst = references.iter().map(|reference| reference.severity).max();
    let first = references
        .iter()
        .find(|reference| Some(reference.severity) == worst)
        .expect("what is missing is named somewhere");
    let declared = context.index.of_object(other);
    let (state, help) = if declared.iter().any(|index| context.is_removed(*index)) {
        ("the catalog removes", "keep it, or refer to another one".to_owned())
    } else if declared.is_empty() {
        let help = format!("declare {other}, or correct the name");
        ("is not declared, and the device does not have it", help)
    } else {
        let help = "set `ensure` to present".to_owned();
        ("has no `ensure` and is not created", help)
    };
    let mut message = format!(
        "{}: `{}` refers to {other}, which {state}",
        first.desired.reference, first.attribute
    );
    let others: BTreeSet<usize> = references.iter().map(|reference| reference.index).collect();
    match others.len() - 1 {
        0 => {}
        1 => message.push_str("; so does one other resource"),
        more => message.push_str(&format!("; so do {more} other resources")),
    }
    RuleFinding::new(&RULE, Location::parameter(first.index, &first.attribute), message)
        .severity(first.severity)
        .help(help)
}

/// Whether a resource creates its object: without `ensure`, it only changes one that exists.
fn is_created(context: &RuleContext<'_>, index: usize) -> bool {
    let typed = context.typed[index].as_ref();
    let desired = typed.and_then(|typed| typed.desired.as_ref());
    desired.is_none_or(|desired| desired.attributes.contains_key("ensure"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device, empty_device, findings};

    fn trunk(more: &str) -> String {
        format!("ios_network_trunk {{ 'GigabitEthernet1/0/1': ensure => 'present', {more} }}")
    }

    #[test]
    fn undeclared_checks_references() {
        let pool = "members => «[{ 'name' => '/Common/web1', 'port' => '80' }]»";
        let cases = [
            ("f5_bigip", format!("f5_pool {{ '/Common/web': ensure => 'present', {pool} }}")),
            (
                "f5_bigip",
                "f5_selfip { '/Common/a': address => '198.51.100.1/24', vlan => «'/Common/servers'» }"
                    .to_owned(),
            ),
            (
                "f5_bigip",
                "f5_node { '/Common/a': ensure => 'present', address => '198.51.100.1',
                   health_monitors => «['/Common/htpt']» }"
                    .to_owned(),
            ),
            ("cisco_ios", trunk("access_vlan => «40»")),
            ("cisco_ios", trunk("voice_vlan => «200»")),
            ("cisco_ios", trunk("mode => 'trunk', untagged_vlan => «99»")),
            ("cisco_ios", "ntp_config { 'default': trusted_key => «[5]» }".to_owned()),
        ];
        for (platform, manifest) in cases {
            assert_marked(&RULE, &manifest, &empty_device(platform), &Policy::default());
        }
    }

    #[test]
    fn undeclared_accepts_existing_objects() {
        let cases = [
            ("f5_bigip", "f5_virtualserver { '/Common/web': ensure => 'absent', default_pool => '/shop/web' }".to_owned()),
            (
                "f5_bigip",
                "f5_pool { '/Common/web': ensure => 'present', health_monitors => ['/Common/http'],
                   availability_requirement => 'all',
                   members => [{ 'name' => '/Common/198.51.100.11', 'port' => '80' }] }"
                    .to_owned(),
            ),
            ("f5_bigip", "f5_pool { '/Common/web': ensure => 'present', members => ['none'] }".to_owned()),
            ("cisco_ios", format!("network_vlan {{ '040': }} {}", trunk("access_vlan => 40"))),
            ("cisco_ios", trunk("access_vlan => 1, voice_vlan => 'dot1p'")),
            ("cisco_ios", trunk("access_vlan => false, voice_vlan => false, untagged_vlan => 'unset'")),
            ("cisco_ios", trunk("mode => 'trunk', allowed_vlans => '1-4094'")),
            ("cisco_ios", trunk("mode => 'trunk', allowed_vlans => ['remove', '30']")),
            // The platform ignores them.
            ("cisco_ios", trunk("mode => 'trunk', tagged_vlans => ['30']")),
        ];
        for (platform, manifest) in cases {
            assert_marked(&RULE, &manifest, &empty_device(platform), &Policy::default());
        }
    }

    #[test]
    fn undeclared_reports_each_object_once() {
        let cases = [
            (
                trunk("mode => 'trunk', allowed_vlans => '10,20-29'"),
                vec![(
                    Severity::Note,
                    "Ios_network_trunk[GigabitEthernet1/0/1]: `allowed_vlans` refers to \
                     Network_vlan[10], which is not declared, and the device does not have it",
                )],
            ),
            (
                format!(
                    "{} ios_network_trunk {{ 'GigabitEthernet1/0/2': access_vlan => 10 }}",
                    trunk("mode => 'trunk', allowed_vlans => '10'")
                ),
                vec![(
                    Severity::Warning,
                    "Ios_network_trunk[GigabitEthernet1/0/2]: `access_vlan` refers to Network_vlan[10], \
                     which is not declared, and the device does not have it; so does one other resource",
                )],
            ),
            (
                "f5_monitor { '/Common/check': provider => 'http' }
                 f5_pool { '/Common/web': ensure => 'present', health_monitors => ['/Common/check'],
                   availability_requirement => 'all' }"
                    .to_owned(),
                vec![(
                    Severity::Warning,
                    "F5_pool[/Common/web]: `health_monitors` refers to F5_monitor[/Common/check], \
                     which has no `ensure` and is not created",
                )],
            ),
            (
                format!(
                    "network_vlan {{ '10': ensure => 'absent' }} {}",
                    trunk("access_vlan => 10")
                ),
                vec![(
                    Severity::Warning,
                    "Ios_network_trunk[GigabitEthernet1/0/1]: `access_vlan` refers to Network_vlan[10], \
                     which the catalog removes",
                )],
            ),
        ];
        for (manifest, expected) in cases {
            let platform = if manifest.starts_with("f5_") { "f5_bigip" } else { "cisco_ios" };
            let (_, found) = findings(&manifest, &empty_device(platform), &Policy::default());
            let found = found.iter().filter(|found| found.code == RULE.code);
            let reported: Vec<_> = found
                .map(|found| (found.severity, found.message.as_str()))
                .collect();
            assert_eq!(reported, expected, "{manifest}");
        }
    }

    #[test]
    fn undeclared_without_answers_reports_removed_objects_only() {
        let cases = [
            trunk("access_vlan => 10"),
            format!(
                "network_vlan {{ '10': ensure => 'absent' }} {}",
                trunk("access_vlan => «10»")
            ),
        ];
        for manifest in cases {
            assert_marked(&RULE, &manifest, &device("cisco_ios"), &Policy::default());
        }
    }
}
