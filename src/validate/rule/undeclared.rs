//! A value that names something which is declared nowhere.

use switchtender_devices::model::{AutoKind, RelationSource};

use super::{Check, Example, Rule};
use crate::catalog::ResourceRef;
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "undeclared",
    severity: Severity::Warning,
    summary: "a value that names something which is declared nowhere",
    explanation: "\
The value names another object of the device, a VLAN, a pool, a node, that is neither in the catalog
nor in the running configuration that was given (`--running`). It may be on the device all the same;
if it is not, the device refuses the value or takes it and does nothing. What a device brings itself
(VLAN 1, everything in the partition Common) is not reported.",
    bad: "
f5_virtualserver { '/Common/web':
  ensure              => 'present',
  provider            => 'standard',
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
  destination_address => '203.0.113.80',
  service_port        => '443',
  default_pool        => '/shop/web',
}
",
    example: Example::Device("f5_bigip"),
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    if !subject.for_device() {
        return;
    }
    for (index, resource, wanted) in subject.wanted() {
        if wanted.absent() {
            continue;
        }
        for relation in &wanted.model.relations {
            let RelationSource::Attribute(path) = &relation.from else {
                continue;
            };
            let wants = matches!(relation.kind, AutoKind::Require | AutoKind::Subscribe);
            // What cannot be made cannot be declared either: ports are there or are not.
            let made = subject
                .registry
                .model(&relation.target)
                .is_some_and(|model| model.ensurable());
            if !wants || !made {
                continue;
            }
            let attribute = path.split('.').next().unwrap_or(path);
            for name in wanted.related(relation) {
                let reference = ResourceRef::new(&relation.target, &name);
                if subject.names.find(&reference).is_some()
                    || on_every_device(&relation.target, &name)
                    || subject.runs(&relation.target, &name)
                {
                    continue;
                }
                findings.push(Finding::new(
                    &RULE,
                    At::parameter(index, attribute),
                    format!("{}: {attribute} names {reference}, which is declared nowhere", resource.reference),
                ));
            }
        }
    }
}

/// What a device brings itself, or what is the word for nothing.
fn on_every_device(target: &str, name: &str) -> bool {
    match name {
        "" | "unset" | "none" | "default" | "all" => return true,
        _ => {}
    }
    match target {
        "network_vlan" => matches!(name, "0" | "1" | "1002" | "1003" | "1004" | "1005"),
        _ => name.starts_with("/Common/") || name == "Common",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn what_the_device_brings_and_what_is_to_go_are_not_reported() {
        for manifest in [
            "f5_selfip { '/Common/a': address => '198.51.100.1/24', vlan => '/Common/servers' }",
            "f5_virtualserver { '/Common/web': ensure => 'absent', default_pool => '/shop/web' }",
        ] {
            assert_marked(&RULE, manifest, &device("f5_bigip"), &Policy::default());
        }
    }
}
