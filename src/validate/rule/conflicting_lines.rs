//! Two resources that configure one setting with different values.

use std::collections::{BTreeMap, BTreeSet};

use switchtender_devices::change::Desired;
use switchtender_devices::driver::{Driver, Effect, EffectSlot};
use switchtender_devices::model::TypeModel;

use super::{Effects, Example, Rule, RuleCheck};
use crate::compat::Deviation;
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "conflicting-lines",
    severity: Severity::Error,
    effects: Effects::REFUSE_CONFLICT,
    summary: "two resources that configure one setting with different values",
    explanation: "\
Resources of different types can write the same line or field, and two port channels can claim one
member. A removed block cannot have lines of another resource. With different values they overwrite each other in each run. `apply` and `plan` refuse the catalog,
and in `device` both resources fail. Configure the setting in one of them. The finding is a warning if
both can be in sync at the same time (`unset` and another value). It is also a warning if one of them is
not always applied (`noop`, `schedule`).",
    bad: "
network_trunk { 'GigabitEthernet1/0/1':
  ensure => 'present',
  mode   => 'access',
}
ios_network_trunk { 'GigabitEthernet1/0/1':
  ensure => 'present',
  mode   => «'trunk'»,
}
",
    good: "
network_trunk { 'GigabitEthernet1/0/1':
  ensure => 'present',
  mode   => 'access',
}
ios_network_trunk { 'GigabitEthernet1/0/1':
  ensure      => 'present',
  access_vlan => 40,
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

/// The settings of each object of the device, with their resources.
type SettingsByObject<'a> = BTreeMap<(String, String), Vec<(usize, &'a Desired, Effect)>>;

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let Some(driver) = context.driver() else {
        return;
    };
    let mut by_type: BTreeMap<&str, Vec<(usize, &Desired)>> = BTreeMap::new();
    for (index, _, desired) in context.desired() {
        let name = desired.model.name.as_str();
        by_type.entry(name).or_default().push((index, desired));
    }
    let models = by_type.values().map(|resources| &*resources[0].1.model);
    let shared = shared_attributes(driver, models);
    let mut seen: SettingsByObject<'_> = BTreeMap::new();
    for (type_name, resources) in &by_type {
        let Some(attributes) = shared.get(type_name) else {
            continue;
        };
        let attributes: Vec<&str> = attributes.iter().map(String::as_str).collect();
        for &(index, desired) in resources {
            for setting in driver.effects(desired, &attributes) {
                let key = (setting.location.clone(), setting.what.clone());
                seen.entry(key).or_default().push((index, desired, setting));
            }
        }
    }
    for removal in seen.values().flatten().filter(|(.., one)| one.is_removal) {
        let inner = format!("{} / ", removal.2.location);
        let mut settings = seen.values().flatten().filter(|(index, desired, setting)| {
            let is_inside = setting.location == removal.2.location
                || setting.location.starts_with(&inner);
            let has_line = !setting.is_removal && !setting.is_unset && !desired.is_absent();
            *index != removal.0 && is_inside && has_line
        });
        if let Some(setting) = settings.next() {
            findings.push(removed(context, removal, setting));
        }
    }
    for mut settings in seen.into_values() {
        settings.sort_by_key(|(index, ..)| *index);
        let (first, rest) = settings.split_first().expect("what is seen was set");
        for other in rest {
            let is_created = creates(&first.2, &other.2) || creates(&other.2, &first.2);
            let differs = other.2.sent != first.2.sent && !is_created;
            if other.0 != first.0 && !first.2.is_removal && differs {
                findings.push(finding(context, other, first));
            }
        }
    }
}

/// Whether a line creates what another one has further words about: `switchport`, and `switchport mode trunk`.
fn creates(creation: &Effect, other: &Effect) -> bool {
    let ([line], [further]) = (creation.sent.as_slice(), other.sent.as_slice()) else {
        return false;
    };
    let (line, further) = (line.to_string(), further.to_string());
    let rest = further.strip_prefix(&line);
    creation.attribute == "ensure" && rest.is_some_and(|rest| rest.starts_with(' '))
}

