//! JSON Schema of definition files: what the loader accepts in all files, with a description of each
//! key.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::Registry;
use super::file::{declared_text, select_files};
use crate::definitions::{self, DefinitionFile};
use crate::diagnostic::{Diagnostic, Source};
use crate::document::{self, Findings, Item, ValueShape};
use crate::driver::parameter::ParameterValues;

/// The key of `platform.toml` on which its other keys depend.
const TRANSPORT: &str = "transport";

/// Files with the sections that no shipped file has.
const SAMPLES: [(&str, &str); 11] = [
    ("models/sample.toml", include_str!("schema/model.toml")),
    (
        "sample_cli/platform.toml",
        include_str!("schema/ssh_cli.toml"),
    ),
    (
        "sample_cli/sample.toml",
        include_str!("schema/ssh_cli_type.toml"),
    ),
    (
        "sample_http/platform.toml",
        include_str!("schema/ssh_http.toml"),
    ),
    (
        "sample_rest/platform.toml",
        include_str!("schema/rest.toml"),
    ),
    (
        "sample_rest/sample.toml",
        include_str!("schema/rest_type.toml"),
    ),
    (
        "models/sample_member.toml",
        include_str!("schema/member_model.toml"),
    ),
    (
        "sample_rest/sample_member.toml",
        include_str!("schema/rest_member.toml"),
    ),
    (
        "sample_rest_user/platform.toml",
        include_str!("schema/rest_user_candidate.toml"),
    ),
    (
        "sample_netconf/platform.toml",
        include_str!("schema/netconf.toml"),
    ),
    (
        "sample_netconf/sample.toml",
        include_str!("schema/netconf_type.toml"),
    ),
];

const DESCRIPTIONS: &str = include_str!("schema/descriptions.toml");

impl Registry {
    /// The JSON Schema of definition files. The built-in files and the user's are loaded, and the
    /// loader's keys, kinds of values and words are recorded.
    ///
    /// # Errors
    /// All problems of the files with their positions.
    pub fn definition_schema(own: &[DefinitionFile]) -> Result<Json, Vec<Diagnostic>> {
        let mut shipped = definitions::shipped();
        shipped.extend(SAMPLES.map(|(path, text)| DefinitionFile::new(path, text)));
        let mut files = select_files(&shipped, own);
        let [model, implementation] = [(); 2].map(|()| ValueShape::default());
        let mut platforms: BTreeMap<String, ValueShape> = BTreeMap::new();
        for (path, chosen) in &mut files {
            let shape = if path.starts_with("models/") {
                model.clone()
            } else if path.ends_with("/platform.toml") {
                let mut files = chosen.files();
                let transport = files.find_map(|file| declared_text(file, TRANSPORT));
                platforms
                    .entry(transport.unwrap_or_default())
                    .or_default()
                    .clone()
            } else {
                implementation.clone()
            };
            chosen.shape = Some(shape);
        }
        Self::from_selected(&files, &ParameterValues::new())?;
        let pointer = |name: &str| format!("#/$defs/{name}");
        let schema = |name: &str, shape: &ValueShape, section: &str| {
            let mut schema = shape.schema(&pointer(name));
            describe(&mut schema, &descriptions(section), "");
            (name.to_owned(), schema)
        };
        let mut schemas = Map::from_iter([
            schema("model", &model, "model"),
            schema("implementation", &implementation, "implementation"),
        ]);
        let platform_schemas = platforms.iter();
        schemas.extend(platform_schemas.map(|(name, shape)| schema(name, shape, "platform")));
        let of_transport = platforms.keys().map(|name| {
            json!({
                "if": {"properties": {TRANSPORT: {"const": name}}, "required": [TRANSPORT]},
                "then": {"$ref": pointer(name)},
            })
        });
        Ok(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Definitions of types and platforms",
            "if": {"required": ["platform", "type"]},
            "then": {"$ref": pointer("implementation")},
            "else": {
                "if": {"required": ["platform"]},
                "then": {
                    "properties": {TRANSPORT: {"enum": platforms.keys().collect::<Vec<_>>()}},
                    "allOf": of_transport.collect::<Vec<_>>(),
                },
                "else": {"$ref": pointer("model")},
            },
            "$defs": schemas,
        }))
    }
}

/// The descriptions of the keys of a kind of file, by path.
fn descriptions(section: &str) -> BTreeMap<String, String> {
    let findings = Findings::new(&Source::new("descriptions.toml", DESCRIPTIONS));
    document::read(&findings, |root| {
        let table = root.get(section).and_then(|item: Item<'_>| item.table());
        let entries = table.map(|table| table.entries()).unwrap_or_default();
        let texts = entries.into_iter();
        texts
            .filter_map(|(path, _, item)| Some((path, item.string()?)))
            .collect()
    })
}

/// Adds the descriptions to the keys of a schema. Names and elements have the path of their table.
fn describe(schema: &mut Json, texts: &BTreeMap<String, String>, path: &str) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    for below in ["additionalProperties", "items"] {
        if let Some(below) = schema.get_mut(below) {
            describe(below, texts, path);
        }
    }
    let properties = schema.get_mut("properties").and_then(Json::as_object_mut);
    for (key, property) in properties.into_iter().flatten() {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        if let (Some(text), Some(property)) = (texts.get(&path), property.as_object_mut()) {
            property.entry("description").or_insert_with(|| json!(text));
        }
        describe(property, texts, &path);
    }
}

#[cfg(test)]
mod tests;
