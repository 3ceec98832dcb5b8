//! Each cell of the tables of keys, with a definition.

use super::attribute_keys::{LocationForm, LocationKeys};
use super::instance_keys::{ElementForm, ElementKeys, ObjectForm, ObjectKeys};
use crate::definitions::DefinitionFile;
use crate::document::{SectionForm, SectionKeys};
use crate::driver::Registry;

const REST: &str = r#"
schema = 1
platform = "box"
transport = "rest"
rows = "items"
[connection]
port = 443
[read.list]
command = "/list"
parse = "json"
answer = { kind = "list" }
[read.file]
command = "/file"
parse = "json"
answer = { kind = "file" }
[write.file]
path = "/file"
"#;

const NETCONF: &str = include_str!("../../tests/netconf/platform.toml");

const MODEL: &str = r#"
schema = 1
type = "thing"
doc = "A thing."
ensurable = true
title = "{owner} {name}"
[attr.name]
role = "namevar"
values = [{ name = "text", pattern = '\S+' }]
[attr.owner]
role = "namevar"
values = [{ name = "text", pattern = '\S+' }]
[attr.choice]
role = "init_only"
required = true
values = ["x"]
[attr.mode]
values = ["unset", "a"]
[attr.other]
values = ["a", { name = "text", pattern = '\S+' }]
[attr.text]
sensitive = true
values = ["a", { name = "text", pattern = '\S+' }]
[attr.parts]
array = "set"
values = ["a", { name = "text", pattern = '\S+' }]
"#;

const ATTRIBUTES: [&str; 4] = ["mode", "other", "text", "parts"];

/// A definition with a key in a section, as text and the line of the key.
struct Case {
    platform: &'static str,
    sections: Vec<(String, Vec<(&'static str, &'static str)>)>,
    key: &'static str,
}

impl Case {
    /// Loads the definition; the error is where the key is refused, or all errors.
    fn load(&self) -> Result<(), Result<(), String>> {
        let mut text = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\nrank = 1\n".to_owned();
        let mut lines = Vec::new();
        for (section, keys) in &self.sections {
            text.push_str(&format!("[{section}]\n"));
            for (key, value) in keys {
                text.push_str(&format!("{key} = {value}\n"));
                lines.push((*key, text.lines().count()));
            }
        }
        let files = [
            DefinitionFile::new("models/thing.toml", MODEL),
            DefinitionFile::new("box/platform.toml", self.platform),
            DefinitionFile::new("box/thing.toml", text),
        ];
        let Err(findings) = Registry::from_files(&[], &files) else {
            return Ok(());
        };
        // A key can select another form, in which the former key has no effect.
        let is_refusal = findings.iter().any(|found| {
            let position = found
                .labels
                .first()
                .map(|label| label.source.position(label.span.start).0);
            found.code == "no-effect"
                && found.help.is_some()
                && lines.iter().any(|(key, line)| {
                    found
                        .message
                        .starts_with(&format!("`{key}` has no effect with"))
                        && position == Some(*line)
                })
        });
        let messages: Vec<String> = findings.into_iter().map(|one| one.message).collect();
        Err(if is_refusal {
            Ok(())
        } else {
            Err(format!("`{}`: {}", self.key, messages.join("; ")))
        })
    }
}

/// The sections of all attributes without those of a case.
fn unsupported(used: &[&str]) -> Vec<(String, Vec<(&'static str, &'static str)>)> {
    let others = ATTRIBUTES.iter().filter(|name| !used.contains(name));
    others
        .map(|name| {
            (
                format!("attr.{name}"),
                vec![("unsupported", "\"not here\"")],
            )
        })
        .collect()
}

/// `[kind]` for types of REST platforms, whose model has kinds.
fn kind() -> (String, Vec<(&'static str, &'static str)>) {
    let keys = vec![("attr", "\"choice\""), ("is.x", "{ when = { x = true } }")];
    ("kind".to_owned(), keys)
}

const KEY: (&str, &str) = ("key", "{ name = \"id\" }");

/// A value of a key of `[instance]`.
fn instance_sample(key: &str) -> &'static str {
    match key {
        "parent" => "{ collection = \"/owners\", key = { owner = \"id\" } }",
        "from" => "\"list\"",
        "rows" => "\"items\"",
        "answer" => "{ kind = \"things\" }",
        "optional" | "etag" => "true",
        "query" => "{ depth = \"1\" }",
        "codec" => "\"base\"",
        "name" => "{ from = \"{name}\" }",
        "object" => "\"/things/{name|percent}\"",
        "envelope" => "\"thing\"",
        "create" | "update" => "{}",
        "unset" => "\"delete\"",
        "remove" => "false",
        "reserved" => "'^x'",
        "device_owned" => "{ own = true }",
        "lookups" => "[{ path = \"/l\", default_domain = \"d\", answer = { kind = \"l\" } }]",
        "collection" => "\"/things\"",
        "singleton" => "\"x\"",
        "key" => KEY.1,
        other => panic!("no sample of `{other}`"),
    }
}

