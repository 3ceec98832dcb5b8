//! Configurations of foreign devices, which are not part of this project: what is read of them is in sync, and equals
//! what a reader finds that was written from the command reference alone.
//!
//! The test searches next to the checkout, or in the directory `SWITCHTENDER_CONFIGURATIONS`, and prints a note when it
//! skips.

mod reader;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use crate::change::{Desired, Instance};
use crate::diagnostic::Severity;
use crate::driver::{Driver, Facts, NoSecretHistory, ProblemKind, Registry};
use crate::model::TypeModel;
use crate::read::{CONFIG, Reads, State};
use crate::value::Value;

/// Folders with their platforms.
const FOLDERS: [(&str, &str); 1] = [("nxos", "cisco_nxos")];

#[derive(Default)]
struct Figures {
    files: usize,
    instances: usize,
    understood: usize,
    reported: usize,
    outside: usize,
    /// Values that the other reader finds, too.
    compared: usize,
    problems: Vec<String>,
}

fn directory() -> Option<PathBuf> {
    let named = env::var_os("SWITCHTENDER_CONFIGURATIONS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/configurations");
    let directory = named.unwrap_or(beside);
    directory.is_dir().then_some(directory)
}

fn print(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn what_is_read_of_foreign_configurations_is_in_sync_and_true() {
    let Some(directory) = directory() else {
        return print("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
    };
    let registry = Registry::shipped();
    for (folder, platform) in FOLDERS {
        let driver = Driver::new(registry.platform(platform).unwrap(), &Facts::default());
        let mut figures = Figures::default();
        let entries = fs::read_dir(directory.join(folder)).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            let before = figures.problems.len();
            read(&driver, text, &mut figures);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            for problem in &mut figures.problems[before..] {
                *problem = format!("{name}: {problem}");
            }
        }
        print(&format!(
            "{platform}: {} files, {} instances; lines: {} understood, {} reported, {} outside; {} values compared",
            figures.files,
            figures.instances,
            figures.understood,
            figures.reported,
            figures.outside,
            figures.compared
        ));
        let problems = figures.problems.join("\n");
        assert!(problems.is_empty(), "{platform}:\n{problems}");
        assert!(figures.compared > 300, "{platform}: {}", figures.compared);
    }
}

fn read(driver: &Driver, text: String, figures: &mut Figures) {
    let expected = reader::values(&text);
    let reads = Reads::from_iter([(CONFIG.to_owned(), text)]);
    let state = driver.platform().parse(&reads).unwrap();
    figures.files += 1;
    for line in driver.surveyed_lines(&reads, &state) {
        if !line.not_understood.is_empty() {
            figures.reported += 1;
        } else if !line.claims.is_empty() {
            figures.understood += 1;
        } else if !line.is_generated {
            figures.outside += 1;
        }
    }
    let mut found = BTreeSet::new();
    for definition in driver.platform().type_drivers() {
        let model = &definition.model;
        for instance in driver.instances(model, &state).unwrap() {
            figures.instances += 1;
            found.extend(reader::of_instance(&model.name, &instance));
            if let Some(problem) = difference(driver, model, instance, &state) {
                figures.problems.push(problem);
            }
        }
    }
    figures.compared += expected.intersection(&found).count();
    let lacks = expected
        .difference(&found)
        .map(|one| format!("not read: {one}"));
    let more = found
        .difference(&expected)
        .map(|one| format!("not there: {one}"));
    figures.problems.extend(lacks.chain(more));
}

/// Why the values of an instance are not in sync with it, as those of a resource.
fn difference(
    driver: &Driver,
    model: &Arc<TypeModel>,
    instance: Instance,
    state: &State,
) -> Option<String> {
    if instance.not_understood.is_some() {
        return None;
    }
    let mut attributes = instance.attributes;
    if model.is_ensurable() && !attributes.contains_key("ensure") {
        attributes.insert("ensure", Value::Symbol("present".to_owned()));
    }
    let desired = Desired {
        reference: format!("{}[{:?}]", model.name, model.title_of(&attributes)).into(),
        model: Arc::clone(model),
        attributes,
    };
    let of = &desired.reference;
    let mut problems = driver.check(&desired).into_iter().filter(|problem| {
        problem.severity == Severity::Error && problem.kind != ProblemKind::Reserved
    });
    if let Some(problem) = problems.next() {
        return Some(format!("{of}: {}: {}", problem.attribute, problem.message));
    }
    let current = driver.instance(&desired, state).ok()?;
    let resolved = driver.resolve(&desired, current.as_ref(), state);
    let differs = driver.differs(&resolved, current.as_ref(), &NoSecretHistory);
    let first = differs.first()?;
    let current = current.as_ref().and_then(|one| one.attributes.get(first));
    let desired = resolved.attributes.get(first);
    Some(format!("{of}: {first}: {current:?} to {desired:?}"))
}
