//! JSON Schema of desired state files, made from the models.

use serde_json::{Map, Value as Json, json};
use switchtender_devices::driver::Registry;
use switchtender_devices::model::{AttributeModel, Role, RunsOn, TypeModel};

use super::merge::{NOT_DECLARED, PURGE, VARIABLES};
use crate::catalog::METAPARAMETERS;
use crate::inventory::schema as inventory;

/// The schema of a file of `--state`.
pub(crate) fn schema(registry: &Registry) -> Json {
    let models = registry
        .models()
        .filter(|model| model.runs_on != RunsOn::Host);
    let mut properties: Map<String, Json> = models
        .map(|model| (model.name.to_string(), type_schema(model)))
        .collect();
    properties.insert(
        VARIABLES.to_owned(),
        json!({"description": "Values for templates.", "type": ["object", "null"]}),
    );
    properties.insert(
        PURGE.to_owned(),
        json!({
            "description": "Types whose undeclared instances are removed.",
            "type": ["array", "null"], "items": {"type": "string"},
        }),
    );
    for name in NOT_DECLARED {
        properties.insert(
            name.to_owned(),
            json!({"description": "Printed by `resource`, ignored."}),
        );
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Desired state of devices",
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": false,
        "$defs": {
            "template": {"type": "string", "pattern": "\\{\\{|\\{%"},
            "secret": {
                "type": "object", "required": ["secret"], "additionalProperties": false,
                "properties": {"secret": inventory::secret_source()},
            },
            "metaparameter": {},
        },
    })
}

fn type_schema(model: &TypeModel) -> Json {
    let attributes = model.attributes.values();
    let attributes = attributes.filter(|attribute| attribute.role != Role::ReadOnly);
    let mut properties: Map<String, Json> = METAPARAMETERS
        .iter()
        .map(|name| ((*name).to_owned(), json!({"$ref": "#/$defs/metaparameter"})))
        .collect();
    properties.extend(attributes.map(|one| (one.name.to_string(), attribute_schema(one))));
    json!({
        "description": model.doc,
        "type": ["object", "null"],
        "additionalProperties": {
            "type": ["object", "null"],
            "properties": properties,
            "additionalProperties": false,
        },
    })
}

fn attribute_schema(attribute: &AttributeModel) -> Json {
    json!({
        "description": attribute.doc,
        "anyOf": [
            attribute.json_schema(),
            {"type": "null"},
            {"$ref": "#/$defs/template"},
            {"$ref": "#/$defs/secret"},
        ],
    })
}
