//! JSON Schema of definition files: what the loader accepts in all files.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::Registry;
use super::file::{declared_text, select_files};
use crate::definitions::{self, DefinitionFile};
use crate::diagnostic::Diagnostic;
use crate::document::ValueShape;

/// The key of `platform.toml` on which its other keys depend.
const TRANSPORT: &str = "transport";

impl Registry {
    /// The JSON Schema of definition files. The built-in files and the user's are loaded, and the
    /// loader's keys, kinds of values and words are recorded.
    ///
    /// # Errors
    /// All problems of the files with their positions.
    pub fn definition_schema(own: &[DefinitionFile]) -> Result<Json, Vec<Diagnostic>> {
        let shipped = definitions::shipped();
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
        Self::from_selected(&files)?;
        let pointer = |name: &str| format!("#/$defs/{name}");
        let schema =
            |name: &str, shape: &ValueShape| (name.to_owned(), shape.schema(&pointer(name)));
        let mut schemas = Map::from_iter([
            schema("model", &model),
            schema("implementation", &implementation),
        ]);
        schemas.extend(platforms.iter().map(|(name, shape)| schema(name, shape)));
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
