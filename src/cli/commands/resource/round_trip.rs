//! What `resource` prints of a device, used as its catalog, plans nothing.
//!
//! The configurations are those of foreign devices, which are not part of this project. The test
//! searches next to the checkout, or in the directory `SWITCHTENDER_CONFIGURATIONS`, and prints a
//! note when it skips.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use serde_json::Value as Json;
use switchtender_devices::change::Desired;
use switchtender_devices::diagnostic::Severity;
use switchtender_devices::driver::{Driver, NoSecretHistory, Platform, Registry};
use switchtender_devices::model::TypeModel;
use switchtender_devices::read::{ReadRequest, Reads, State};
use switchtender_devices::value::Attributes;
use switchtender_mocks::SwitchOptions;
use switchtender_mocks::cli_switch::OfflineSwitch;
use test_support::stderr_note;

use super::format::{ResourceFormat, TypeResources, render};
use crate::catalog::rich_data;
use crate::desired_state::declared::DeclaredValue;
use crate::desired_state::writer::StateWriter;
use crate::desired_state::writer::tests::expansion_differences;
use crate::fleet::declared_device::{DeclaredDevice, DeclaredSecrets};
use crate::fleet::inspect::{Inspection, TypeInstances};
use crate::fleet::manifest_resource::ManifestResource;

fn directory() -> Option<PathBuf> {
    let named = env::var_os("SWITCHTENDER_CONFIGURATIONS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures/configurations");
    let directory = named.unwrap_or(beside).join("ios");
    directory.is_dir().then_some(directory)
}

/// Resources by result.
#[derive(Default)]
struct Figures {
    printed: usize,
    /// Printed as comments: part of the device, or not understood.
    left_out: usize,
    /// Why resources would be changed or refused.
    planned: Vec<String>,
}

fn read(switch: &mut OfflineSwitch, requests: Vec<ReadRequest>) -> Reads {
    let answers = requests.into_iter().map(|request| {
        let text = switch.show(&request.command).unwrap_or_default();
        (request.name, text)
    });
    answers.collect()
}

/// The attributes of a printed resource.
fn attributes(printed: &Json) -> Attributes {
    let attributes = printed.as_object().unwrap().iter();
    attributes
        .map(|(name, value)| (name.clone(), rich_data::read(value).unwrap()))
        .collect()
}

/// What applying the resources of one type would do, as they are printed.
fn plan_type(
    driver: &Driver,
    model: &Arc<TypeModel>,
    switch: &mut OfflineSwitch,
    figures: &mut Figures,
) {
    let reads = read(switch, driver.reads(&[model]));
    let state = driver.platform().parse(&reads).unwrap();
    let instances = driver.instances(model, &state).unwrap();
    let not_understood = driver.not_understood(&[model], &state);
    for resource in ManifestResource::list(driver, model, instances, &not_understood, true) {
        figures.printed += 1;
        let title = resource.title.clone();
        if let Some(comment) = resource.comment {
            figures.left_out += 1;
            // The rules of a type permit what a device has.
            if comment.starts_with("cannot be managed") {
                figures
                    .planned
                    .push(format!("{}[{title}]: {comment}", model.name));
            }
            continue;
        }
        let types = [TypeResources::one(model, resource)];
        let json = render(ResourceFormat::Json, &types, "sw1");
        let printed: Json = serde_json::from_str(&json).unwrap();
        let printed = &printed[model.name.as_str()][title.as_str()];
        let reference = format!("{}[{title}]", model.name);
        let resolved = model
            .resolve(&title, &attributes(printed))
            .and_then(|attributes| driver.canonicalize(model, attributes));
        let desired = match resolved {
            Ok(attributes) => Desired {
                reference: reference.as_str().into(),
                model: Arc::clone(model),
                attributes,
            },
            Err(errors) => {
                figures.planned.push(format!("{reference}: {errors:?}"));
                continue;
            }
        };
        let problems = driver.check(&desired);
        let refused = problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(|problem| format!("{reference}: {}: {}", problem.attribute, problem.message));
        figures.planned.extend(refused);
        let current = driver.instance(&desired, &state).unwrap();
        let desired = driver
            .resolve(&desired, current.as_ref(), &state)
            .into_owned();
        for name in driver.differs(&desired, current.as_ref(), &NoSecretHistory) {
            let current = current
                .as_ref()
                .and_then(|current| current.attributes.get(&name));
            let desired = desired.attributes.get(&name);
            figures
                .planned
                .push(format!("{reference}: {name}: {current:?} to {desired:?}"));
        }
    }
}

fn plan(platform: &Arc<Platform>, config: String) -> Figures {
    let mut switch = OfflineSwitch::new(&SwitchOptions {
        config: Some(config),
        ..SwitchOptions::default()
    })
    .unwrap();
    let facts = platform.facts(&read(&mut switch, platform.fact_reads()));
    let driver = Driver::new(platform, &facts);
    let mut figures = Figures::default();
    for definition in platform.type_drivers() {
        if driver.supports(&definition.model).is_ok() {
            plan_type(&driver, &definition.model, &mut switch, &mut figures);
        }
    }
    figures
}

/// All types of a device.
fn inspect(platform: &Arc<Platform>, config: String) -> (Inspection, State) {
    let mut switch = OfflineSwitch::new(&SwitchOptions {
        config: Some(config),
        ..SwitchOptions::default()
    })
    .unwrap();
    let facts = platform.facts(&read(&mut switch, platform.fact_reads()));
    let driver = Driver::new(platform, &facts);
    let definitions = platform.type_drivers();
    let models: Vec<&Arc<TypeModel>> = definitions
        .map(|definition| &definition.model)
        .filter(|model| driver.supports(model).is_ok())
        .collect();
    let reads = read(&mut switch, driver.reads(&models));
    let state = platform.parse(&reads).unwrap();
    let types = models
        .iter()
        .map(|model| TypeInstances::read(&driver, model, &state).unwrap());
    let types = types.collect();
    (Inspection::of(driver, types), state)
}

