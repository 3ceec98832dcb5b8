//! Every draft loads without an error and passes its own tests.

use std::collections::BTreeMap;

use switchtender_mutation::sample::has_case;

use super::{DraftError, draft_platform, draft_type};
use crate::definitions::{DefinitionFile, shipped_texts};
use crate::diagnostic::{Diagnostic, Severity};
use crate::driver::Registry;

/// The longest configuration in the self-tests of each type with a command line.
fn samples() -> BTreeMap<&'static str, String> {
    let registry = Registry::shipped();
    let mut samples = BTreeMap::new();
    for (path, text) in shipped_texts() {
        let (platform, _) = path.split_once('/').unwrap();
        if !registry
            .platform(platform)
            .is_some_and(|one| one.has_outline())
        {
            continue;
        }
        let table: toml::Table = text.parse().unwrap();
        let tests = table.get("test").and_then(toml::Value::as_array);
        let texts = tests.into_iter().flatten().filter_map(|test| {
            let text = test.get("given")?.get("config")?.as_str()?;
            Some(text.to_owned())
        });
        if let Some(longest) = texts.max_by_key(String::len) {
            samples.insert(*path, longest);
        }
    }
    samples
}

/// The lines of a configuration with a common first word, with the lines below them.
fn groups(text: &str) -> BTreeMap<&str, String> {
    let mut groups: BTreeMap<&str, String> = BTreeMap::new();
    let mut first = "";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with([' ', '\t']) {
            first = line.split(' ').next().unwrap_or_default();
        }
        let group = groups.entry(first).or_default();
        group.push_str(line);
        group.push('\n');
    }
    groups
}

#[track_caller]
fn passes(files: &[DefinitionFile], sample: &str) -> Registry {
    let render = |findings: &[Diagnostic]| -> String {
        let errors = findings
            .iter()
            .filter(|one| one.severity == Severity::Error);
        errors.map(|one| format!("{}\n", one.message)).collect()
    };
    let texts = || -> String { files.iter().map(|file| file.source.text.as_str()).collect() };
    let registry = Registry::load(files)
        .unwrap_or_else(|found| panic!("{sample}\n{}\n{}", texts(), render(&found)));
    let errors = render(&registry.check());
    assert_eq!(errors, "", "{sample}\n{}", texts());
    for result in registry.test(None) {
        let failure = result.failure.unwrap_or_default();
        assert_eq!(failure, "", "{}: {sample}\n{}", result.name, texts());
    }
    registry
}

#[test]
fn drafts_pass_their_own_tests() {
    let (mut drafted, mut refused) = (0, 0);
    for (number, (path, sample)) in samples().into_iter().enumerate() {
        if !has_case(number) {
            continue;
        }
        let platform =
            draft_platform("box", &sample).unwrap_or_else(|error| panic!("{path}: {error}"));
        let registry = passes(&platform.files, &sample);
        let of_platform = registry.platform("box").unwrap();
        for lines in groups(&sample).values() {
            let draft = match draft_type(&platform.files, of_platform, "box_sample", None, lines) {
                Ok(draft) => draft,
                Err(DraftError::NoPattern | DraftError::Empty) => continue,
                Err(DraftError::Contradiction) => {
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("{path}: {error}\n{lines}"),
            };
            passes(&[platform.files.as_slice(), &draft.files].concat(), lines);
            drafted += 1;
        }
    }
    // Few samples have no draft that passes.
    assert!(
        drafted > 20 && refused * 10 < drafted,
        "{drafted} {refused}"
    );
}

/// The draft of a type from lines, as text of its implementation, and what its author must decide.
fn drafted(lines: &str) -> (String, Vec<String>) {
    let platform = draft_platform("box", "hostname x\n").unwrap();
    let registry = passes(&platform.files, "");
    let of_platform = registry.platform("box").unwrap();
    let draft = draft_type(&platform.files, of_platform, "box_sample", None, lines).unwrap();
    passes(&[platform.files.as_slice(), &draft.files].concat(), lines);
    let text = draft.files.last().unwrap().source.text.clone();
    (text, draft.guesses)
}

#[test]
fn type_draft_has_no_lines_that_end_blocks() {
    let (text, _) = drafted(
        "router a1\n metric 3\n address-family ipv4\n exit-address-family\n!\n exit\nrouter b2\n metric 4\n!\n end-router\nend\n",
    );
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("line = "))
        .collect();
    assert_eq!(
        lines,
        [
            "line = \"metric {metric}\"",
            "line = \"address-family {address_family}\""
        ]
    );
}

/// Any line of `file` is one of `file config-changes`, too.
#[test]
fn type_draft_leaves_out_lines_that_contradict_others() {
    let (text, guesses) = drafted(
        "system a1\n file Messages any notice\n file config-changes change-log info\nsystem b2\n file Messages any error\n",
    );
    let note = "the lines `file config-changes change-log …`, which contradict others";
    assert!(text.contains(&format!("# CHECK: {note}")), "{text}");
    assert!(
        guesses.iter().any(|guess| guess.ends_with(note)),
        "{guesses:?}"
    );
}
