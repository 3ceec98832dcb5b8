//! `docs/reference/definition-keys.md`: all keys of definition files, from their JSON Schema and the
//! declarations of their forms.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Registry;
use crate::diagnostic::Diagnostic;
use crate::driver::{cli, rest};

/// The keys of one kind of file, by the path of their section.
type Sections = BTreeMap<String, BTreeMap<String, ReferenceRow>>;

/// A key in the reference.
#[derive(Default)]
struct ReferenceRow {
    kinds: BTreeSet<String>,
    meaning: String,
    /// The transports of platforms that have the key.
    transports: BTreeSet<String>,
}

const INTRODUCTION: &str = "\
# Keys of definition files

Generated from the declarations of the loaders; `switchtender schema definitions` prints the same as JSON Schema.
[The tutorial](../platform-tutorial.md) explains the keys of most platforms, [Definitions](../definitions.md) how they work together.
An unknown key, and a key without an effect, is an error.
";

impl Registry {
    /// All keys of definition files in Markdown.
    ///
    /// # Errors
    /// All problems of the shipped files with their positions.
    pub fn definition_reference() -> Result<String, Vec<Diagnostic>> {
        let schema = Self::definition_schema(&[])?;
        let mut models = Sections::new();
        let mut types = Sections::new();
        let mut platforms = Sections::new();
        let kinds = schema["$defs"].as_object().into_iter().flatten();
        let mut names = BTreeSet::new();
        let mut transports = BTreeSet::new();
        for (kind, schema) in kinds {
            let sections = match kind.as_str() {
                "model" => &mut models,
                "implementation" => &mut types,
                transport => {
                    transports.insert(transport.to_owned());
                    &mut platforms
                }
            };
            collect(schema, "", kind, sections);
        }
        for sections in [&models, &types, &platforms] {
            names.extend(sections.values().flat_map(BTreeMap::keys).cloned());
        }
        let mut page = format!("{INTRODUCTION}There are {} names of keys.\n", names.len());
        page.push_str(&render("Models", &models, &BTreeSet::new()));
        page.push_str(&render("Types of a platform", &types, &BTreeSet::new()));
        page.push_str(&render("Platforms", &platforms, &transports));
        Ok(page)
    }
}

/// Adds the keys of a section, and of the sections in it.
fn collect(schema: &Json, path: &str, transport: &str, sections: &mut Sections) {
    let properties = schema.get("properties").and_then(Json::as_object);
    for (key, value) in properties.into_iter().flatten() {
        let row = sections.entry(path.to_owned()).or_default();
        let row = row.entry(key.clone()).or_default();
        row.kinds.extend(kinds(value));
        row.transports.insert(transport.to_owned());
        if let Some(text) = value.get("description").and_then(Json::as_str) {
            text.clone_into(&mut row.meaning);
        }
        let below = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        collect(value, &below, transport, sections);
        if let Some(items) = value.get("items") {
            collect(items, &below, transport, sections);
        }
        if let Some(named) = value.get("additionalProperties") {
            collect(named, &format!("{below}.NAME"), transport, sections);
        }
    }
}

/// The kinds of values of a key.
fn kinds(schema: &Json) -> Vec<String> {
    let words = schema.get("anyOf").and_then(Json::as_array);
    let words = words.into_iter().flatten();
    let words = words.filter_map(|one| one.get("enum")?.as_array());
    let words: Vec<String> = words.flatten().map(|word| format!("`{word}`")).collect();
    let types = match schema.get("type") {
        Some(Json::String(one)) => vec![one.as_str()],
        Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    let types = types.into_iter().filter_map(|kind| match kind {
        "string" if !words.is_empty() => None,
        "string" => Some("text"),
        "boolean" => Some("`true`, `false`"),
        "integer" => Some("number"),
        "array" => Some("list"),
        _ => Some("table"),
    });
    let mut kinds: Vec<String> = types.map(str::to_owned).collect();
    kinds.extend(words);
    if kinds.is_empty() {
        kinds.push("value".to_owned());
    }
    kinds
}

/// The sections of a kind of file. `transports` are all transports of platforms.
fn render(title: &str, sections: &Sections, transports: &BTreeSet<String>) -> String {
    let mut page = format!("\n## {title}\n");
    for (path, keys) in sections {
        page.push_str(&match path.as_str() {
            "" => "\n### Top of the file\n".to_owned(),
            path => format!("\n### `[{path}]`\n"),
        });
        page.push_str("\n| key | value | meaning |\n|---|---|---|\n");
        for (key, row) in keys {
            let kinds: Vec<&str> = row.kinds.iter().map(String::as_str).collect();
            let all = transports.is_empty() || row.transports == *transports;
            let only: Vec<&str> = row.transports.iter().map(String::as_str).collect();
            let only = if all {
                String::new()
            } else {
                format!(" ({})", only.join(", "))
            };
            let meaning = row.meaning.replace('|', "\\|");
            page.push_str(&format!(
                "| `{key}` | {} | {meaning}{only} |\n",
                kinds.join(", ")
            ));
        }
        if title.starts_with("Types") {
            page.push_str(&form_tables(path));
        }
    }
    page
}

/// Where the keys of a section have an effect.
fn form_tables(path: &str) -> String {
    let (what, command_line, rest) = match path {
        "instance" => (
            "instances",
            cli::load::instance_keys::InstanceKeys::KEYS.markdown(),
            rest::load::instance_keys::ObjectKeys::KEYS.markdown(),
        ),
        "attr.NAME" => (
            "values",
            cli::load::attribute_keys::AttributeKeys::KEYS.markdown(),
            rest::load::attribute_keys::LocationKeys::KEYS.markdown(),
        ),
        _ => return String::new(),
    };
    format!(
        "\nA key has an effect for these {what} of command lines, and is an error for others:\n\n{command_line}\n\
         In REST and NETCONF:\n\n{rest}"
    )
}
