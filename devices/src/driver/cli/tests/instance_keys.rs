//! Each cell of the table of keys of `[instance]`, with a definition.

use super::{files, render_all};
use crate::document::SectionForm;
use crate::driver::Registry;
use crate::driver::cli::load::instance_keys::{InstanceForm, InstanceKeys};

const MODEL: &str = r#"
ensurable = true
[attr.name]
role = "namevar"
values = [{ name = "text", pattern = '\S+' }]
[attr.mode]
values = ["unset", "a", "b"]
"#;

/// The keys that select a form, and the read, which every form has.
const SELECTING: [&str; 7] = [
    "from",
    "singleton",
    "key",
    "block",
    "prefix",
    "named",
    "line",
];

type Keys = Vec<(&'static str, &'static str)>;

/// The keys that select a form of instances, and those of `[attr.mode]`.
fn form_keys(form: InstanceForm) -> (Keys, &'static str) {
    const LINE: &str = "line = \"mode {mode}\"";
    match form {
        InstanceForm::Singleton => (
            vec![("from", "\"config\""), ("singleton", "\"default\"")],
            LINE,
        ),
        InstanceForm::Row => (
            vec![
                ("from", "\"objects\""),
                ("rows", "\"list\""),
                ("key", "{ name = \"Name\" }"),
                ("enter", "\"x {name}\""),
            ],
            "field = \"Mode\"\nline = \"mode {mode}\"",
        ),
        InstanceForm::Block => (
            vec![("from", "\"config\""), ("block", "\"x {name}\"")],
            LINE,
        ),
        InstanceForm::Prefix => (
            vec![("from", "\"config\""), ("prefix", "\"x {name}\"")],
            LINE,
        ),
        InstanceForm::NamedLines => (
            vec![
                ("from", "\"config\""),
                ("named", "true"),
                ("create", "\"create {name}\""),
                ("remove", "\"delete {name}\""),
            ],
            "line = \"x {name} mode {mode}\"",
        ),
        InstanceForm::Line => (
            vec![
                ("from", "\"config\""),
                ("block", "\"list\""),
                ("line", "\"x {name} {mode}\""),
            ],
            "",
        ),
    }
}

/// A valid value of a key.
fn sample(key: &str) -> &'static str {
    match key {
        "rows" => "\"list\"",
        "headings" => "\"names\"",
        "enter" | "mode" => "\"x {name}\"",
        "create" => "\"create {name}\"",
        "remove" => "\"no x {name}\"",
        "remove_empty" => "\"no list\"",
        "needs" => "\"feature x\"",
        "only" | "permanent" => "{ name = 'a' }",
        "reserved" => "{ attr = \"name\", ranges = \"1\" }",
        "always" | "prompts" => "true",
        "warn" => "\"{name} goes down\"",
        "codec" => "{ name = \"lower\" }",
        "keep_unmanaged" => "false",
        "replace" => "\"remove-first\"",
        "assume" => "{ mode = \"a\" }",
        "other_lines" => "\"other {*}\"",
        other => panic!("no sample of `{other}`"),
    }
}

fn loaded(form: InstanceForm, key: &'static str) -> Result<(), String> {
    let (mut keys, attribute) = form_keys(form);
    if matches!(key, "create" | "mode") {
        // `enter` creates instances, too.
        keys.retain(|(known, _)| *known != "enter");
    }
    if key == "create" && form == InstanceForm::Row {
        keys.push(("mode", "\"x {name}\""));
    }
    if keys.iter().all(|(known, _)| *known != key) {
        keys.push((key, sample(key)));
    }
    let keys: Vec<String> = keys
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    let text = format!(
        "[instance]\n{}\n[attr.mode]\n{attribute}\n",
        keys.join("\n")
    );
    match Registry::from_files(&[], &files(MODEL, &text)) {
        Ok(_) => Ok(()),
        Err(findings) => Err(render_all(&findings)),
    }
}

#[test]
fn instance_keys_are_accepted_where_they_have_an_effect_and_refused_elsewhere() {
    let mut wrong = Vec::new();
    for declared in InstanceKeys::KEYS.keys {
        let key = declared.name;
        if SELECTING.contains(&key) {
            continue;
        }
        for &(form, _) in InstanceForm::FORMS {
            let has_effect = declared.forms.is_empty() || declared.forms.contains(&form);
            match loaded(form, key) {
                Ok(()) if has_effect => {}
                Err(found) if !has_effect && found.contains(&format!("`{key}` has no effect")) => {}
                found => wrong.push(format!("{key} of {form:?}: {found:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