fn object_case(form: ObjectForm, key: &'static str) -> Case {
    const ANSWER: (&str, &str) = ("answer", "{ kind = \"things\" }");
    const OBJECT: (&str, &str) = ("object", "\"/things/{name|percent}\"");
    let mut keys = match form {
        ObjectForm::Collection => vec![("collection", "\"/things\""), KEY, OBJECT, ANSWER],
        ObjectForm::Singleton => vec![("collection", "\"/thing\""), ("singleton", "\"x\""), ANSWER],
        ObjectForm::Read => vec![("from", "\"list\""), KEY, OBJECT],
        ObjectForm::Document => vec![("from", "\"file\""), ("rows", "\"items\""), KEY],
    };
    if keys.iter().all(|(known, _)| *known != key) {
        keys.push((key, instance_sample(key)));
    }
    if (form, key) == (ObjectForm::Collection, "parent") {
        keys[0].1 = "\"/owners/{owner|percent}/things\"";
        keys[2].1 = "\"/owners/{owner|percent}/things/{name|percent}\"";
    }
    let mut sections = vec![("instance".to_owned(), keys)];
    sections.extend(unsupported(&[]));
    sections.push(kind());
    Case {
        platform: REST,
        sections,
        key,
    }
}

fn element_case(form: ElementForm, key: &'static str) -> Case {
    let mut keys = match form {
        ElementForm::List => vec![("collection", "\"/a:things/thing\""), KEY],
        ElementForm::Singleton => vec![("collection", "\"/a:thing\""), ("singleton", "\"x\"")],
    };
    if keys.iter().all(|(known, _)| *known != key) {
        keys.push((key, instance_sample(key)));
    }
    let mut sections = vec![("instance".to_owned(), keys)];
    sections.extend(unsupported(&[]));
    let choice = vec![("unsupported", "\"not here\"")];
    sections.push(("attr.choice".to_owned(), choice));
    Case {
        platform: NETCONF,
        sections,
        key,
    }
}

/// The attribute with a value at a location, its keys, and the sections that these need.
type Location = (
    &'static str,
    Vec<(&'static str, &'static str)>,
    Vec<(String, Vec<(&'static str, &'static str)>)>,
);

fn location(form: LocationForm) -> Location {
    const STATES: &str = "{ a = { on = true }, unset = { on = false } }";
    let leader = || {
        vec![
            ("field", "\"monitor\""),
            ("with", "[\"other\"]"),
            ("codec", "\"f5-monitor\""),
        ]
    };
    let section =
        |name: &str, keys: &[(&'static str, &'static str)]| (name.to_owned(), keys.to_vec());
    match form {
        LocationForm::Field | LocationForm::Leaf => ("mode", vec![("field", "\"mode\"")], vec![]),
        LocationForm::States | LocationForm::LeafStates => ("mode", vec![("set", STATES)], vec![]),
        LocationForm::Chosen => (
            "mode",
            vec![("by", "\"choice\""), ("field", "{ x = \"mode\" }")],
            vec![],
        ),
        LocationForm::Choice => (
            "mode",
            vec![("choice", "{ a = \"a\" }"), ("absent", "\"unset\"")],
            vec![],
        ),
        LocationForm::SharedField => (
            "mode",
            leader(),
            vec![section("attr.other", &[("inside", "\"mode\"")])],
        ),
        LocationForm::Inside => (
            "other",
            vec![("inside", "\"mode\"")],
            vec![("attr.mode".to_owned(), leader())],
        ),
        LocationForm::Members => (
            "parts",
            vec![
                ("sub", "\"parts.items\""),
                ("collection", "\"/things/{name|percent}/parts\""),
                (
                    "object",
                    "\"/things/{name|percent}/parts/{member|percent}\"",
                ),
                ("key", "\"name\""),
            ],
            vec![],
        ),
        LocationForm::Entries => (
            "other",
            vec![("entry", "\"profiles\""), ("kind", "\"http\"")],
            vec![section(
                "shared.profiles",
                &[
                    ("sub", "\"profiles.items\""),
                    ("field", "\"profiles\""),
                    ("kinds", "\"/profile/{kind}\""),
                    ("answer", "{ kind = \"{kind}\" }"),
                ],
            )],
        ),
        LocationForm::Order => (
            "other",
            vec![
                (
                    "order",
                    "{ verb = \"PUT\", after = \"/things/{name|percent}?after={other|percent}\", before = \"/things/{name|percent}?before={first|percent}\" }",
                ),
                ("absent", "\"first\""),
            ],
            vec![],
        ),
        LocationForm::LeafOrder => (
            "other",
            vec![("order", "{}"), ("absent", "\"first\"")],
            vec![],
        ),
        LocationForm::Upload => (
            "text",
            vec![
                (
                    "upload",
                    "{ path = \"/file/{name|percent}\", value = \"{name}\" }",
                ),
                ("field", "\"source\""),
                ("write_only", "true"),
            ],
            vec![],
        ),
    }
}

