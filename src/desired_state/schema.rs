//! JSON Schema of desired state files, made from the models.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use switchtender_devices::driver::Registry;
use switchtender_devices::model::view::{METAPARAMETERS, USE};
use switchtender_devices::model::{AttributeModel, Role, RunsOn, TypeModel};

use super::merge::{COMPLETE, NOT_DECLARED, PROFILES, PURGE, STRICT, UNMANAGED, VARIABLES};
use crate::catalog::Level;
use crate::coverage::strict::Strict;
use crate::inventory::schema as inventory;

/// The schema of a file of `--state`.
pub(crate) fn schema(registry: &Registry) -> Json {
    let models = || {
        let models = registry.models();
        models.filter(|model| model.runs_on != RunsOn::Host)
    };
    let resources: Map<String, Json> = models()
        .map(|model| {
            (
                model.name.to_string(),
                resource_schema(&[model], Map::new()),
            )
        })
        .collect();
    let views = views(registry);
    let objects: Map<String, Json> = views
        .iter()
        .map(|(name, places)| ((*name).to_owned(), object_schema(places)))
        .collect();
    let mut properties: Map<String, Json> = models()
        .map(|model| {
            let schema = titles(&model.doc, &format!("resource/{}", model.name));
            (model.name.to_string(), schema)
        })
        .collect();
    properties.extend(objects.keys().map(|name| {
        let doc = format!("All that is declared about an {name}, with a section for each type.");
        (name.clone(), titles(&doc, &format!("object/{name}")))
    }));
    properties.insert(PROFILES.to_owned(), profiles(&resources, &objects));
    properties.extend(own_keys(&resources));
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
            "resource": resources,
            "object": objects,
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

/// A map of titles to what is declared below each.
fn titles(doc: &str, definition: &str) -> Json {
    json!({
        "description": doc,
        "type": ["object", "null"],
        "additionalProperties": {"$ref": format!("#/$defs/{definition}")},
    })
}

/// The types of all platforms by view and section.
type Places<'a> = BTreeMap<Option<&'a str>, Vec<&'a TypeModel>>;

fn views(registry: &Registry) -> BTreeMap<&str, Places<'_>> {
    let mut views: BTreeMap<&str, Places<'_>> = BTreeMap::new();
    for model in registry.all_placed_types() {
        if let Some(location) = &model.location {
            let view = views.entry(&location.view).or_default();
            let types = view.entry(location.section.as_deref()).or_default();
            types.push(model);
        }
    }
    views
}

/// What stands below a title of a view.
fn object_schema(places: &Places<'_>) -> Json {
    let sections = places.iter().filter_map(|(section, models)| {
        let mut schema = resource_schema(models, Map::new());
        schema["description"] = models[0].doc.as_str().into();
        Some(((*section)?.to_owned(), schema))
    });
    let sections = sections.collect();
    let flat = places.get(&None).map_or(&[][..], Vec::as_slice);
    resource_schema(flat, sections)
}

/// The profiles of each type and view.
fn profiles(resources: &Map<String, Json>, objects: &Map<String, Json>) -> Json {
    let scopes = |names: &Map<String, Json>, folder: &'static str| {
        let names: Vec<String> = names.keys().cloned().collect();
        names.into_iter().map(move |name| {
            let schema = json!({
                "description": format!("Profiles of {name}, by name."),
                "type": ["object", "null"],
                "additionalProperties": {
                    "$ref": format!("#/$defs/{folder}/{name}"),
                    "not": {"type": "object", "required": [USE]},
                },
            });
            (name, schema)
        })
    };
    let all = scopes(resources, "resource").chain(scopes(objects, "object"));
    json!({
        "description": "Attributes that resources share, by type or view and name: `use` names them.",
        "type": ["object", "null"],
        "properties": all.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// The keys of a file for lists of types and lines.
fn own_keys(resources: &Map<String, Json>) -> Map<String, Json> {
    let types: Vec<&String> = resources.keys().collect();
    let list = json!({"type": "array", "items": {"enum": types}});
    let completed = json!({"anyOf": [{"const": "all"}, list]});
    let words: Vec<&str> = Strict::ALL.iter().map(|strict| strict.word()).collect();
    let keys = json!({
        COMPLETE: {
            "description": "Types whose resources have the platform's default where no file sets a value.",
            "anyOf": [
                completed,
                {
                    "type": "object", "required": ["types"], "additionalProperties": false,
                    "properties": {
                        "types": completed,
                        "version": {
                            "description": "Attributes that are newer than this version are left out.",
                            "type": ["string", "number"],
                        },
                    },
                },
                {"type": "null"},
            ],
        },
        UNMANAGED: {
            "description": "Types, attributes, resources and lines (`/REGEX/`) that are left to others.",
            "type": ["array", "null"], "items": {"type": "string"},
        },
        STRICT: {
            "description": "Lines of the configuration that must be managed.",
            "enum": words.into_iter().map(Json::from).chain([Json::Null]).collect::<Vec<_>>(),
        },
    });
    match keys {
        Json::Object(keys) => keys,
        _ => Map::new(),
    }
}

/// What stands below a title: the attributes of one type, or those of the types that share a place on different
/// platforms. `sections`: further keys.
fn resource_schema(models: &[&TypeModel], sections: Map<String, Json>) -> Json {
    let mut properties: Map<String, Json> = METAPARAMETERS
        .iter()
        .map(|name| {
            (
                (*name).to_owned(),
                json!({"$ref": format!("#/$defs/metaparameter/{name}")}),
            )
        })
        .collect();
    properties.insert(
        USE.to_owned(),
        json!({
            "description": "Names of profiles; later ones win.",
            "anyOf": [
                {"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"},
            ],
        }),
    );
    let attributes = models.iter().flat_map(|model| model.attributes.values());
    for attribute in attributes.filter(|attribute| attribute.role != Role::ReadOnly) {
        let schema = attribute_schema(attribute);
        let name = attribute.name.to_string();
        match properties.get_mut(&name) {
            Some(other) if *other != schema && models.len() > 1 => {
                let doc = other["description"].clone();
                *other = json!({"description": doc, "anyOf": [other.clone(), schema]});
            }
            _ => {
                properties.insert(name, schema);
            }
        }
    }
    properties.extend(sections);
    json!({
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": false,
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
