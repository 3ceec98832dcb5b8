//! What types read of foreign configurations plans nothing, and agrees with a reader that knows no definition.
//!
//! The configurations are not part of this project: see `unknown_words`.

mod eos_facts;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::unknown_words::{answers, foreign_configurations, note, texts_of};
use crate::change::{Desired, Instance};
use crate::definitions;
use crate::diagnostic::Severity;
use crate::driver::{Driver, Facts, NoSecretHistory, Platform, Registry};
use crate::model::TypeModel;
use crate::not_understood::NotUnderstood;
use crate::read::State;
use crate::value::{Attributes, Value};

/// A reader of a configuration, written from the documentation of a device.
type FactReader = fn(&str) -> Vec<Fact>;

/// A value of an instance. Names have blanks between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fact {
    type_name: &'static str,
    names: String,
    attribute: &'static str,
    value: String,
    /// The line with it.
    line: String,
}

/// Folders of configurations, platforms, and readers.
const PLATFORMS: [(&str, &str, FactReader); 1] = [("eos", "arista_eos", eos_facts::read)];

const DEFINITIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/definitions");

/// A configuration that is read.
struct ReadDevice {
    driver: Driver,
    state: State,
}

impl ReadDevice {
    fn new(platform: &Arc<Platform>, config: &str) -> Self {
        let driver = Driver::new(platform, &Facts::default());
        let models: Vec<_> = platform.type_drivers().map(|of| &of.model).collect();
        let reads = answers(config, &platform.name, driver.reads(&models));
        let state = platform.parse(&reads).unwrap();
        Self { driver, state }
    }

    fn instances(&self, model: &Arc<TypeModel>) -> Vec<Instance> {
        self.driver.instances(model, &self.state).unwrap()
    }

    fn not_understood(&self, model: &Arc<TypeModel>) -> Vec<NotUnderstood> {
        self.driver.not_understood(&[model], &self.state)
    }

    /// What a catalog with the values of an instance would change or be refused for.
    fn plan(&self, model: &Arc<TypeModel>, instance: &Instance) -> Vec<String> {
        let texts = self.not_understood(model);
        let is_hidden = |name: &str| {
            let mut of_name = texts
                .iter()
                .filter(|text| text.attribute.as_deref() == Some(name));
            of_name.any(|text| text.is_of(instance))
        };
        let mut attributes = Attributes::default();
        for (name, value) in &instance.attributes {
            if !matches!(value, Value::Undef | Value::Absent) && !is_hidden(name) {
                attributes.insert(name.clone(), value.clone());
            }
        }
        let _ = model.without_conflicts(&mut attributes);
        let title = model.title_of(&attributes).unwrap_or_default();
        let reference = format!("{}[{title}]", model.name);
        let resolved = model.resolve(&title, &attributes);
        let resolved = resolved.and_then(|found| self.driver.canonicalize(model, found));
        let attributes = match resolved {
            Ok(attributes) => attributes,
            Err(errors) => return vec![format!("{reference}: {errors:?}")],
        };
        let desired = Desired {
            reference: reference.as_str().into(),
            model: Arc::clone(model),
            attributes,
        };
        let problems = self.driver.check(&desired).into_iter();
        let refused = problems.filter(|problem| problem.severity == Severity::Error);
        let mut planned: Vec<String> = refused
            .map(|problem| format!("{reference}: {}: {}", problem.attribute, problem.message))
            .collect();
        let current = self.driver.instance(&desired, &self.state).unwrap();
        let desired = self.driver.resolve(&desired, current.as_ref(), &self.state);
        let names = self
            .driver
            .differs(&desired, current.as_ref(), &NoSecretHistory);
        // A change of a value whose line is not understood is refused.
        let changed = names.iter().filter(|name| !is_hidden(name));
        planned.extend(changed.map(|name| format!("{reference}: {name} differs")));
        planned
    }
}