/// By type, the attributes that can configure the same setting as another type or another resource.
fn shared_attributes<'a>(
    driver: &Driver,
    models: impl Iterator<Item = &'a TypeModel>,
) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut touching: BTreeMap<(String, String), Vec<(&str, EffectSlot)>> = BTreeMap::new();
    let slots: Vec<(&str, EffectSlot)> = models
        .flat_map(|model| {
            let slots = driver.effect_slots(model).into_iter();
            slots.map(|slot| (model.name.as_str(), slot))
        })
        .collect();
    let mut shared: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (type_name, removal) in slots.iter().filter(|(_, slot)| slot.is_removal) {
        let inner = format!("{} / ", removal.location);
        let others = slots.iter().filter(|(other, slot)| {
            other != type_name
                && (slot.location == removal.location || slot.location.starts_with(&inner))
        });
        for (other, slot) in others {
            let mut add = |name: &'a str, attribute: &str| {
                shared.entry(name).or_default().insert(attribute.to_owned());
            };
            add(type_name, &removal.attribute);
            add(other, &slot.attribute);
        }
    }
    for (type_name, touch) in slots {
        if !touch.is_removal {
            let key = (touch.location.clone(), touch.what.clone());
            touching.entry(key).or_default().push((type_name, touch));
        }
    }
    for touches in touching.into_values() {
        let types: BTreeSet<&str> = touches.iter().map(|(type_name, _)| *type_name).collect();
        for (type_name, touch) in touches {
            if types.len() > 1 || touch.within_type {
                shared
                    .entry(type_name)
                    .or_default()
                    .insert(touch.attribute);
            }
        }
    }
    shared
}

/// A resource has lines in a block that another one removes.
fn removed(
    context: &RuleContext<'_>,
    (index, desired, removal): &(usize, &Desired, Effect),
    (other, other_desired, setting): &(usize, &Desired, Effect),
) -> RuleFinding {
    let message = format!(
        "{} removes `{}`, and {} configures `{}` in it",
        desired.reference, removal.location, other_desired.reference, setting.what
    );
    RuleFinding::new(&RULE, Location::parameter(*index, "ensure"), message)
        .severity(severity(context, [*index, *other]))
        .also(
            Location::parameter(*other, &setting.attribute),
            "a line of the block",
        )
        .help("remove both, or remove the line from the catalog")
}

/// A warning if a resource is not always applied, or if conflicts are not refused.
fn severity(context: &RuleContext<'_>, resources: [usize; 2]) -> Severity {
    let is_sometimes = resources.into_iter().any(|index| {
        let parameters = &context.catalog.resources[index].parameters;
        parameters.contains_key("schedule")
            || parameters.get("noop").and_then(|noop| noop.as_bool()) == Some(true)
    });
    let is_refused = context.policy.deviations.has(Deviation::ConflictsAreRefused);
    if !is_refused || is_sometimes { Severity::Warning } else { RULE.severity }
}

