//! A user's files that extend shipped ones.

use std::sync::Arc;

use super::{files, render_all};
use crate::change::Desired;
use crate::definitions::DefinitionFile;
use crate::diagnostic::Severity;
use crate::driver::{Driver, Facts, Registry};
use crate::value::{Attributes, Value};

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

/// The user's model has one attribute more.
fn model_with_size() -> DefinitionFile {
    let text =
        "extends = \"shipped\"\n[attr.size]\nvalues = [{ name = \"size\", integer = [1, 9] }]\n";
    DefinitionFile::new("models/thing.toml", text)
}

fn load(own: &[DefinitionFile]) -> Registry {
    Registry::from_files(&files(MODEL, IMPLEMENTATION), own)
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)))
}

#[test]
fn model_extends_the_shipped_one_and_platforms_lack_its_new_attributes() {
    platforms_lack_the_new_attribute(model_with_size());
}

#[test]
fn complete_copy_of_a_model_may_have_new_attributes() {
    let text = "[attr.size]\nvalues = [{ name = \"size\", integer = [1, 9] }]\n";
    let copy = files(&format!("{MODEL}{text}"), IMPLEMENTATION).swap_remove(0);
    assert_eq!(copy.path, "models/thing.toml");
    platforms_lack_the_new_attribute(copy);
}

#[track_caller]
fn platforms_lack_the_new_attribute(own: DefinitionFile) {
    let registry = load(&[own]);
    let model = registry.model("thing").unwrap();
    assert_eq!(model.doc, "x");
    let names: Vec<&str> = model.attributes.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["name", "mode", "size"]);

    let failures: Vec<_> = registry
        .test(None)
        .into_iter()
        .map(|result| result.failure)
        .collect();
    assert_eq!(failures, [None]);

    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let supplied: Attributes = [("name", Value::from("n")), ("size", 7.into())]
        .into_iter()
        .collect();
    let problems = driver.check(&Desired {
        reference: "Thing[n]".into(),
        model: Arc::clone(model),
        attributes: model.resolve("", &supplied).unwrap(),
    });
    let problems: Vec<_> = problems
        .iter()
        .map(|problem| {
            (
                problem.attribute.as_str(),
                problem.severity,
                problem.message.as_str(),
            )
        })
        .collect();
    let message = "is ignored on box: the definition of box lacks it";
    assert_eq!(problems, [("size", Severity::Warning, message)]);
}

#[test]
fn tests_of_an_extended_file_run_beside_the_users() {
    let own = r#"
schema = 1
platform = "box"
type = "thing"
extends = "shipped"
[attr.size]
line = "size {size}"
absent = 1
[[test]]
name = "reads the size"
given.config = "x n\n mode b\n size 3"
expect = [{ name = "n", mode = "b", size = 3 }]
"#;
    let registry = load(&[
        model_with_size(),
        DefinitionFile::new("box/thing.toml", own),
    ]);
    let results: Vec<_> = registry
        .test(None)
        .into_iter()
        .map(|result| (result.name, result.own, result.failure))
        .collect();
    assert_eq!(
        results,
        [
            ("reads the size".to_owned(), true, None),
            ("reads".to_owned(), false, None)
        ]
    );
}

#[test]
fn platform_extends_the_shipped_one() {
    let text = "extends = \"shipped\"\n[read.version]\ncommand = \"show version\"\nparse = \"text\"\nexpect = 'Version'\n";
    let registry = load(&[DefinitionFile::new("box/platform.toml", text)]);
    let platform = registry.platform("box").unwrap();
    let reads: Vec<&str> = platform.reads.keys().map(String::as_str).collect();
    assert_eq!(reads, ["config", "objects", "version"]);
    assert!(platform.has_type("thing"));
}

#[test]
fn file_without_a_shipped_one_cannot_extend() {
    let text = "extends = \"shipped\"\n[attr.size]\n";
    let own = [DefinitionFile::new("models/other.toml", text)];
    let findings = Registry::from_files(&files(MODEL, IMPLEMENTATION), &own).unwrap_err();
    let text = render_all(&findings);
    assert!(
        text.contains("no built-in file with this name exists"),
        "{text}"
    );
}

