//! A reference to an object that is not declared.

use std::collections::{BTreeMap, BTreeSet};

use switchtender_devices::change::Desired;
use switchtender_devices::driver::ProblemKind;
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
The value names another object, such as a VLAN, pool or node. The catalog does not declare the object,
removes it, or does not create it because it has no `ensure`, and the running configuration (`--running`) does not contain it. If the device does not have
it either, the device rejects the value, or the setting has no effect. Each object is reported once, at
the first resource that names it. Single numbers in the VLAN list of a trunk are notes, because a trunk
may allow more VLANs than the switch has. Ranges and built-in objects are not reported.",
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
    example: Example::Device("f5_bigip"),
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
        let exists = |target: &TypeName, name: &str| {
            let Some(model) = context.registry.model(target) else {
                return false;
            };
            let declared = context.index.find(&ResourceRef::new(target, name));
            match declared {
                Some(declared) if is_created(context, declared) => !context.is_removed(declared),
                Some(_) => model.exists_undeclared(name) || context.has_running(target, name),
                None => model.exists_undeclared(name) || context.has_running(target, name),
            }
        };
        let references: Vec<_> = desired.model.references().collect();
        for (number, reference) in references.iter().enumerate() {
            // Types without `ensure`, such as interfaces, cannot be declared.
            let Some(target) = context.registry.model(&reference.target) else {
                continue;
            };
            let left_out = typed.problems.iter().any(|problem| {
                problem.kind == ProblemKind::Unsupported
                    && problem.attribute == reference.attribute()
            });
            if !target.is_ensurable() || left_out {
                continue;
            }
            // The value may name an instance of one of several types. The first stands for all.
            if references[..number].iter().any(|other| other.is_same_value(reference)) {
                continue;
            }
            for name in desired.model.referenced_names(reference, &desired.attributes) {
                let other = ResourceRef::new(&reference.target, &name);
                let mut types = references.iter().filter(|other| other.is_same_value(reference));
                if !types.any(|one| exists(&one.target, &name)) {
                    let severity = match reference.numbers {
                        true => Severity::Note,
                        false => RULE.severity,
                    };
                    missing.entry(other).or_default().push(ObjectReference {
                        index,
                        attribute: reference.attribute().to_owned(),
                        severity,
                        desired,
                    });
                }
            }
        }
    }
    for (other, references) in missing {
        findings.push(finding(context, &other, &references));
    }
}

fn finding(context: &RuleContext<'_>, other: &ResourceRef, references: &[ObjectReference<'_>]) -> RuleFinding {
    let worst = references.iter().map(|reference| reference.severity).max();
    let first = references
        .iter()
        .find(|reference| Some(reference.severity) == worst)
        .expect("what is missing is named somewhere");
    let (state, help) = match context.index.find(other) {
        Some(declared) if !is_created(context, declared) => (
            "has no `ensure` and is not created",
            "set `ensure` to present; with `--running`, the objects of the device count as declared"
                .to_owned(),
        ),
        Some(_) => ("the catalog removes", "keep it, or refer to another one".to_owned()),
        None if is_lacking(context, other) => (
            "is not declared, and the platform lacks the type",
            "create it on the device; with `--running`, its objects count as declared".to_owned(),
        ),
        None => (
            "is not declared",
            format!(
                "declare {other}; with `--running`, the objects of the device count as declared"
            ),
        ),
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

/// Whether the platform of the device has no such type.
fn is_lacking(context: &RuleContext<'_>, other: &ResourceRef) -> bool {
    let model = context.registry.model(&other.model_name());
    let supported = context.driver().zip(model).map(|(driver, model)| driver.supports(model));
    supported.is_some_and(|supported| supported.is_err())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device, findings};

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
            assert_marked(&RULE, &manifest, &device(platform), &Policy::default());
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
            assert_marked(&RULE, &manifest, &device(platform), &Policy::default());
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
                     Network_vlan[10], which is not declared",
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
                     which is not declared; so does one other resource",
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
            let platform = match manifest.starts_with("f5_") {
                true => "f5_bigip",
                false => "cisco_ios",
            };
            let (_, found) = findings(&manifest, &device(platform), &Policy::default());
            let found = found.iter().filter(|found| found.code == RULE.code);
            let reported: Vec<_> = found
                .map(|found| (found.severity, found.message.as_str()))
                .collect();
            assert_eq!(reported, expected, "{manifest}");
        }
    }
}
