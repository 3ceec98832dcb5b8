//! Findings and tests of complete directories of definitions.

use super::Registry;
use crate::definitions::DefinitionFile;
use crate::diagnostic::Diagnostic;

const PLATFORM: &str = r#"
schema = 1
platform = "box"
transport = "ssh-cli"
[connection]
read_mode = "exec"
config_mode = "config"
[mode.exec]
prompt = '(?<name>\w+)#'
to.config = { send = "configure" }
[mode.config]
prompt = '(?<name>\w+)\(config\)#'
to.exec = { send = "end" }
[read.config]
command = "show running-config"
parse = "indent"
expect = '^box '
[error]
warning = ['^% Warning']
command = ['^%']
[fact.release]
from = "config"
pattern = '(?m)^box (\S+)'
"#;

const MODEL: &str = "schema = 1\ntype = \"thing\"\ndoc = \"x\"\n[attr.name]\nrole = \"namevar\"\n\
                     [attr.mode]\nvalues = [\"a\", \"b\"]\n";

const TYPE: &str = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\n[instance]\nfrom = \"config\"\n\
                    block = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n";

fn files(platform: &str, implementation: &str) -> Vec<DefinitionFile> {
    vec![
        DefinitionFile::new("box/platform.toml", platform),
        DefinitionFile::new("box/thing.toml", implementation),
        DefinitionFile::new("models/thing.toml", MODEL),
    ]
}

fn messages(findings: &[Diagnostic]) -> Vec<&str> {
    findings
        .iter()
        .map(|found| found.message.as_str())
        .collect()
}

#[test]
fn broken_platform_causes_no_findings_in_its_types() {
    let platform = PLATFORM.replace("'^box '", "'^box ('");
    let findings = Registry::from_files(&[], &files(&platform, TYPE)).unwrap_err();
    assert_eq!(
        messages(&findings),
        ["`read.config.expect` is not a valid pattern: unclosed group"]
    );
    let mut broken = files(PLATFORM, TYPE);
    broken[2] = DefinitionFile::new("models/thing.toml", MODEL.replace("values", "valeus"));
    let findings = Registry::from_files(&[], &broken).unwrap_err();
    assert_eq!(messages(&findings), ["unknown key `valeus` in [attr.mode]"]);
}

#[test]
fn prompt_that_two_modes_recognize_is_an_error() {
    let check = |platform: &str| {
        let registry =
            Registry::from_files(&[], &[DefinitionFile::new("box/platform.toml", platform)]);
        registry.unwrap().check()
    };
    assert_eq!(check(PLATFORM), []);
    let wide = PLATFORM.replace(r"'(?<name>\w+)#'", r"'(?<name>\S+)#'");
    let findings = check(&wide);
    assert_eq!(
        messages(&findings),
        ["the modes `config` and `exec` have the same prompt `a(config)#`"]
    );
    let label = &findings[0].labels[0];
    assert_eq!(label.source.position(label.span.start).0, 9);
    let excluded = wide.replace("to.config", "unless = [\"(config)\"]\nto.config");
    assert_eq!(check(&excluded), []);
}

#[test]
fn platform_without_a_mode_for_lines_is_an_error() {
    let without = PLATFORM.replace("config_mode = \"config\"\n", "");
    let registry = Registry::from_files(&[], &files(&without, TYPE)).unwrap();
    assert!(
        messages(&registry.check())
            .contains(&"[connection] has no `config_mode`, and types send lines")
    );
}

#[test]
fn tests_of_a_platform_check_prompts_messages_and_facts() {
    let tests = r#"
[[test]]
name = "prompt"
prompt = "sw1(config)#"
mode = "config"
[[test]]
name = "other mode"
prompt = "sw1#"
mode = "config"
[[test]]
name = "refusal"
output = "% Invalid"
class = "command"
[[test]]
name = "no class"
output = "Done"
class = "command"
[[test]]
name = "facts"
given.config = "box 7.1"
facts = { release = "7.1" }
[[test]]
name = "other facts"
given.config = "box 7.1"
facts = { release = "7.2" }
"#;
    let platform = format!("{PLATFORM}{tests}");
    let registry = Registry::from_files(&[], &[DefinitionFile::new("box/platform.toml", platform)]);
    let results = registry.unwrap().test(None);
    let failures: Vec<Option<&str>> = results.iter().map(|one| one.failure.as_deref()).collect();
    assert_eq!(
        failures,
        [
            None,
            Some("expected:\n  config\nfound:\n  exec"),
            None,
            Some("expected:\n  command\nfound:\n  none"),
            None,
            Some("expected:\n  release = 7.2\nfound:\n  release = 7.1"),
        ]
    );
    assert!(
        results
            .iter()
            .all(|one| one.own && one.definition == "box/platform")
    );
}

