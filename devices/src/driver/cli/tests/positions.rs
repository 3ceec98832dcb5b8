//! Each cell of the table of keys and positions, with a definition.

use std::fmt::Write as _;

use super::{files, render_all};
use crate::document::SectionForm;
use crate::driver::Registry;
use crate::driver::cli::load::attribute_keys::{AttributeKeys, Position};

const MODEL: &str = r#"
[attr.name]
role = "namevar"
values = [{ name = "text", pattern = '\S+' }]
[attr.lead]
values = ["unset", "l"]
[attr.mode]
values = ["unset", "a", "b", true, false]
"#;

/// The keys that put a value into a position: with them another position is that of the value.
const SELECTING: [&str; 7] = [
    "column",
    "field",
    "body",
    "exists",
    "elsewhere",
    "inside",
    "order",
];

/// The keys of `[instance]`, and those of `[attr.mode]` that put the value into a position.
fn position_keys(position: Position) -> (&'static str, Vec<(&'static str, &'static str)>) {
    const BLOCK: &str = "from = \"config\"\nblock = \"x {name}\"";
    match position {
        Position::OwnLine => (BLOCK, vec![("line", "\"mode {mode}\"")]),
        Position::InstanceLine => ("from = \"config\"\nline = \"x {name} {mode}\"", vec![]),
        Position::Cell => (
            "from = \"objects\"\nrows = \"list\"\nkey = { name = \"Name\" }\nenter = \"x {name}\"",
            vec![("field", "\"Mode\""), ("line", "\"mode {mode}\"")],
        ),
        Position::Text => (BLOCK, vec![("body", "{ after = \"mode text\" }")]),
        Position::Exists => (
            BLOCK,
            vec![("exists", "[\"mode\"]"), ("set", "{ a = \"mode on\" }")],
        ),
        Position::OtherBlock => (
            BLOCK,
            vec![
                ("elsewhere", "\"interface {member}\""),
                ("line", "\"group {name}\""),
            ],
        ),
        Position::InnerBlock => (BLOCK, vec![("sub", "\"inner\"")]),
        Position::SharedLine => (BLOCK, vec![("inside", "\"lead\"")]),
        Position::Order => (
            BLOCK,
            vec![(
                "order",
                "{ after = \"move {name} after {mode}\", before = \"move {name} before {first}\" }",
            )],
        ),
    }
}

/// A valid value of a key.
fn sample(key: &str) -> &'static str {
    match key {
        "line" => "\"mode {mode}\"",
        "set" => "{ a = \"mode on\" }",
        "follows" => "[\"mode {mode}\"]",
        "needs" => "\"feature x\"",
        "more" => "\"mode add {mode}\"",
        "less" => "\"mode remove {mode}\"",
        "many" | "prompts" => "true",
        "no" => "\"no mode\"",
        "identity" => "'mode'",
        "replace" => "\"remove-first\"",
        "skip" | "first" | "last" | "values" => "[\"a\"]",
        "with" | "clears" => "[\"lead\"]",
        "sub" => "\"inner\"",
        "else" => "{ from = \"objects\", key = \"Name\", column = \"Mode\" }",
        "adds" => "{ a = [\"other a\"] }",
        "when" => "{ a = '^a' }",
        "pattern" => "'(a)'",
        "compatible" => "[[\"a\", \"b\"]]",
        "codec" => "\"lower\"",
        "map" => "{ a = \"on\" }",
        "alike" => "{ unset = [\"a\"] }",
        "absent" | "implied" => "false",
        "printed" => "\"always\"",
        "at_most" => "4",
        "warn" => "\"the mode changes\"",
        "write_only" => "\"hashed\"",
        "ignored" | "unsupported" | "refused" => "\"not here\"",
        "misleading" => "{ reason = \"the mode changes\" }",
        "no_effect" => "{ lead = [\"l\"] }",
        other => panic!("no sample of `{other}`"),
    }
}

/// The codes of the findings of a definition with a key at a position.
fn findings(position: Position, key: &str) -> Result<(), String> {
    let (instance, mut keys) = position_keys(position);
    match keys.iter_mut().find(|(known, _)| *known == key) {
        Some(_) => {}
        None => keys.push((key, sample(key))),
    }
    let is_list = key == "implied" && position == Position::OwnLine;
    if key == "printed" {
        keys.push(("absent", "\"a\""));
    }
    if key == "identity" || is_list {
        keys.push(("many", "true"));
    }
    if matches!(key, "more" | "less") {
        let other = if key == "more" { "less" } else { "more" };
        keys.extend([(other, sample(other)), ("codec", "\"vlans\"")]);
    }
    let with = if key == "with" {
        "inside = \"mode\""
    } else {
        ""
    };
    let lead = match position {
        Position::SharedLine => "line = \"lead {lead} {mode}\"\nwith = [\"mode\"]",
        _ if key == "with" => with,
        _ => "unsupported = \"not here\"",
    };
    let mut text = format!("[instance]\n{instance}\n[attr.lead]\n{lead}\n[attr.mode]\n");
    for (key, value) in keys {
        let _ = writeln!(text, "{key} = {value}");
    }
    // Only secrets are remembered.
    let model = match key {
        "write_only" => MODEL.replacen("[attr.mode]", "[attr.mode]\nsensitive = true", 1),
        _ => MODEL.to_owned(),
    };
    match Registry::from_files(&[], &files(&model, &text)) {
        Ok(_) => Ok(()),
        Err(findings) => Err(render_all(&findings)),
    }
}

#[test]
fn keys_are_accepted_where_they_have_an_effect_and_refused_elsewhere() {
    let mut wrong = Vec::new();
    for declared in AttributeKeys::KEYS.keys {
        let key = declared.name;
        if SELECTING.contains(&key) {
            continue;
        }
        for &(position, _) in Position::FORMS {
            // A line for a value that is an inner block makes it a value in the line.
            if position == Position::InnerBlock && matches!(key, "line" | "set") {
                continue;
            }
            let has_effect = declared.forms.is_empty() || declared.forms.contains(&position);
            match findings(position, key) {
                Ok(()) if has_effect => {}
                Err(found) if !has_effect && found.contains("no effect") => {}
                Err(found) if !has_effect && found.contains("has lines of its own") => {}
                found => wrong.push(format!("{key} at {position:?}: {found:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
