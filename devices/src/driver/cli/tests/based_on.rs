//! A user's platform that is based on another one.

use super::{files, render_all};
use crate::definitions::DefinitionFile;
use crate::driver::Registry;

const MODEL: &str = "[attr.name]\nrole = \"namevar\"\n[attr.mode]\nvalues = [\"a\", \"b\"]\n";

const IMPLEMENTATION: &str = r#"
[instance]
from = "config"
block = "x {name}"
[attr.mode]
line = "mode {mode}"
[[test]]
name = "reads"
given.config = "x n\n mode a"
expect = [{ name = "n", mode = "a" }]
"#;

const PLATFORM: &str = "schema = 1\nplatform = \"crate\"\nbased_on = \"box\"\n";

fn load(own: &[(&str, &str)]) -> Result<Registry, String> {
    let own: Vec<DefinitionFile> = own
        .iter()
        .map(|(path, text)| DefinitionFile::new(*path, *text))
        .collect();
    Registry::from_files(&files(MODEL, IMPLEMENTATION), &own)
        .map_err(|findings| render_all(&findings))
}

/// Of each test: definition, name, whether it is the user's, failure.
fn results(registry: &Registry) -> Vec<(String, String, bool, Option<String>)> {
    let results = registry.test(None).into_iter();
    results
        .map(|result| (result.definition, result.name, result.own, result.failure))
        .collect()
}

#[test]
fn platform_takes_over_keys_types_and_tests_of_another() {
    let text = format!("{PLATFORM}aliases = [\"case\"]\n[mode.exec]\nprompt = '\\S+>'\n");
    let registry = load(&[("crate/platform.toml", &text)]).unwrap();
    let platform = registry.platform_by_alias("case").unwrap();
    assert_eq!(platform.name, "crate");
    let reads: Vec<&str> = platform.reads.keys().map(String::as_str).collect();
    assert_eq!(reads, ["config", "objects"]);
    assert_eq!(
        results(&registry),
        [
            ("box/thing".into(), "reads".into(), false, None),
            ("crate/thing".into(), "reads".into(), false, None)
        ]
    );
}

#[test]
fn aliases_of_the_other_platform_are_not_taken_over() {
    let shipped = files(MODEL, IMPLEMENTATION).into_iter().map(|file| {
        let text = file
            .source
            .text
            .replace("transport", "aliases = [\"tin\"]\ntransport");
        DefinitionFile::new(file.path, text)
    });
    let shipped: Vec<DefinitionFile> = shipped.collect();
    let own = [DefinitionFile::new(
        "aaa/platform.toml",
        PLATFORM.replace("crate", "aaa"),
    )];
    let registry = Registry::from_files(&shipped, &own).unwrap();
    assert_eq!(registry.platform_by_alias("tin").unwrap().name, "box");
}

#[test]
fn type_of_a_platform_can_extend_that_of_the_other() {
    let own = r#"
schema = 1
platform = "crate"
type = "thing"
extends = "base"
[attr.mode]
line = ["kind {mode}", "mode {mode}"]
[[test]]
name = "sends"
given.config = "x n"
want = { name = "n", mode = "b" }
commands = ["x n", " kind b"]
"#;
    let registry = load(&[("crate/platform.toml", PLATFORM), ("crate/thing.toml", own)]).unwrap();
    assert_eq!(
        results(&registry),
        [
            ("box/thing".into(), "reads".into(), false, None),
            ("crate/thing".into(), "sends".into(), true, None),
            ("crate/thing".into(), "reads".into(), false, None)
        ]
    );
}

#[test]
fn tests_of_the_other_platform_show_what_a_change_breaks() {
    let own = "extends = \"base\"\n[attr.mode]\nline = \"kind {mode}\"\n";
    let registry = load(&[("crate/platform.toml", PLATFORM), ("crate/thing.toml", own)]).unwrap();
    let failed = results(&registry);
    let failed = failed.iter().filter(|(.., failure)| failure.is_some());
    let failed: Vec<_> = failed.map(|(definition, ..)| definition.as_str()).collect();
    assert_eq!(failed, ["crate/thing"]);
}

#[test]
fn types_can_be_left_out_and_platforms_be_based_on_a_users() {
    let without = format!("{PLATFORM}without = [\"thing\"]\n");
    let next = PLATFORM.replace("crate", "next").replace("box", "crate");
    let types = |platform: &str, text: &str| {
        let registry = load(&[("crate/platform.toml", text), ("next/platform.toml", &next)]);
        let registry = registry.unwrap();
        registry.platform(platform).unwrap().types.len()
    };
    assert_eq!((types("crate", PLATFORM), types("next", PLATFORM)), (1, 1));
    assert_eq!((types("crate", &without), types("next", &without)), (0, 0));
}

#[test]
fn unusable_bases_are_errors() {
    let other = |base: &str| PLATFORM.replace("\"box\"", &format!("\"{base}\""));
    let cases = [
        (
            vec![("crate/platform.toml", other("bos"))],
            "unknown platform `bos` (did you mean `box`?)",
        ),
        (
            vec![("crate/platform.toml", other("crate"))],
            "`crate` is based on itself (name another platform)",
        ),
        (
            vec![
                ("crate/platform.toml", other("next")),
                (
                    "next/platform.toml",
                    other("crate").replacen("crate", "next", 1),
                ),
            ],
            "`next` is based on itself (name another platform)",
        ),
        (
            vec![(
                "crate/platform.toml",
                format!("{PLATFORM}without = [\"thong\"]\n"),
            )],
            "`box` has no type `thong` (did you mean `thing`?)",
        ),
        (
            vec![("box/thing.toml", "extends = \"base\"\n".to_owned())],
            "the platform is not based on one that has thing",
        ),
        (
            vec![(
                "crate/platform.toml",
                "schema = 1\nbased_on = \"box\"\n".to_owned(),
            )],
            "the file name does not match the platform `box`",
        ),
    ];
    for (own, expected) in cases {
        let own: Vec<_> = own
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        let message = load(&own).unwrap_err();
        assert_eq!(message.lines().next(), Some(expected), "{message}");
    }
}
