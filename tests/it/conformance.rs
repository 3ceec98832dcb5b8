//! The engine does what the real Puppet 7 was recorded to do, and deviates only where it says so.
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

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use switchtender::compat::Deviations;

/// How many disagreements are shown in full.
const SHOWN: usize = 3;

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
    for (name, differences) in disagreeing.iter().take(SHOWN) {
        println!("--- {name}\n{}", diff::shown(differences));
    }
    let names: Vec<&str> = disagreeing.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.is_empty(), "disagreeing: {names:?}");
}
