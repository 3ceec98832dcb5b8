//! Types on the strict mock of their platform: created, changed, removed, undone and purged.
//!
//! A case is `life_cycle/PLATFORM/TYPE.toml`: what the device has, and the values of a resource. The file `.txt`
//! beside it has the lines that are sent, and what the device then prints that it did not print before.
//! `UPDATE_DOCS=1` writes it: compare it with the command reference.
//! Each stage reads the device again, plans nothing more, and is undone.

mod device;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::change::{Change, Desired, Instance};
use crate::definitions;
use crate::diagnostic::Severity;
use crate::driver::test_run::SetByTest;
use crate::driver::undo::{names_desired, reference_to, set_ensure};
use crate::driver::{OldSecrets, Platform, Registry, SecretHistory};
use crate::model::TypeModel;
use crate::value::{Attributes, Name, Value};
use device::MockDevice;

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/driver/test_run/tests/life_cycle"
);
const DEFINITIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/definitions");

/// The end of the reason why an undo does not restore a secret.
const UNREADABLE: &str = ": the device does not show its value";

/// A resource of a type.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    title: String,
    /// The lines that the device gets before.
    #[serde(default)]
    config: String,
    create: toml::Table,
    /// The values that change, one change after another.
    #[serde(default)]
    change: Vec<toml::Table>,
    /// Why the device has further lines after the undo or the removal; the lines are recorded.
    leaves: Option<String>,
    /// What an undo says that it does not restore.
    not_undone: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    case: Vec<Case>,
}

#[test]
fn types_of_cisco_nxos_live_on_the_strict_mock() {
    check_platform("cisco_nxos", &[]);
}

/// The same for `arista_eos`.
const WITHOUT_CASE_EOS: &[&str] = &[
    "eos_bgp_neighbor",
    "eos_command",
    "eos_config",
    "eos_portchannel",
    "network_trunk",
    "ntp_auth_key",
    "port_channel",
    "radius_global",
    "radius_server",
    "snmp_notification_receiver",
    "snmp_user",
    "tacacs_global",
    "tacacs_server",
];

#[test]
fn types_of_arista_eos_live_on_the_strict_mock() {
    check_platform("arista_eos", WITHOUT_CASE_EOS);
}

/// Follows all types of a platform. `without`: types without a case.
fn check_platform(name: &str, without: &[&str]) {
    // From the files, so that a changed definition needs no build.
    let files = definitions::from_directory(Path::new(DEFINITIONS)).unwrap();
    let registry = Registry::from_files(&files, &[]).unwrap_or_else(|findings| {
        let findings = findings.iter().map(|finding| {
            let labels = finding.labels.iter();
            let files: Vec<&str> = labels.map(|label| label.source.name.as_str()).collect();
            format!("{}: {}\n", files.join(", "), finding.message)
        });
        panic!("{}", findings.collect::<String>())
    });
    let platform = registry.platform(name).unwrap();
    let folder = Path::new(FOLDER).join(name);
    let only = std::env::var("LIFE_CYCLE").ok();
    let mut failures = String::new();
    let mut without: Vec<&str> = without.to_vec();
    for definition in platform.type_drivers() {
        let type_name = definition.model.name.as_str();
        if only
            .as_ref()
            .is_some_and(|only| !type_name.contains(only.as_str()))
        {
            continue;
        }
        let path = folder.join(format!("{type_name}.toml"));
        let excepted = without.iter().position(|name| *name == type_name);
        match (path.exists(), excepted) {
            (false, Some(at)) => {
                without.remove(at);
            }
            (false, None) => {
                let _ = writeln!(failures, "{type_name}: no case");
            }
            (true, _) => {
                let failed = check_type(platform, &definition.model, &path);
                failures.extend(failed.iter().map(|text| format!("{type_name}: {text}\n")));
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    assert!(
        only.is_some() || without.is_empty(),
        "have a case: {without:?}"
    );
}

/// Follows the cases of a type, and compares them with what is recorded.
fn check_type(platform: &Arc<Platform>, model: &Arc<TypeModel>, path: &PathBuf) -> Vec<String> {
    let file: CaseFile = match toml::from_str(&fs::read_to_string(path).unwrap()) {
        Ok(file) => file,
        Err(error) => return vec![error.to_string()],
    };
    let mut failures = Vec::new();
    let mut text = String::new();
    for case in &file.case {
        let followed = LifeCycle::new(platform, model, case).and_then(|mut life| {
            let failed = life.follow().err();
            text += &life.record;
            failed.map_or(Ok(()), Err)
        });
        failures.extend(followed.err());
    }
    let recorded = path.with_extension("txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&recorded, text).unwrap();
    } else if failures.is_empty() && fs::read_to_string(&recorded).unwrap_or_default() != text {
        failures.push(format!("differs from {}:\n{text}", recorded.display()));
    }
    failures
}

/// A device during a case.
struct LifeCycle<'c> {
    device: MockDevice,
    model: &'c Arc<TypeModel>,
    case: &'c Case,
    /// The values of the stage before.
    last: Attributes,
    record: String,
}

/// The secrets that the stage before has set.
struct LastValues<'a>(&'a Attributes);

impl SecretHistory for LastValues<'_> {
    fn matches_last_set(&self, _: &str, name: &str, value: &Value) -> Option<bool> {
        self.0.get(name).map(|last| last == value)
    }
}