fn attribute_case(form: LocationForm, key: &'static str) -> Case {
    let (attribute, mut keys, further) = location(form);
    let sample = match key {
        "field" => "\"mode\"",
        "with" => "[\"other\"]",
        // A field has requests of its own for values.
        "set"
            if matches!(
                form,
                LocationForm::Field | LocationForm::Chosen | LocationForm::Choice
            ) =>
        {
            "{ a = { request = { verb = \"POST\", path = \"/a\" } } }"
        }
        "by" => "\"choice\"",
        "choice" => "{ a = \"a\", unset = \"b\" }",
        "set" | "when" => "{ a = { on = true }, unset = { on = false } }",
        "map" => "{ a = \"A\" }",
        "absent" | "none" => "\"unset\"",
        "unset" => "\"delete\"",
        "codec" => "\"base\"",
        "collection" => "\"/things\"",
        "object" => "\"/things/{member|percent}\"",
        "key" => "\"name\"",
        "split" => "\"{name}\"",
        "item" => "{ size = { field = \"size\" } }",
        "create" => "{ body = { name = \"{name}\" } }",
        "kind" => "\"http\"",
        "context" => "\"clientside\"",
        "both" => "[\"http\"]",
        "otherwise" => "{ when = { mode = [\"a\"] }, kind = \"http\", paths = [\"/Common/http\"] }",
        "kinds" => "[\"x\"]",
        "device_owned" => "{ own = true }",
        "unsupported" => "{ a = \"not here\" }",
        "alike" => "{ a = [\"A\"] }",
        "values" => "[\"a\"]",
        "create_only" | "write_only" => "true",
        other => panic!("no sample of `{other}`"),
    };
    if keys.iter().all(|(known, _)| *known != key) {
        keys.push((key, sample));
    }
    if key == "unset" && keys.iter().all(|(known, _)| *known != "absent") {
        keys.push(("absent", "\"unset\""));
    }
    let is_netconf = matches!(
        form,
        LocationForm::Leaf | LocationForm::LeafStates | LocationForm::LeafOrder
    );
    let used: Vec<&str> = further
        .iter()
        .filter_map(|(name, _)| name.strip_prefix("attr."))
        .chain([attribute])
        .collect();
    let instance = if is_netconf {
        vec![
            ("collection", "\"/a:things/thing\""),
            ("key", "{ name = \"id\" }"),
        ]
    } else {
        vec![
            ("collection", "\"/things\""),
            ("key", "{ name = \"id\" }"),
            ("object", "\"/things/{name|percent}\""),
        ]
    };
    let mut sections = vec![
        ("instance".to_owned(), instance),
        (format!("attr.{attribute}"), keys),
    ];
    sections.extend(unsupported(&used));
    sections.extend(further);
    if is_netconf {
        sections.push((
            "attr.choice".to_owned(),
            vec![("unsupported", "\"not here\"")],
        ));
    } else {
        sections.push(kind());
    }
    Case {
        platform: if is_netconf { NETCONF } else { REST },
        sections,
        key,
    }
}

/// What is wrong with a cell, if anything.
fn wrong(case: &Case, has_effect: bool, form: &dyn std::fmt::Debug) -> Option<String> {
    match (case.load(), has_effect) {
        (Ok(()), true) | (Err(Ok(())), false) => None,
        (Ok(()), false) => Some(format!("`{}` of {form:?} is accepted", case.key)),
        (Err(Ok(())), true) => Some(format!("`{}` of {form:?} is refused", case.key)),
        (Err(Err(found)), _) => Some(format!("{form:?}: {found}")),
    }
}

/// The cells of a table that are wrong.
fn wrong_cells<F: SectionForm + std::fmt::Debug>(
    keys: &SectionKeys<F>,
    selecting: &[&str],
    case: impl Fn(F, &'static str) -> Case,
) -> String {
    let mut all = Vec::new();
    for key in keys
        .keys
        .iter()
        .filter(|key| !selecting.contains(&key.name))
    {
        for (form, _) in F::FORMS {
            let has_effect = key.forms.is_empty() || key.forms.contains(form);
            all.extend(wrong(&case(*form, key.name), has_effect, form));
        }
    }
    all.join("\n")
}

#[test]
fn keys_of_objects_are_accepted_where_they_have_an_effect_and_refused_elsewhere() {
    let wrong = wrong_cells(&ObjectKeys::KEYS, &["singleton"], object_case);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn keys_of_elements_are_accepted_where_they_have_an_effect_and_refused_elsewhere() {
    let wrong = wrong_cells(&ElementKeys::KEYS, &["singleton"], element_case);
    assert!(wrong.is_empty(), "{wrong}");
}

/// The keys that put a value into a location: with them another location is that of the value.
const SELECTING: [&str; 6] = ["inside", "sub", "entry", "upload", "order", "unsupported"];

#[test]
fn keys_of_values_are_accepted_where_they_have_an_effect_and_refused_elsewhere() {
    let wrong = wrong_cells(&LocationKeys::KEYS, &SELECTING, attribute_case);
    assert!(wrong.is_empty(), "{wrong}");
}
