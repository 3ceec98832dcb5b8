//! JSON Schema of definition files, from the declarations of the keys that the loaders read.

use serde_json::{Map, Value as Json, json};

use super::Registry;
use crate::dialogue::sections::{CliSections, NetconfSections, RestSections, SessionSections};
use crate::document::{KeyValue, ValueShape};
use crate::driver::platform::sections::{
    IdentitySections, PlatformKeys, PlatformSections, TransportSections,
};
use crate::driver::type_driver::sections::{TypeBody, TypeSections};
use crate::model::load::model_keys::{ModelKeys, ModelSections};

/// The key of `platform.toml` on which its other keys depend.
const TRANSPORT: &str = "transport";

/// Records declared keys.
type Declare = fn(&ValueShape);

/// The sections of sessions, by transport.
const TRANSPORTS: [(&str, Declare); 3] = [
    ("netconf", NetconfSections::declare),
    ("rest", RestSections::declare),
    ("ssh-cli", CliSections::declare),
];

/// The schema of all these keys together.
fn schema_of(declarations: &[Declare]) -> Json {
    let shape = ValueShape::default();
    for declare in declarations {
        declare(&shape);
    }
    shape.schema()
}

impl Registry {
    /// The JSON Schema of definition files: all keys that the loaders read, with their kinds of values
    /// and words.
    pub fn definition_schema() -> Json {
        let pointer = |name: &str| format!("#/$defs/{name}");
        let mut schemas = Map::new();
        let model = schema_of(&[ModelSections::declare, ModelKeys::declare]);
        schemas.insert("model".to_owned(), model);
        let implementation = schema_of(&[TypeSections::declare, TypeBody::declare]);
        schemas.insert("implementation".to_owned(), implementation);
        for (name, sessions) in TRANSPORTS {
            let platform = schema_of(&[
                PlatformSections::declare,
                PlatformKeys::declare,
                IdentitySections::declare,
                TransportSections::declare,
                SessionSections::declare,
                sessions,
            ]);
            schemas.insert(name.to_owned(), platform);
        }
        let transports = TRANSPORTS.map(|(name, _)| name);
        let of_transport = transports.map(|name| {
            json!({
                "if": {"properties": {TRANSPORT: {"const": name}}, "required": [TRANSPORT]},
                "then": {"$ref": pointer(name)},
            })
        });
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Definitions of types and platforms",
            "if": {"required": ["platform", "type"]},
            "then": {"$ref": pointer("implementation")},
            "else": {
                "if": {"required": ["platform"]},
                "then": {
                    "properties": {TRANSPORT: {"enum": transports}},
                    "allOf": of_transport,
                },
                "else": {"$ref": pointer("model")},
            },
            "$defs": schemas,
        })
    }
}

#[cfg(test)]
mod tests;