impl<'c> LifeCycle<'c> {
    fn new(
        platform: &Arc<Platform>,
        model: &'c Arc<TypeModel>,
        case: &'c Case,
    ) -> Result<Self, String> {
        let mut device = MockDevice::new(platform)?;
        device.configure(&case.config)?;
        Ok(Self {
            device,
            model,
            case,
            last: Attributes::default(),
            record: String::new(),
        })
    }

    fn follow(&mut self) -> Result<(), String> {
        let before = self.device.lines();
        let mut attributes = self.case.create.clone();
        self.stage("create", &attributes)?;
        for change in &self.case.change {
            attributes.extend(change.clone());
            self.stage("change", &attributes)?;
        }
        if !self.is_removable() {
            let _ = writeln!(self.record, "# not removable\n");
            return Ok(());
        }
        let names: Vec<&str> = self.model.namevars().collect();
        attributes.retain(|name, _| names.contains(&name));
        attributes.insert("ensure".to_owned(), "absent".into());
        if !self.stage("remove", &attributes)? {
            return Ok(());
        }
        self.last = Attributes::default();
        self.check_left("remove", &before)?;
        self.purge(&before)
    }

    fn is_removable(&self) -> bool {
        let driver = &self.device.driver;
        self.model.is_ensurable() && driver.is_removable(self.model)
    }

    /// Applies values, applies them again, undoes them, and applies them a third time.
    /// Returns `false` if the device does not permit it.
    fn stage(&mut self, name: &str, attributes: &toml::Table) -> Result<bool, String> {
        let failed = |text: String| format!("{name}: {text}");
        let before = self.device.lines();
        let desired = match self.desired(attributes) {
            // A port can be changed and not removed.
            Err(refusal) if name == "remove" => {
                let _ = writeln!(self.record, "# {name}: refused: {refusal}\n");
                return Ok(false);
            }
            desired => desired.map_err(failed)?,
        };
        let change = self.change(&desired).map_err(failed)?;
        let change = change.ok_or_else(|| failed("there is nothing to change".to_owned()))?;
        let state = self.device.state(&desired).map_err(failed)?;
        let displaced = self.device.driver.displaced(&change, &state);
        let sent = self.device.apply(&change).map_err(failed)?;
        let after = self.device.lines();
        let _ = write!(self.record, "# {name}: sent\n{sent}");
        let _ = write!(
            self.record,
            "# {name}: configuration\n{}\n",
            difference(&before, &after)
        );
        if let Some(change) = self.second_change(&desired).map_err(failed)? {
            let text = format!(
                "a second run changes {:?} of {:?} to {:?}",
                change.attributes, change.current, change.desired.attributes
            );
            return Err(failed(text));
        }
        if !self.undo(&change, &displaced).map_err(failed)? {
            self.last = desired.attributes;
            return Ok(true);
        }
        self.check_left(&format!("undo of {name}"), &before)?;
        let again = self.change(&desired).map_err(failed)?;
        let again = again.ok_or_else(|| failed("the undo changed nothing".to_owned()))?;
        self.device.apply(&again).map_err(failed)?;
        self.last = desired.attributes;
        if self.device.lines() == after {
            return Ok(true);
        }
        let difference = difference(&after, &self.device.lines());
        Err(failed(format!(
            "after the undo, the same change gives\n{difference}"
        )))
    }

    fn desired(&self, attributes: &toml::Table) -> Result<Desired, String> {
        let mut attributes: Attributes = attributes
            .iter()
            .map(|(name, value)| (Name::from(name.as_str()), value_of(value)))
            .collect();
        if self.is_removable() && !attributes.contains_key("ensure") {
            attributes.insert("ensure", "present".into());
        }
        let driver = &self.device.driver;
        let resolved = self.model.resolve(&self.case.title, &attributes);
        let resolved = resolved.and_then(|found| driver.canonicalize(self.model, found));
        let desired = Desired {
            reference: format!("{}[{}]", self.model.name, self.case.title).into(),
            model: Arc::clone(self.model),
            attributes: resolved.map_err(|errors| format!("{errors:?}"))?,
        };
        let problems = driver.check(&desired).into_iter();
        let errors = problems.filter(|problem| problem.severity == Severity::Error);
        let errors: Vec<String> = errors
            .map(|problem| format!("{}: {}", problem.attribute, problem.message))
            .collect();
        if errors.is_empty() {
            Ok(desired)
        } else {
            Err(errors.join("\n"))
        }
    }

