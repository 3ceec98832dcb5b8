//! Models of the recorded output of the program. `tests/it/model_import.rs` compares the record with the
//! program's output for the same files.

use super::{DescriptionError, ImportedModel, import};
use crate::diagnostic::Source;
use crate::model::load::load;
use crate::model::{ArrayKind, Role, RunsOn, Style, TypeModel};

const TYPES: &str = include_str!("../../../../tests/fixtures/model_import/types.json");

/// What the file of a type became.
fn outcome(name: &str) -> Result<ImportedModel, String> {
    let files = import(TYPES).unwrap();
    let mut files = files.into_iter();
    let end = format!("/{name}.rb");
    files.find(|one| one.file.ends_with(&end)).unwrap().outcome
}

fn imported(name: &str) -> (TypeModel, Vec<String>) {
    let found = outcome(name).unwrap();
    let model = load(&Source::new("m.toml", found.text.as_str()));
    let model = model.unwrap_or_else(|errors| panic!("{errors:#?}\n{}", found.text));
    assert_eq!(found.name, name);
    assert!(found.text.starts_with(&format!("# Made from {name}.rb.\n")));
    (model, found.left_out)
}

#[test]
fn resource_api_import_reports_omitted_parts() {
    let (model, left_out) = imported("site_route");
    assert_eq!(
        left_out,
        [
            "validate",
            "title_patterns: a pattern has more than names and literal text",
            "seen: `Hash` is treated as any value",
        ]
    );
    assert_eq!(model.name, "site_route");
    assert_eq!(model.doc, "This type keeps a route.");
    assert_eq!(
        (model.runs_on, model.style),
        (RunsOn::Device, Style::ResourceApi)
    );
    let names: Vec<&str> = model.attributes.keys().map(|name| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "ensure", "prefix", "next_hop", "vrf", "metric", "tags", "secret", "seen", "kind"
        ]
    );
    assert_eq!(model.titles[0].text, "{prefix} via {next_hop}");
    assert_eq!(model.relations.len(), 1);
    let targets: Vec<&str> = model.references().map(|one| one.target.as_str()).collect();
    assert_eq!(targets, ["site_vrf"]);
    assert_eq!(model.attributes["prefix"].doc, "The \"prefix\"");
    assert_eq!(model.attributes["metric"].doc, "How far it is");
    assert!(model.attributes["metric"].required);
    assert!(!model.attributes["vrf"].required);
    assert!(model.attributes["secret"].sensitive);
    assert_eq!(model.attributes["seen"].role, Role::ReadOnly);
    assert_eq!(
        model.attributes["tags"].default,
        Some(vec!["a", "b"].into())
    );
    // Its values are computed in the file.
    assert_eq!(model.attributes["kind"].values.len(), 2);
}

#[test]
fn classic_import_has_names_attributes_and_apply_to() {
    let (model, left_out) = imported("site_port");
    assert_eq!(
        (model.runs_on, model.style),
        (RunsOn::Device, Style::Classic)
    );
    assert_eq!(model.doc, "A port of the site.");
    let names: Vec<_> = model.attributes.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["ensure", "id", "force", "speed", "vlans"]);
    assert_eq!(model.namevars().collect::<Vec<_>>(), ["id"]);
    assert_eq!(model.attributes["force"].role, Role::Parameter);
    assert_eq!(model.attributes["speed"].doc, "Speed of the port.");
    assert_eq!(model.attributes["speed"].values.len(), 2);
    assert_eq!(model.attributes["vlans"].array, Some(ArrayKind::List));
    assert_eq!(
        left_out,
        [
            "autorequire",
            "speed: the default",
            "vlans: values that are not names",
            "vlans: the conversion",
        ]
    );
}

#[test]
fn import_adds_a_namevar_to_a_type_without_one() {
    let (model, _) = imported("site_cron");
    assert_eq!(model.namevars().collect::<Vec<_>>(), ["name"]);
    assert_eq!(model.runs_on, RunsOn::Host);
}

#[test]
fn import_rejects_other_files_with_a_reason() {
    for (name, expected) in [
        ("site_helper", "the file declares no type site_helper"),
        ("site_broken", "uninitialized constant TYPE"),
        ("site_unfinished", "line 3: syntax error"),
    ] {
        let error = outcome(name).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn import_rejects_other_texts_and_versions() {
    for text in [
        "",
        "[]",
        "{}",
        r#"{"version": 1, "types": [{"file": "x"}]}"#,
    ] {
        let error = import(text).unwrap_err();
        assert!(matches!(error, DescriptionError::Invalid(_)), "{text}");
    }
    let error = import(r#"{"version": 2, "types": 7}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it has version 2, and this program reads version 1"
    );
}
