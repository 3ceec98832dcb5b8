//! Resources of the recorded catalogs in `tests/fixtures/puppetserver/catalogs`.

use std::path::Path;

use serde_json::Value as Json;
use switchtender_devices::value::{Attributes, Value};

const METAPARAMETERS: [&str; 10] = [
    "alias",
    "audit",
    "before",
    "loglevel",
    "noop",
    "notify",
    "require",
    "schedule",
    "subscribe",
    "tag",
];

/// A resource as the catalog has it, without its metaparameters.
pub(crate) struct CatalogResource {
    /// In lower case.
    pub type_name: String,
    pub title: String,
    /// Spelled as in the catalog: `F5_node[/shop/web1]`.
    pub reference: String,
    pub attributes: Attributes,
}

/// The resources of a recorded catalog, in its order.
pub(crate) fn resources(catalog: &str) -> Vec<CatalogResource> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures/puppetserver/catalogs")
        .join(catalog)
        .with_extension("json");
    let text = std::fs::read_to_string(&path).expect("the fixture exists");
    let json: Json = serde_json::from_str(&text).expect("JSON");
    let resources = json["resources"].as_array().expect("a list").iter();
    resources
        .map(|resource| {
            let type_name = resource["type"].as_str().expect("a type");
            let title = resource["title"].as_str().expect("a title");
            let parameters = resource["parameters"].as_object().into_iter().flatten();
            CatalogResource {
                type_name: type_name.to_lowercase(),
                title: title.to_owned(),
                reference: format!("{type_name}[{title}]"),
                attributes: parameters
                    .filter(|(name, _)| !METAPARAMETERS.contains(&name.as_str()))
                    .map(|(name, json)| (name.clone(), value(json)))
                    .collect(),
            }
        })
        .collect()
}

/// A catalog value from its JSON form.
pub(crate) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Undef,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => Value::Integer(number.as_i64().expect("a whole number")),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(fields) => {
            let fields = fields.iter();
            Value::Hash(
                fields
                    .map(|(key, json)| (key.as_str().into(), value(json)))
                    .collect(),
            )
        }
    }
}
