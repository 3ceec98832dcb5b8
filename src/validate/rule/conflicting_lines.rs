//! Two resources that set one thing of the device to different values.

use std::collections::{BTreeMap, BTreeSet};

use switchtender_devices::change::{Change, ChangeKind, Wanted};
use switchtender_devices::driver::Driver;
use switchtender_devices::model::ValueSpec;
use switchtender_devices::operation::Action;
use switchtender_devices::read::State;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::{Subject, only_name};

pub const RULE: Rule = Rule {
    code: "conflicting-lines",
    severity: Severity::Warning,
    summary: "two resources that set one thing to different values",
    explanation: "\
Resources of different types can write the same line of one interface. With different values they
undo each other: every run changes the device, and between the two it is in a state that nobody
wanted. Leave the setting to one of them.",
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
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(driver) = subject.driver() else {
        return;
    };
    let mut by_name: BTreeMap<String, Vec<(usize, &Wanted)>> = BTreeMap::new();
    for (index, _, wanted) in subject.wanted() {
        if let Some(name) = only_name(wanted).filter(|_| !wanted.absent()) {
            by_name.entry(name).or_default().push((index, wanted));
        }
    }
    // Which lines a resource writes follows from its type and its attributes: of many alike, one
    // is enough to see that they have no line in common.
    let mut apart: BTreeSet<Vec<Shape<'_>>> = BTreeSet::new();
    for resources in by_name.values() {
        let types: BTreeSet<&str> = resources
            .iter()
            .map(|(_, wanted)| wanted.model.name.as_str())
            .collect();
        if types.len() < 2 {
            continue;
        }
        let shapes: Vec<Shape<'_>> = resources.iter().map(|(_, wanted)| shape(wanted)).collect();
        if apart.contains(&shapes) {
            continue;
        }
        let mut in_common = false;
        let mut set: BTreeMap<Setting, (usize, String, String)> = BTreeMap::new();
        for &(index, wanted) in resources {
            for (setting, value, attribute) in settings(driver, wanted) {
                match set.get(&setting) {
                    None => {
                        set.insert(setting, (index, value, attribute));
                    }
                    Some((other, ..)) if *other == index => {}
                    Some((_, theirs, _)) if *theirs == value => in_common = true,
                    Some((other, _, other_attribute)) => {
                        in_common = true;
                        let reference = |index: usize| &subject.catalog.resources[index].reference;
                        let message = format!(
                            "{} and {} set `{}` of the device to different values",
                            reference(index),
                            reference(*other),
                            setting.1
                        );
                        findings.push(
                            Finding::new(&RULE, At::parameter(index, &attribute), message)
                                .also(At::parameter(*other, other_attribute), "the other value")
                                .help("leave it to one of them"),
                        );
                    }
                }
            }
        }
        if !in_common {
            apart.insert(shapes);
        }
    }
}

/// A type with the names of the attributes that are given, and what decides among lines.
type Shape<'a> = (&'a str, Vec<(&'a str, Option<String>)>);

fn shape(wanted: &Wanted) -> Shape<'_> {
    let attributes = wanted.attributes.iter().map(|(name, value)| {
        let attribute = wanted.model.attributes.get(name);
        let listed = |spec: &ValueSpec| matches!(spec, ValueSpec::Literal(literal) if literal == value);
        let chosen = attribute.is_some_and(|attribute| attribute.values.iter().any(listed));
        (name.as_str(), chosen.then(|| format!("{value:?}")))
    });
    (wanted.model.name.as_str(), attributes.collect())
}

/// The mode and the words of a line without its value.
type Setting = (String, String);

/// What a resource sets when it is made: each line without its last word, the last word, and the
/// attribute. `no` belongs to the value.
fn settings(driver: &Driver, wanted: &Wanted) -> Vec<(Setting, String, String)> {
    let change = Change {
        kind: if wanted.model.ensurable() {
            ChangeKind::Create
        } else {
            ChangeKind::Update
        },
        attributes: wanted
            .model
            .properties()
            .filter(|property| wanted.attributes.contains_key(&property.name))
            .map(|property| property.name.clone())
            .collect(),
        wanted: std::sync::Arc::new(wanted.clone()),
        current: None,
    };
    let Ok(operations) = driver.render(&change, &State::default()) else {
        return Vec::new();
    };
    operations
        .into_iter()
        .filter_map(|operation| {
            let Action::Line(line) = operation.action else {
                return None;
            };
            let text = line.text?;
            // Global lines of different types have nothing to do with each other.
            let mode = line.mode.last()?.to_string();
            if text.has_secret() {
                return None;
            }
            let text = text.to_string();
            let (no, positive) = match text.strip_prefix("no ") {
                Some(rest) => ("no ", rest),
                None => ("", text.as_str()),
            };
            let (head, value) = match positive.rsplit_once(' ') {
                Some((head, value)) => (head, value),
                None => (positive, ""),
            };
            let attribute = operation.attributes.first()?.clone();
            Some(((mode, head.to_owned()), format!("{no}{value}"), attribute))
        })
        .collect()
}