/// What applying a declared resource would do, if `complete` adds the defaults.
fn plan_declared(
    driver: &Driver,
    model: &Arc<TypeModel>,
    (title, declared): (&str, Attributes),
    unmanaged: &[String],
    state: &State,
) -> Vec<String> {
    let reference = format!("{}[{title}]", model.name);
    let mut attributes = declared.clone();
    for (name, value) in driver.default_attributes(model) {
        let item = format!("{reference}.{name}");
        if !declared.contains_key(&name) && !unmanaged.contains(&item) {
            attributes.insert(name, value);
        }
    }
    for (name, value) in model.names(title) {
        if !attributes.contains_key(&name) {
            attributes.insert(name, value);
        }
    }
    model.without_conflicts(&mut attributes);
    let resolved = model
        .resolve(title, &attributes)
        .and_then(|attributes| driver.canonicalize(model, attributes));
    let desired = match resolved {
        Ok(attributes) => Desired {
            reference: reference.as_str().into(),
            model: Arc::clone(model),
            attributes,
        },
        Err(errors) => return vec![format!("{reference}: {errors:?}")],
    };
    let current = driver.instance(&desired, state).unwrap();
    let desired = driver
        .resolve(&desired, current.as_ref(), state)
        .into_owned();
    let differs = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
    let texts = driver.not_understood(&[model], state);
    let unread = current
        .as_ref()
        .map(|current| driver.unread_attributes(&desired, current, &texts));
    let unread = unread.into_iter().flatten();
    let changes = differs.into_iter().chain(unread).map(|name| {
        let current = current.as_ref().and_then(|one| one.attributes.get(&name));
        let desired = desired.attributes.get(&name);
        format!("{reference}: {name}: {current:?} to {desired:?}")
    });
    changes.collect()
}

/// What a compact file has: lines, and what applying it would do.
fn compact(registry: &Registry, config: String) -> (usize, Vec<String>) {
    let platform = registry.platform("cisco_ios").unwrap();
    let (mut inspection, state) = inspect(platform, config);
    let driver = inspection.driver.clone();
    let models: Vec<Arc<TypeModel>> = inspection
        .types
        .iter()
        .map(|found| Arc::clone(&found.model))
        .collect();
    inspection.leave_out(false);
    let device = DeclaredDevice::new(inspection, DeclaredSecrets::Included);
    let mut planned = Vec::new();
    for (type_name, resources) in &device.state.types {
        let model = models
            .iter()
            .find(|model| model.name == *type_name)
            .unwrap();
        for (title, attributes) in resources {
            let values = attributes.iter().map(|(name, value)| match value {
                Some(DeclaredValue::Value(value)) => (name.clone(), value.clone()),
                other => panic!("{name}: {other:?}"),
            });
            planned.extend(plan_declared(
                &driver,
                model,
                (title, values.collect()),
                &device.unmanaged,
                &state,
            ));
        }
    }
    let state = device.state.clone();
    let text = StateWriter::new(&models).text(&device.file());
    let differences = expansion_differences(&text, registry, &state);
    planned.extend(
        differences
            .into_iter()
            .map(|one| format!("expansion: {one}")),
    );
    if let Some(directory) = env::var_os("SWITCHTENDER_WRITTEN") {
        let number = fs::read_dir(&directory).unwrap().count();
        fs::write(Path::new(&directory).join(format!("{number}.yaml")), &text).unwrap();
    }
    (
        text.lines().filter(|line| !line.is_empty()).count(),
        planned,
    )
}

/// The lines of a configuration that say something.
fn configuration_lines(config: &str) -> usize {
    let lines = config.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('!'))
        .count()
}

#[test]
fn printed_resources_of_foreign_configurations_plan_nothing() {
    let Some(directory) = directory() else {
        stderr_note::print("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
        return;
    };
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    let files: BTreeMap<String, PathBuf> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                path,
            )
        })
        .collect();
    assert!(!files.is_empty(), "{}", directory.display());
    let (mut printed, mut left_out, mut planned) = (0, 0, Vec::new());
    let (mut all_lines, mut all_written, mut longer) = (0, 0, Vec::new());
    for (name, path) in &files {
        let config = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let lines = configuration_lines(&config);
        let (written, changes) = compact(&registry, config.clone());
        all_lines += lines;
        all_written += written;
        if written > lines {
            longer.push(format!("{name}: {written} lines for {lines}"));
        }
        planned.extend(
            changes
                .iter()
                .map(|line| format!("{name}: compact: {line}")),
        );
        let figures = plan(platform, config);
        printed += figures.printed;
        left_out += figures.left_out;
        planned.extend(figures.planned.iter().map(|line| format!("{name}: {line}")));
    }
    stderr_note::print(&format!(
        "{} configurations: {printed} resources, {left_out} as comments, {} planned",
        files.len(),
        planned.len()
    ));
    stderr_note::print(&format!(
        "compact: {all_written} lines for {all_lines} of configurations ({:.2}); longer than the configuration: {}",
        all_written as f64 / all_lines as f64,
        longer.join(", ")
    ));
    assert!(planned.is_empty(), "{}", planned.join("\n"));
    assert!(all_written < all_lines, "{all_written} of {all_lines}");
}
