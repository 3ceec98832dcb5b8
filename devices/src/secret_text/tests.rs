//! Each line of the planted secrets in `tests/fixtures/secrets`, and properties of the search.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::SecretText;
use crate::definitions;
use crate::driver::Registry;
use crate::secret::MASK;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/secrets");

/// The texts of the corpora by the name of their file: platform and kind.
fn corpora() -> BTreeMap<(String, bool), String> {
    let files = fs::read_dir(FOLDER).expect("is a folder");
    let mut corpora = BTreeMap::new();
    for file in files {
        let path = file.expect("is listed").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("has a name");
        let parts: Vec<&str> = name.split('.').collect();
        if let [platform, kind @ ("planted" | "harmless"), "txt"] = parts.as_slice() {
            let text = fs::read_to_string(&path).expect("is a text");
            let lines = text
                .lines()
                .filter(|line| !line.starts_with("!!") && !line.is_empty());
            let text = lines.collect::<Vec<_>>().join("\n");
            corpora.insert(((*platform).to_owned(), *kind == "planted"), text);
        }
    }
    corpora
}

/// The definitions with those of the examples.
fn registry() -> Registry {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/definitions");
    let files = definitions::from_directory(Path::new(examples)).expect("is a folder");
    Registry::load(&files).expect("is valid")
}

/// The rules of a platform, which is a shipped one, or one of the examples. Other corpora have the rules that
/// all platforms have.
fn rules(platform: &str, registry: &Registry) -> SecretText {
    match registry.platform(platform) {
        Some(platform) => platform.protocol().secrets().clone(),
        None => SecretText::default(),
    }
}

/// The text with its marks replaced by secrets, and the text that is expected for it.
fn plant(text: &str) -> (String, String) {
    let (mut planted, mut expected, mut rest, mut number) = (String::new(), String::new(), text, 0);
    while let Some((before, marked)) = rest.split_once('«') {
        let (secret, after) = marked.split_once('»').expect("is closed");
        number += 1;
        let made = format!("Zq{number:03}xW");
        planted += &format!("{before}{}", secret.replace('S', &made));
        expected += &format!("{before}{MASK}");
        rest = after;
    }
    (planted + rest, expected + rest)
}

#[test]
fn each_planted_secret_is_masked_and_nothing_else() {
    let registry = registry();
    let mut wrong = Vec::new();
    let mut count = 0;
    for ((platform, is_planted), text) in corpora() {
        let rules = rules(&platform, &registry);
        let (planted, expected) = plant(&text);
        assert_eq!(is_planted, planted != text, "{platform}");
        let masked = rules.apply(&planted);
        assert_eq!(
            masked.lines().count(),
            expected.lines().count(),
            "{platform}"
        );
        for (masked, expected) in masked.lines().zip(expected.lines()) {
            count += 1;
            if masked != expected {
                wrong.push(format!("{platform}: {masked}\n    expected {expected}"));
            }
        }
        let again = rules.apply(&masked);
        let changed = again
            .lines()
            .zip(masked.lines())
            .filter(|(again, masked)| again != masked);
        wrong.extend(changed.map(|(again, _)| format!("{platform}: masked again: {again}")));
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} lines:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn each_corpus_has_its_counterpart() {
    let corpora = corpora();
    for (platform, is_planted) in corpora.keys() {
        assert!(
            corpora.contains_key(&(platform.clone(), !is_planted)),
            "{platform}"
        );
    }
    for platform in Registry::shipped().platforms() {
        assert!(
            corpora.contains_key(&(platform.name.to_string(), true)),
            "{}",
            platform.name
        );
    }
    let secrets = |is_planted| {
        let text = &corpora[&("cisco_ios".to_owned(), is_planted)];
        text.lines()
            .filter(|line| is_planted == line.contains('«'))
            .count()
    };
    assert!(secrets(true) >= 100 && secrets(false) >= 100);
}
