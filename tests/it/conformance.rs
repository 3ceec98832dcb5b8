//! The engine behaves as the recorded Puppet 7, except for the declared deviations.
//!
//! The cases are in `tests/fixtures/conformance/cases`; `SWITCHTENDER_CONFORMANCE=DIR` plays the files
//! of another directory.

mod case;
mod declared;
mod diff;
mod provider;
mod random;
mod types;
mod unrecorded;
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use switchtender::compat::{Deviation, Deviations, TABLE};

/// How many disagreements are shown in full.
const MAX_PRINTED: usize = 3;

/// The recorded cases, by their names. A directory in `SWITCHTENDER_CONFORMANCE` replaces them.
fn cases() -> Vec<Json> {
    let other = std::env::var_os("SWITCHTENDER_CONFORMANCE").map(PathBuf::from);
    let dir = other.clone().unwrap_or_else(recorded);
    let mut files: Vec<_> = fs::read_dir(&dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let least = if other.is_some() { 1 } else { 400 };
    assert!(
        files.len() >= least,
        "only {} cases in {}",
        files.len(),
        dir.display()
    );
    files.iter().map(|path| read(path)).collect()
}

/// The recorded case of this name.
fn recorded_case(name: &str) -> Json {
    read(&recorded().join(format!("{name}.json")))
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/conformance/cases")
}

fn read(path: &Path) -> Json {
    let read = || serde_json::from_slice(&fs::read(path)?).map_err(std::io::Error::from);
    read().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The recorded runs, without what an engine need not have.
fn expected(case: &Json) -> Vec<Json> {
    let mut runs = case["expected"]["runs"].as_array().cloned().unwrap();
    for run in &mut runs {
        let run = run.as_object_mut().unwrap();
        if let Some(Json::Array(evaluated)) = run.get_mut("evaluated") {
            evaluated.retain(|name| !name.as_str().unwrap().starts_with("Whit["));
        }
        for status in run["resources"].as_object_mut().unwrap().values_mut() {
            status
                .as_object_mut()
                .unwrap()
                .shift_remove("provider_used");
        }
    }
    runs
}

fn name(case: &Json) -> &str {
    case["name"].as_str().unwrap_or("?")
}

/// The cases that differ from Puppet by default, each with the deviations that cause it.
const DEVIATING: &str = "tests/fixtures/conformance/deviating_cases.txt";

#[test]
fn recorded_cases_differ_by_default_only_by_declared_deviations() {
    if std::env::var_os("SWITCHTENDER_CONFORMANCE").is_some() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DEVIATING);
    let is_update = std::env::var_os("UPDATE_DOCS").is_some();
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    let recorded: BTreeMap<&str, &str> = recorded
        .lines()
        .filter_map(|line| line.split_once(": "))
        .collect();
    let mut found = BTreeMap::new();
    for case in &cases() {
        let expected = expected(case);
        let agrees = |deviations| diff::of(&expected, &case::play(case, deviations)).is_empty();
        let name = name(case).to_owned();
        if agrees(Deviations::default()) {
            assert!(is_update || !recorded.contains_key(&*name), "{name} agrees");
        } else if is_update {
            found.insert(name, names_of(&causes(agrees)));
        } else {
            let causes = recorded.get(&*name).unwrap_or_else(|| {
                panic!("{name} differs from Puppet by default, and {DEVIATING} has no cause")
            });
            let rows = TABLE.iter().map(|row| row.deviation);
            let without: Deviations = rows
                .filter(|deviation| {
                    !causes
                        .split(", ")
                        .any(|cause| cause == format!("{deviation:?}"))
                })
                .collect();
            assert!(agrees(without), "{name} differs without {causes}, too");
        }
    }
    if is_update {
        let text: String = found
            .iter()
            .map(|(name, causes)| format!("{name}: {causes}\n"))
            .collect();
        fs::write(&path, text).unwrap();
    }
}

/// The deviations without which a case agrees. Each one is needed.
fn causes(agrees: impl Fn(Deviations) -> bool) -> Vec<Deviation> {
    let mut applied = Deviations::puppet7();
    let mut causes = Vec::new();
    for row in &TABLE {
        let more = applied.with(row.deviation);
        if agrees(more) {
            applied = more;
        } else {
            causes.push(row.deviation);
        }
    }
    causes
}

fn names_of(deviations: &[Deviation]) -> String {
    let names: Vec<String> = deviations.iter().map(|one| format!("{one:?}")).collect();
    names.join(", ")
}

#[test]
fn recorded_cases_agree_without_deviations() {
    let cases = cases();
    let mut disagreeing = Vec::new();
    for case in &cases {
        let played = case::play(case, Deviations::puppet7());
        let differences = diff::of(&expected(case), &played);
        if !differences.is_empty() {
            disagreeing.push((name(case).to_owned(), differences));
        }
    }
    println!(
        "puppet7: {} of {} cases agree",
        cases.len() - disagreeing.len(),
        cases.len()
    );
    for (name, differences) in disagreeing.iter().take(MAX_PRINTED) {
        println!("--- {name}\n{}", diff::render(differences));
    }
    let names: Vec<&str> = disagreeing.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.is_empty(), "disagreeing: {names:?}");
}
