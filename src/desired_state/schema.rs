//! JSON Schema of desired state files, made from the models.

use serde_json::{Map, Value as Json, json};
use switchtender_devices::driver::Registry;
use switchtender_devices::model::view::METAPARAMETERS;
use switchtender_devices::model::{AttributeModel, Role, RunsOn, TypeModel};

use super::merge::{NOT_DECLARED, PURGE, VARIABLES};
use crate::catalog::Level;
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
    let mut secret = inventory::secret_source();
    secret["description"] = "The source of the secret.".into();
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
                "properties": {"secret": secret},
            },
            "metaparameter": metaparameters(),
        },
    })
}

/// The metaparameters with their meaning. Relations and lists can be one text.
fn metaparameters() -> Json {
    let texts = json!({"anyOf": [
        {"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"},
    ]});
    let levels: Vec<&str> = Level::names().collect();
    let one = |name: &str| {
        let (doc, schema) = match name {
            "noop" => (
                "Report changes of this resource without making them.",
                json!({"enum": [true, false, "true", "false", null]}),
            ),
            "schedule" => ("The schedule in which the resource is applied.", json!({})),
            "audit" => (
                "Attributes whose changes are reported, or `all`.",
                texts.clone(),
            ),
            "loglevel" => (
                "The level of messages about changes.",
                json!({"enum": levels}),
            ),
            "alias" => ("Other titles of the resource.", texts.clone()),
            "tag" => ("Further tags, for --tags and --skip-tags.", texts.clone()),
            "require" => (
                "Resources that come before this one: `Network_vlan[10]`.",
                texts.clone(),
            ),
            "subscribe" => (
                "Resources before this one, whose changes refresh it.",
                texts.clone(),
            ),
            "before" => ("Resources that come after this one.", texts.clone()),
            "notify" => (
                "Resources after this one, which its changes refresh.",
                texts.clone(),
            ),
            "stage" => ("The run stage; only classes have one.", json!({})),
            _ => (
                "The kind of the resource, for types with several.",
                json!({}),
            ),
        };
        let mut schema = schema;
        schema["description"] = doc.into();
        (name.to_owned(), schema)
    };
    let all: Map<String, Json> = METAPARAMETERS.iter().map(|name| one(name)).collect();
    all.into()
}

fn type_schema(model: &TypeModel) -> Json {
    let attributes = model.attributes.values();
    let attributes = attributes.filter(|attribute| attribute.role != Role::ReadOnly);
    let mut properties: Map<String, Json> = METAPARAMETERS
        .iter()
        .map(|name| {
            (
                (*name).to_owned(),
                json!({"$ref": format!("#/$defs/metaparameter/{name}")}),
            )
        })
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
    // Another file may have a required attribute.
    let mut doc = attribute.doc.trim().to_owned();
    if attribute.required {
        doc.push_str(" Required.");
    }
    if let Some(default) = &attribute.default {
        doc.push_str(&format!(" The default is `{}`.", default.ruby_to_s()));
    }
    json!({
        "description": doc.trim_start(),
        "anyOf": [
            attribute.json_schema(),
            {"type": "null"},
            {"$ref": "#/$defs/template"},
            {"$ref": "#/$defs/secret"},
        ],
    })
}
