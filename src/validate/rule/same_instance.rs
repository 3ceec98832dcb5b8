//! Two resources for the same instance.

use std::collections::hash_map::Entry;

use foldhash::HashMap;
use switchtender_devices::value::Value;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "same-instance",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "two resources for the same instance",
    explanation: "\
Different titles can name the same instance: `Gi1/0/1` and `GigabitEthernet1/0/1` are one port, `040` and
`40` one VLAN. Types of global settings have one instance per device. Both resources would be applied and
overwrite each other in each run.",
    bad: "
network_vlan { '40':
  vlan_name => 'printers',
}
network_vlan { «'040'»:
  vlan_name => 'scanners',
}
",
    good: "
network_vlan { '40':
  vlan_name => 'printers',
}
network_vlan { '41':
  vlan_name => 'scanners',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let mut first: HashMap<(&str, Vec<String>), usize> = HashMap::default();
    for (index, resource, desired) in context.desired() {
        let one = context
            .driver()
            .is_some_and(|driver| driver.is_singleton(&desired.model));
        let names = desired.model.namevars().filter(|_| !one);
        let names = names.map(|name| {
            let value = desired.attributes.get(name);
            let text = value.and_then(Value::scalar_text);
            text.or_else(|| value.map(Value::inspect)).unwrap_or_default()
        });
        let key = (desired.model.name.as_str(), names.collect());
        match first.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(index);
            }
            Entry::Occupied(entry) => {
                let other = *entry.get();
                let other_reference = &context.catalog.resources[other].reference;
                let message = format!(
                    "{} and {other_reference} are the same instance on the device",
                    resource.reference
                );
                findings.push(
                    RuleFinding::new(&RULE, Location::title(index), message)
                        .also(Location::title(other), "the other resource")
                        .help("declare it once"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn same_instance_compares_canonical_names() {
        for (manifest, platform) in [
            (
                "network_interface { 'Gi1/0/1': enable => true }
                 network_interface { «'GigabitEthernet1/0/1'»: enable => false }",
                "cisco_ios",
            ),
            (
                "ntp_config { 'default': authenticate => true }
                 ntp_config { «'site'»: authenticate => false }",
                "cisco_ios",
            ),
            ("f5_ntp { '/Common/ntp': } f5_ntp { «'time'»: }", "f5_bigip"),
            (
                "ntp_config { 'default': authenticate => true }
                 network_dns { 'default': domain => 'example.net' }",
                "cisco_ios",
            ),
        ] {
            assert_marked(&RULE, manifest, &device(platform), &Policy::default());
        }
    }
}
