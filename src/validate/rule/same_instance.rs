//! Two resources for the same instance.

use std::collections::hash_map::Entry;

use foldhash::HashMap;
use switchtender_devices::change::Desired;
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
`40` one VLAN. Types of global settings have one instance per device, and some types have the same lines, such as
the entries of a list. Both resources would be applied and overwrite each other in each run.",
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
    let lines = LineTypes::new(context);
    let mut first: HashMap<(&str, Vec<String>), usize> = HashMap::default();
    let mut lines_of: HashMap<(&str, Vec<String>), (usize, &Desired)> = HashMap::default();
    for (index, resource, desired) in context.desired() {
        let one = context
            .driver()
            .is_some_and(|driver| driver.is_singleton(&desired.model));
        let names = desired.model.namevars().filter(|_| !one);
        let key = (desired.model.name.as_str(), texts(desired, names));
        if let Some((line, names)) = lines.common_names(desired) {
            let names = texts(desired, names.iter().map(String::as_str));
            let (other, other_desired) = *lines_of.entry((line, names)).or_insert((index, desired));
            if other_desired.model.name != desired.model.name {
                let driver = context.driver();
                let models = [&*other_desired.model, &*desired.model];
                let owner = driver.map_or(0, |driver| driver.owner(&models));
                let message = format!(
                    "{} and {} are the same line on the device",
                    resource.reference, other_desired.reference
                );
                let help = format!("declare it once, with {}", models[owner].name);
                let finding = RuleFinding::new(&RULE, Location::title(index), message);
                let finding = finding.also(Location::title(other), "the other resource");
                findings.push(finding.help(help));
            }
        }
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

/// The values of names as text.
fn texts<'n>(desired: &Desired, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let texts = names.map(|name| {
        let value = desired.attributes.get(name);
        let text = value.and_then(Value::scalar_text);
        text.or_else(|| value.map(Value::inspect))
            .unwrap_or_default()
    });
    texts.collect()
}

/// The names that types with the same lines have in common, by the template of the line.
struct LineTypes {
    /// Types by name with their line.
    lines: HashMap<String, String>,
    names: HashMap<String, Vec<String>>,
}

impl LineTypes {
    fn new(context: &RuleContext<'_>) -> Self {
        let mut types = Self {
            lines: HashMap::default(),
            names: HashMap::default(),
        };
        let Some(driver) = context.driver() else {
            return types;
        };
        for (_, _, desired) in context.desired() {
            let model = &desired.model;
            if types.lines.contains_key(model.name.as_str()) {
                continue;
            }
            let line = driver.instance_line(model).unwrap_or_default();
            let own = || model.namevars().map(str::to_owned).collect::<Vec<_>>();
            let names = types.names.entry(line.clone()).or_insert_with(own);
            names.retain(|name| model.namevars().any(|own| own == name));
            types.lines.insert(model.name.to_string(), line);
        }
        types
    }

    /// The line of a resource, and the names that tell such lines apart.
    fn common_names(&self, desired: &Desired) -> Option<(&str, &[String])> {
        let line = self.lines.get(desired.model.name.as_str())?;
        let names = self.names.get(line)?;
        (!line.is_empty() && !names.is_empty()).then_some((line, names))
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
            (
                "ios_acl { 'WEB extended 10':
                   permission => 'permit', protocol => 'ip', source_address_any => true, destination_address_any => true }
                 ios_acl_entry { «'WEB 10'»:
                   permission => 'deny', protocol => 'ip', source_address_any => true, destination_address_any => true }",
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
