//! Cases of merging and expansion: files of a device, and its state or the findings.
//!
//! A case begins with `=== NAME`. `--- SCOPE` begins a file: `common`, `platform`, `label KEY` (with the number of its
//! key in `label_order`, `label KEY 1`) or `device`. After `--- state` stands what `state show` prints, with the
//! scopes as names of files; after `--- findings` each error and warning with file, line and help.

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::{Driver, Facts, Registry};

use super::document;
use super::expand::view::Views;
use super::merge::merge;
use super::merged_state::MergedState;
use super::state_directory::{StateFile, StateScope};
use super::state_entry::StateEntry;

mod properties;

const CASES: [(&str, &str); 5] = [
    ("merge", include_str!("tests/merge.txt")),
    ("range", include_str!("tests/range.txt")),
    ("view", include_str!("tests/view.txt")),
    ("profile", include_str!("tests/profile.txt")),
    ("complete", include_str!("tests/complete.txt")),
];

/// The parts of a case: the name of each with its text.
fn parts(case: &str) -> Vec<(&str, String)> {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in case.lines() {
        match (line.strip_prefix("--- "), parts.last_mut()) {
            (Some(name), _) => parts.push((name, String::new())),
            (None, Some((_, text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    for (_, text) in &mut parts {
        text.truncate(text.trim_end_matches('\n').len());
        if !text.is_empty() {
            text.push('\n');
        }
    }
    parts
}

fn scope(name: &str) -> StateScope {
    let words: Vec<&str> = name.split(' ').collect();
    match words.as_slice() {
        ["common"] => StateScope::Common,
        ["platform"] => StateScope::Platform,
        ["device"] => StateScope::Device,
        ["label", key, position @ ..] => StateScope::Label {
            position: position.first().map(|number| number.parse().unwrap()),
            key: (*key).to_owned(),
        },
        _ => panic!("unknown scope {name}"),
    }
}

/// The state of files: the name of a scope with its text.
pub(super) fn merged(files: &[(&str, String)], registry: &Registry) -> MergedState {
    let files = files.iter().map(|(name, text)| {
        let source = Source::new(*name, text.as_str());
        let document::YamlDocument { entries, repeated } =
            document::parse(&source).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
        let file = StateFile {
            source,
            entries,
            repeated,
        };
        (scope(name), Arc::new(file))
    });
    let layers: Vec<_> = files.collect();
    merge(&layers, &Views::new(registry, "cisco_ios"))
}

fn line_of(found: &Diagnostic) -> String {
    let labels = found.labels.iter();
    let places: Vec<String> = labels
        .map(|label| {
            let line = label.source.position(label.span.start).0;
            format!("{}:{line}", label.source.name)
        })
        .collect();
    let help = found.help.as_deref().unwrap_or("no help");
    format!(
        "{} {}: {}\n    {help}\n",
        places.join(" "),
        found.code,
        found.message
    )
}

#[test]
fn files_become_the_expected_state_or_findings() {
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    let driver = Driver::new(platform, &Facts::default());
    let mut wrong = Vec::new();
    for (file, text) in CASES {
        for case in text.split("=== ").skip(1) {
            let name = case.lines().next().unwrap_or_default();
            let all = parts(case);
            let is_file = |name: &str| !["state", "findings"].contains(&name);
            let expected = |kind: &str| {
                let found = all.iter().find(|(name, _)| *name == kind);
                found.map(|(_, text)| text.clone())
            };
            let files: Vec<(&str, String)> = all
                .iter()
                .filter(|(name, _)| is_file(name))
                .cloned()
                .collect();
            let state = merged(&files, &registry).with_defaults(&driver, &registry);
            let unused = StateEntry::unused(state.entries.iter());
            let findings = state.errors.iter().chain(&state.warnings).chain(&unused);
            let findings: String = findings.map(line_of).collect();
            let expected_findings = expected("findings").unwrap_or_default();
            if findings != expected_findings {
                wrong.push(format!("{file}: {name}: findings\n{findings}"));
            }
            if let Some(expected) = expected("state") {
                let rendered = state.render(None, &registry);
                if rendered != expected {
                    wrong.push(format!("{file}: {name}: state\n{rendered}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