fn finding(
    context: &RuleContext<'_>,
    (index, desired, setting): &(usize, &Desired, Effect),
    (other, other_desired, other_setting): &(usize, &Desired, Effect),
) -> RuleFinding {
    let severity = if setting.is_compatible_with(other_setting) { Severity::Warning } else { severity(context, [*index, *other]) };
    let location = match setting.location.as_str() {
        "" => "the device".to_owned(),
        location => format!("`{location}`"),
    };
    let message = format!(
        "{} and {} configure `{}` of {location} with different values",
        desired.reference, other_desired.reference, setting.what
    );
    RuleFinding::new(&RULE, Location::parameter(*index, &setting.attribute), message)
        .severity(severity)
        .also(
            Location::parameter(*other, &other_setting.attribute),
            "the other value",
        )
        .help(match context.driver() {
            Some(driver) if desired.model.name != other_desired.model.name => {
                let both = [other_desired, desired];
                let owner = driver.owner(&both.map(|one| &*one.model));
                format!("configure it in {}", both[owner].reference)
            }
            _ => "configure it in one of them".to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device, findings};

    #[test]
    fn conflicting_lines_compares_all_modes() {
        for manifest in [
            "network_dns { 'default': domain => 'example.net' }
             ios_network_dns { 'default': domain => «'example.org'» }",
            "ntp_config { 'default': trusted_key => [1, 2] }
             ios_ntp_config { 'default': trusted_key => «[1, 3]» }",
            "ntp_config { 'default': authenticate => true }
             ios_ntp_config { 'default': authenticate => «false» }",
            "network_interface { 'Port-channel10': enable => true, description => 'core' }
             port_channel { 'Po10': ensure => 'present', description => «'uplink'» }",
            "port_channel { 'Po10': ensure => 'present', mode => 'active', interfaces => ['Gi1/0/1'] }
             port_channel { 'Po11': ensure => 'present', mode => 'active',
                            interfaces => «['Gi1/0/1', 'Gi1/0/2']» }",
            "network_trunk { 'Gi1/0/1': ensure => 'present' }
             ios_network_trunk { 'Gi1/0/1': ensure => «'absent'» }",
            "port_channel { 'Po10': ensure => «'absent'» }
             network_interface { 'Port-channel10': description => 'core' }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
            let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
            let found = found.iter().filter(|found| found.code == RULE.code);
            let severities: Vec<Severity> = found.map(|found| found.severity).collect();
            assert_eq!(severities, [Severity::Error], "{manifest}");
        }
    }

    #[test]
    fn conflicting_lines_accepts_equal_values_and_different_objects() {
        for manifest in [
            "ntp_server { '192.0.2.1': } ntp_server { '192.0.2.2': prefer => true }",
            "ntp_config { 'default': trusted_key => [1, 2] }
             ios_ntp_config { 'default': trusted_key => [2, 1], logging => true }",
            "network_trunk { 'Gi1/0/1': ensure => 'present', mode => 'access' }
             ios_network_trunk { 'GigabitEthernet1/0/1': ensure => 'present', mode => 'access',
                                 access_vlan => 40 }",
            "network_dns { 'default': domain => 'example.net' }
             ios_network_dns { 'default': search => ['example.org'], ip_domain_lookup => false }",
            "network_trunk { 'Gi1/0/1': ensure => 'present', mode => 'access' }
             ios_network_trunk { 'Gi1/0/2': ensure => 'present', mode => 'trunk' }",
            "network_trunk { 'Gi1/0/1': untagged_vlan => 1 }
             ios_network_trunk { 'Gi1/0/1': untagged_vlan => 'unset' }",
            "network_interface { 'Port-channel10': enable => true, description => 'core' }
             port_channel { 'Po11': ensure => 'present', description => 'uplink' }",
            "network_interface { 'Port-channel10': description => 'core' }
             port_channel { 'Po11': ensure => 'absent' }",
            "port_channel { 'Po10': ensure => 'present', mode => 'active', interfaces => ['Gi1/0/1'] }
             port_channel { 'Po11': ensure => 'present', mode => 'active', interfaces => ['Gi1/0/2'] }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
        }
    }

    #[test]
    fn conflicting_lines_is_a_warning_for_compatible_values_and_noop() {
        for manifest in [
            "network_trunk { 'Gi1/0/1': mode => 'access' }
             ios_network_trunk { 'Gi1/0/1': mode => «'unset'» }",
            "network_trunk { 'Gi1/0/1': mode => 'access', noop => true }
             ios_network_trunk { 'Gi1/0/1': mode => «'trunk'» }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
            let (_, found) = findings(manifest, &device("cisco_ios"), &Policy::default());
            let found = found.iter().find(|found| found.code == RULE.code);
            assert_eq!(found.unwrap().severity, Severity::Warning, "{manifest}");
        }
    }
}