/// A platform and its type, in directories of their own, that extend those of `box`.
fn derived(platform: &str, implementation: &str) -> Vec<DefinitionFile> {
    let head = "schema = 1\nplatform = \"crate\"\nextends = \"box\"\n";
    vec![
        DefinitionFile::new("crate/platform.toml", format!("{head}{platform}")),
        DefinitionFile::new(
            "crate/thing.toml",
            format!("{head}type = \"thing\"\n{implementation}"),
        ),
    ]
}

#[test]
fn platform_and_type_extend_those_of_another_platform() {
    let own = derived(
        "line_limit = 80\n",
        "[attr.mode]\nline = \"kind {mode}\"\n[[test]]\nname = \"own\"\ngiven.config = \"x n\\n kind b\"\nexpect = [{ name = \"n\", mode = \"b\" }]\n",
    );
    let registry = load(&own);
    let platform = registry.platform("crate").unwrap();
    assert_eq!(platform.line_limit, 80);
    assert!(platform.reads.contains_key("config"));
    // The tests of the other platform have its lines; the files do not change it.
    let results: Vec<_> = registry
        .test(None)
        .into_iter()
        .map(|result| (result.definition, result.name, result.failure))
        .collect();
    let row = |definition: &str, name: &str| (definition.to_owned(), name.to_owned(), None);
    assert_eq!(results, [row("crate/thing", "own")]);
}

#[test]
fn aliases_and_mock_of_another_platform_are_its_own() {
    let mut shipped = files(MODEL, IMPLEMENTATION);
    let platform = &shipped[1].source.text;
    shipped[1] = DefinitionFile::new(
        "box/platform.toml",
        format!("aliases = [\"carton\"]\nmock = \"switch\"\n{platform}"),
    );
    let registry = Registry::from_files(&shipped, &derived("", ""))
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let platform = registry.platform("crate").unwrap();
    assert_eq!(
        (platform.aliases.as_slice(), platform.mock),
        (&[][..], None)
    );
    assert_eq!(registry.platform_by_alias("carton").unwrap().name, "box");
}

#[test]
fn files_cannot_extend_each_other_or_a_missing_one() {
    let platform = |name: &str, base: &str| {
        let text = format!("schema = 1\nplatform = \"{name}\"\nextends = \"{base}\"\n");
        DefinitionFile::new(format!("{name}/platform.toml"), text)
    };
    for own in [
        vec![platform("a", "b"), platform("b", "a")],
        vec![platform("a", "a")],
        vec![platform("a", "missing")],
    ] {
        let findings = Registry::from_files(&files(MODEL, IMPLEMENTATION), &own).unwrap_err();
        let text = render_all(&findings);
        assert!(text.contains("/platform.toml to extend"), "{text}");
    }
}

#[test]
fn definition_of_a_user_changes_only_its_keys() {
    let model = "[attr.name]\nrole = \"namevar\"\n[attr.mode]\nvalues = [\"a\", \"b\"]\n";
    let shipped = files(
        model,
        "rank = 7\n[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n",
    );
    let own = |text: &str| {
        let header = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\n";
        vec![DefinitionFile::new(
            "box/thing.toml",
            format!("{header}{text}"),
        )]
    };
    let changed = own(
        "extends = \"shipped\"\n[attr.mode]\nline = \"kind {mode}\"\n[[test]]\nname = \"t\"\nwant = { name = \"n\", mode = \"a\" }\ncommands = [\"x n\", \" kind a\"]\n",
    );
    let registry = Registry::from_files(&shipped, &changed)
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let platform = registry.platform("box").unwrap();
    assert_eq!(platform.type_driver("thing").unwrap().rank, 7);
    assert_eq!(registry.test(None)[0].failure, None);
    let findings =
        Registry::from_files(&shipped, &own("[attr.mode]\nline = \"kind {mode}\"\n")).unwrap_err();
    assert!(
        render_all(&findings).contains("key `instance` is missing"),
        "{}",
        render_all(&findings)
    );
}