#[test]
fn test_that_fails_is_not_missing() {
    let tests = "[[test]]\nname = \"reads\"\ngiven.confg = \"\"\nexpect = []\n\
                 [[test]]\nname = \"changes\"\ngiven.confg = \"\"\nwant = { name = \"n\" }\ncommands = [\"x\"]\n\
                 [[test]]\nname = \"again\"\nwant = { name = \"n\" }\ncommands = []\n";
    let registry = Registry::from_files(&[], &files(PLATFORM, &format!("{TYPE}{tests}")));
    let registry = registry.unwrap();
    assert!(registry.test(None).iter().any(|one| one.failure.is_some()));
    assert_eq!(messages(&registry.check()), [""; 0]);
}

/// What cannot be right in files of desired state is refused when the definitions are loaded.
#[test]
fn views_have_one_type_for_each_location_and_no_reserved_names() {
    const BASE: &str = "view = \"interface\"\n";
    const PORT: &str = "view = \"interface\"\nsection = \"port\"\n";
    let cases = [
        (("thing", BASE), ("other", PORT), ""),
        (
            ("thing", BASE),
            ("other", BASE),
            "box: other and thing are both the flat type of the view `interface`",
        ),
        (
            ("thing", PORT),
            ("other", PORT),
            "box: other and thing have the section `port` of the view `interface`",
        ),
        (
            ("thing", BASE),
            ("other", "view = \"interface\"\nsection = \"mode\"\n"),
            "box: the section `mode` of other is an attribute of thing",
        ),
        (
            ("interface", BASE),
            ("other", PORT),
            "`interface` is a view, no type can have its name",
        ),
        (
            ("thing", ""),
            ("profiles", ""),
            "`profiles` is a key of desired state, no type can have this name",
        ),
        (
            ("thing", "view = \"purge\"\n"),
            ("other", ""),
            "`purge` has another meaning in desired state",
        ),
        (
            ("thing", "view = \"interface\"\nsection = \"require\"\n"),
            ("other", ""),
            "`require` has another meaning in desired state",
        ),
        (
            ("thing", "section = \"port\"\n"),
            ("other", ""),
            "`section` requires `view`",
        ),
        (
            ("thing", "view = \"Interface\"\n"),
            ("other", ""),
            "`Interface` is not a word of small letters, digits and `_`",
        ),
    ];
    for ((first, first_keys), (second, second_keys), expected) in cases {
        let mut files = vec![DefinitionFile::new("box/platform.toml", PLATFORM)];
        for (name, keys) in [(first, first_keys), (second, second_keys)] {
            let model = MODEL.replace("\"thing\"", &format!("\"{name}\""));
            let model = model.replace("[attr.name]", &format!("{keys}[attr.name]"));
            files.push(DefinitionFile::new(format!("models/{name}.toml"), model));
            let implementation = TYPE.replace("\"thing\"", &format!("\"{name}\""));
            let implementation = implementation.replace("x {name}", &format!("{name} {{name}}"));
            files.push(DefinitionFile::new(
                format!("box/{name}.toml"),
                implementation,
            ));
        }
        let loaded = Registry::from_files(&[], &files);
        let found = loaded.map_or_else(|found| messages(&found).join("\n"), |_| String::new());
        assert_eq!(found, expected, "{first} {second}");
    }
}

#[test]
fn attributes_have_a_version_and_are_not_the_names_of_profiles() {
    let cases = [
        (
            "[attr.use]\nvalues = [true]\n",
            "`use` has the names of profiles in desired state, no attribute can have this name",
        ),
        ("since = \"new\"\n", "the value is no version"),
        ("since = \"0.3\"\n", ""),
    ];
    for (keys, expected) in cases {
        let files = [DefinitionFile::new(
            "models/thing.toml",
            format!("{MODEL}{keys}"),
        )];
        let loaded = Registry::from_files(&[], &files);
        let found = loaded.map_or_else(|found| messages(&found).join("\n"), |_| String::new());
        assert_eq!(found, expected, "{keys}");
    }
}
