//! Two resources that are one thing on the device.

use std::collections::hash_map::Entry;

use foldhash::HashMap;
use switchtender_devices::driver::codec::text_of;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "same-instance",
    severity: Severity::Error,
    summary: "two resources that are one thing on the device",
    explanation: "\
Titles are compared letter by letter, names on the device are not: `Gi1/0/1` and
`GigabitEthernet1/0/1` are one port, `040` and `40` one VLAN; of global settings a device has one
set, whatever a resource calls it. Both resources would be applied, one after the other, and undo
each other in every run.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let mut first: HashMap<(&str, Vec<String>), usize> = HashMap::default();
    for (index, resource, wanted) in subject.wanted() {
        let one = subject
            .driver()
            .is_some_and(|driver| driver.singleton(&wanted.model));
        let names = wanted.model.namevars().filter(|_| !one);
        let names = names.map(|name| {
            let value = wanted.attributes.get(name);
            let text = value.and_then(text_of);
            text.unwrap_or_else(|| format!("{value:?}"))
        });
        let key = (wanted.model.name.as_str(), names.collect());
        match first.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(index);
            }
            Entry::Occupied(entry) => {
                let other = *entry.get();
                let other_reference = &subject.catalog.resources[other].reference;
                let message = format!(
                    "{} and {other_reference} are one thing on the device",
                    resource.reference
                );
                findings.push(
                    Finding::new(&RULE, At::title(index), message)
                        .also(At::title(other), "the other")
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
    fn spellings_and_titles_of_global_settings_do_not_make_two_things() {
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