fn registry() -> Registry {
    let files = definitions::from_directory(Path::new(DEFINITIONS)).unwrap();
    Registry::from_files(&files, &[]).unwrap()
}

#[test]
fn values_of_foreign_configurations_plan_nothing() {
    let Some(directory) = foreign_configurations() else {
        note("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
        return;
    };
    let registry = registry();
    let mut planned = Vec::new();
    for (folder, name, _) in PLATFORMS {
        let platform = registry.platform(name).unwrap();
        let configurations = texts_of(&directory, folder);
        let (mut count, mut reported) = (0, 0);
        for config in &configurations {
            let device = ReadDevice::new(platform, config);
            for definition in platform.type_drivers() {
                let model = &definition.model;
                if device.driver.supports(model).is_err() {
                    continue;
                }
                reported += device.not_understood(model).len();
                for instance in device.instances(model) {
                    count += 1;
                    if instance.not_understood.is_none() {
                        planned.extend(device.plan(model, &instance));
                    }
                }
            }
        }
        note(&format!(
            "{name}: {} configurations, {count} instances, {reported} texts not understood",
            configurations.len()
        ));
    }
    assert!(planned.is_empty(), "{}", planned.join("\n"));
}

#[test]
fn values_of_foreign_configurations_agree_with_a_reader_without_definitions() {
    let Some(directory) = foreign_configurations() else {
        note("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
        return;
    };
    let registry = registry();
    for (folder, name, read) in PLATFORMS {
        let platform = registry.platform(name).unwrap();
        let (mut count, mut differences) = (0, Vec::new());
        for config in texts_of(&directory, folder) {
            let device = ReadDevice::new(platform, &config);
            let facts = read(&config);
            count += facts.len();
            differences.extend(compare(platform, &device, &facts));
        }
        note(&format!("{name}: {count} values of a second reader"));
        assert!(count > 1000, "{count}");
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

/// The values that only one reader has. Lines that are reported as not understood do not count.
fn compare(platform: &Platform, device: &ReadDevice, facts: &[Fact]) -> Vec<String> {
    let mut differences = Vec::new();
    for definition in platform.type_drivers() {
        let model = &definition.model;
        let of_type: Vec<&Fact> = facts
            .iter()
            .filter(|fact| fact.type_name == model.name.as_str())
            .collect();
        if of_type.is_empty() {
            continue;
        }
        let reported = device.not_understood(model);
        let is_reported = |line: &str| reported.iter().any(|text| text.text == line);
        let expected: BTreeSet<String> = of_type
            .iter()
            .filter(|fact| !is_reported(&fact.line))
            .map(|fact| format!("{} {}={}", fact.names, fact.attribute, fact.value))
            .collect();
        let attributes: BTreeSet<&str> = of_type.iter().map(|fact| fact.attribute).collect();
        let mut found = BTreeSet::new();
        for instance in device.instances(model) {
            let names = model
                .namevars()
                .filter_map(|name| instance.attributes.get(name));
            let names: Vec<String> = names.map(Value::ruby_to_s).collect();
            let names = names.join(" ");
            for attribute in &attributes {
                let Some(value) = instance.attributes.get(attribute) else {
                    continue;
                };
                for text in texts_of_value(value) {
                    found.insert(format!("{names} {attribute}={text}"));
                }
            }
        }
        let missing = expected.difference(&found);
        differences.extend(missing.map(|one| format!("{}: not found: {one}", model.name)));
    }
    differences
}

/// A value as texts, one for each element of a list.
fn texts_of_value(value: &Value) -> Vec<String> {
    match value.unwrap_sensitive() {
        Value::List(items) => items.iter().map(joined).collect(),
        other => vec![joined(other)],
    }
}

fn joined(value: &Value) -> String {
    match value {
        Value::List(items) => items.iter().map(joined).collect::<Vec<_>>().join(" "),
        other => other.ruby_to_s(),
    }
}