    fn change(&mut self, desired: &Desired) -> Result<Option<Change>, String> {
        self.device.change(desired, &LastValues(&self.last))
    }

    /// The change of a second run: the first one has set all secrets.
    fn second_change(&mut self, desired: &Desired) -> Result<Option<Change>, String> {
        self.device.change(desired, &SetByTest)
    }

    /// Undoes a change; `false`: the undo is refused, as the case says.
    fn undo(&mut self, change: &Change, displaced: &[Instance]) -> Result<bool, String> {
        let mut state = self.device.state(&change.desired)?;
        let driver = &self.device.driver;
        let undo = driver.undo(change, displaced, OldSecrets::Used, &mut state);
        let not_restored = undo.not_restored.join("; ");
        if not_restored.is_empty() {
            return self.device.send(&undo.operations).map(|_| true);
        }
        let mut reasons = undo.not_restored.iter();
        // What stands in the line of a secret is not restored either.
        let is_secret = reasons.any(|reason| reason.ends_with(UNREADABLE));
        if is_secret || self.case.not_undone.as_ref() == Some(&not_restored) {
            let _ = writeln!(self.record, "# not undone: {not_restored}\n");
            return Ok(false);
        }
        Err(format!("not undone: {not_restored}"))
    }

    /// Removes what the device has more than before, as its list of instances names it.
    fn purge(&mut self, before: &BTreeMap<String, usize>) -> Result<(), String> {
        let failed = |text: String| format!("purge: {text}");
        let desired = self.desired(&self.case.create).map_err(failed)?;
        let change = self.change(&desired).map_err(failed)?;
        let change = change.ok_or_else(|| failed("it is not removed".to_owned()))?;
        self.device.apply(&change).map_err(failed)?;
        let state = self.device.state(&desired).map_err(failed)?;
        let listed = self.device.driver.instances(self.model, &state);
        let listed = listed.map_err(|error| failed(error.to_string()))?;
        let names = names_desired(&desired.reference, self.model, &desired.attributes);
        let is_declared = |one: &&Instance| {
            let mut names = names.attributes.iter();
            names.all(|(name, value)| one.attributes.get(name) == Some(value))
        };
        let found = listed.iter().find(is_declared);
        let found =
            found.ok_or_else(|| failed(format!("{:?} is not in {listed:?}", names.attributes)))?;
        let reference = reference_to(self.model, &found.attributes);
        let mut purged = names_desired(&reference, self.model, &found.attributes);
        set_ensure(&mut purged, "absent");
        let change = self.change(&purged).map_err(failed)?;
        let change = change.ok_or_else(|| failed("there is nothing to remove".to_owned()))?;
        self.device.apply(&change).map_err(failed)?;
        self.check_left("purge", before)
    }

    /// Only lines that stay distinguish the configuration from the one before.
    fn check_left(&mut self, stage: &str, before: &BTreeMap<String, usize>) -> Result<(), String> {
        let stay = self.device.lines_that_stay(self.model);
        let now = self.device.lines();
        let left = difference(before, &now);
        let other = left.lines().filter(|line| {
            let added = line.strip_prefix("+ ");
            !added.is_some_and(|added| stay.iter().any(|line| line == added))
        });
        let other: Vec<&str> = other.collect();
        if !left.is_empty() {
            let _ = write!(self.record, "# {stage}: left\n{left}\n");
        }
        if other.is_empty() || self.case.leaves.is_some() {
            Ok(())
        } else {
            Err(format!(
                "{stage}: the device differs:\n  {}",
                other.join("\n  ")
            ))
        }
    }
}

/// The lines that only one configuration has, each with its blocks.
fn difference(before: &BTreeMap<String, usize>, after: &BTreeMap<String, usize>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (line, count) in before {
        let removed = count.saturating_sub(after.get(line).copied().unwrap_or(0));
        lines.extend((0..removed).map(|_| format!("- {line}\n")));
    }
    for (line, count) in after {
        let added = count.saturating_sub(before.get(line).copied().unwrap_or(0));
        lines.extend((0..added).map(|_| format!("+ {line}\n")));
    }
    lines.concat()
}

fn value_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Boolean(flag) => (*flag).into(),
        toml::Value::Array(items) => Value::List(items.iter().map(value_of).collect()),
        other => other.as_str().expect("a text").into(),
    }
}
