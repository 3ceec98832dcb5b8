//! `docs/reference/definition-keys.md`: all keys of definition files, from their JSON Schema and the
//! declarations of their forms.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Registry;
use crate::dialogue::rest_rules::{RestCandidateKeys, TokenKeys};
use crate::driver::cli::load::attribute_keys::AttributeKeys;
use crate::driver::cli::load::defaults::ElseKeys;
use crate::driver::cli::load::instance_keys::InstanceKeys;
use crate::driver::codec::CodecKeys;
use crate::driver::command::load::CommandKeys;
use crate::driver::read_rule::ReadKeys;
use crate::driver::rest::load::attribute_keys::LocationKeys;
use crate::driver::rest::load::instance_keys::{ElementKeys, ObjectKeys};

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

/// The keys by kind of file.
#[derive(Default)]
struct ReferenceFiles {
    models: Sections,
    types: Sections,
    platforms: Sections,
    transports: BTreeSet<String>,
}

impl ReferenceFiles {
    /// All keys of the schema.
    fn of_schema() -> Self {
        let schema = Registry::definition_schema();
        let mut files = Self::default();
        for (kind, schema) in schema["$defs"].as_object().into_iter().flatten() {
            let sections = match kind.as_str() {
                "model" => &mut files.models,
                "implementation" => &mut files.types,
                transport => {
                    files.transports.insert(transport.to_owned());
                    &mut files.platforms
                }
            };
            collect(schema, "", kind, sections);
        }
        files
    }

    /// The kinds of files with their sections.
    fn parts(&self) -> [(&'static str, &Sections); 3] {
        [
            ("Models", &self.models),
            ("Types of a platform", &self.types),
            ("Platforms", &self.platforms),
        ]
    }
}

impl Registry {
    /// All keys of definition files in Markdown.
    pub fn definition_reference() -> String {
        let files = ReferenceFiles::of_schema();
        let sections = files.parts().into_iter();
        let keys = sections.flat_map(|(_, sections)| sections.values());
        let names: BTreeSet<&String> = keys.flat_map(BTreeMap::keys).collect();
        let mut page = format!("{INTRODUCTION}There are {} names of keys.\n", names.len());
        for (title, sections) in files.parts() {
            let transports = match title {
                "Platforms" => files.transports.clone(),
                _ => BTreeSet::new(),
            };
            page.push_str(&render(title, sections, &transports));
        }
        page
    }
}

/// A key of definition files with its meaning in each section that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionKey {
    /// Its name.
    pub name: String,
    /// The kind of file and the section, with the meaning.
    pub meanings: Vec<(String, String)>,
}

impl DefinitionKey {
    /// The key that a code of findings names: `write-only` is that of `write_only`.
    pub fn find(code: &str) -> Option<Self> {
        let name = code.replace('-', "_");
        let mut meanings = Vec::new();
        for (title, sections) in ReferenceFiles::of_schema().parts() {
            for (path, keys) in sections {
                if let Some(row) = keys.get(&name) {
                    let section = match path.as_str() {
                        "" => title.to_owned(),
                        path => format!("{title}, [{path}]"),
                    };
                    meanings.push((section, row.meaning.clone()));
                }
            }
        }
        (!meanings.is_empty()).then_some(Self { name, meanings })
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
        page.push_str(&form_tables(path));
    }
    page
}

/// Where the keys of a section have an effect.
fn form_tables(path: &str) -> String {
    let tables = match path {
        "instance" => vec![
            ("instances of command lines", InstanceKeys::KEYS.markdown()),
            ("objects of a REST interface", ObjectKeys::KEYS.markdown()),
            ("elements of NETCONF", ElementKeys::KEYS.markdown()),
        ],
        "attr.NAME" => vec![
            ("values of command lines", AttributeKeys::KEYS.markdown()),
            ("values of REST and NETCONF", LocationKeys::KEYS.markdown()),
        ],
        "attr.NAME.else" => vec![("these locations", ElseKeys::KEYS.markdown())],
        "command" => vec![("commands of", CommandKeys::KEYS.markdown())],
        "read.NAME" => vec![("reads with", ReadKeys::KEYS.markdown())],
        "codec.NAME" => vec![("formats with", CodecKeys::KEYS.markdown())],
        "connection.token" => vec![("tokens from", TokenKeys::KEYS.markdown())],
        "candidate" => vec![("REST, with", RestCandidateKeys::KEYS.markdown())],
        _ => return String::new(),
    };
    let mut text = "\nA key has an effect for these, and is an error for others.\n".to_owned();
    for (what, table) in tables {
        text.push_str(&format!("\nFor {what}:\n\n{table}"));
    }
    text
}
