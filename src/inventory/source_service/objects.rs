//! Objects of NetBox and Nautobot as tables of an inventory.
//!
//! Both have the same fields with other values: references of NetBox have a `slug`, those of Nautobot a `name`. Custom
//! fields become labels `cf_NAME`, tags become labels `tag_NAME`; a custom field `switchtender_KEY` is the setting `KEY`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};
use switchtender_devices::names::DeviceName;

use crate::inventory::ansible::PREFIX;
use crate::inventory::load::DeviceProblems;
use crate::inventory::range;
use crate::inventory::setting::TablePosition;
use crate::inventory::source::{SOURCE_DEVICE, SOURCE_LEFT_OUT, SourceDevices, toml_text};

/// Fields that are labels.
const LABELS: [&str; 6] = [
    "role",
    "tenant",
    "location",
    "rack",
    "device_type",
    "status",
];

/// Where the name of a platform stands, in the order of trust.
const PLATFORM_NAMES: [&str; 3] = ["slug", "network_driver", "name"];

/// The devices as an inventory. `platforms` has the platforms by their names in the service.
pub(super) fn tables(
    objects: &[Json],
    platforms: &BTreeMap<String, String>,
    position: &TablePosition,
) -> Result<SourceDevices, String> {
    let mut devices = Map::new();
    let mut problems = DeviceProblems::new();
    let mut left_out = Vec::new();
    for object in objects {
        let name = object["name"].as_str().unwrap_or_default();
        if DeviceName::parse(name).is_err() {
            let names = [name, object["display"].as_str().unwrap_or_default()];
            let known = names.into_iter().find(|text| !text.is_empty());
            left_out.push(known.unwrap_or("a device without a name").to_owned());
            continue;
        }
        let settings = settings(object, platforms);
        if devices
            .insert(name.to_owned(), Json::Object(settings))
            .is_some()
        {
            let message = format!("the source has several devices with the name `{name}`");
            let problem = position.error(SOURCE_DEVICE, message);
            let help = "rename one of them, or select one with `filter`";
            problems.push((name.to_owned(), problem.help(help)));
        }
    }
    let mut warnings = Vec::new();
    if !left_out.is_empty() {
        let names = range::of_names(left_out.iter().map(String::as_str)).join(", ");
        let message = format!(
            "{} devices of the source are left out: {names}",
            left_out.len()
        );
        let warning = position.warning(SOURCE_LEFT_OUT, message);
        warnings.push(warning.help(
            "give them names of letters, digits, `.`, `_`, `-` and `:`, or exclude them with `filter`",
        ));
    }
    let root = Map::from_iter([("device".to_owned(), Json::Object(devices))]);
    Ok(SourceDevices {
        text: toml_text(root)?,
        problems,
        warnings,
    })
}

fn settings(object: &Json, platforms: &BTreeMap<String, String>) -> Map<String, Json> {
    let mut settings = Map::new();
    if let Some(platform) = platform(&object["platform"], platforms) {
        settings.insert("platform".to_owned(), platform.into());
    }
    let addresses = ["primary_ip", "primary_ip4", "primary_ip6"];
    let mut addresses = addresses.iter().map(|key| &object[key]["address"]);
    if let Some(address) = addresses.find_map(Json::as_str) {
        let (host, _) = address.split_once('/').unwrap_or((address, ""));
        settings.insert("address".to_owned(), host.into());
    }
    let mut labels = Map::new();
    let mut label = |name: &str, value: &Json| {
        if let Some(text) = text(value) {
            labels.insert(name.to_owned(), text.into());
        }
    };
    // Nautobot has no sites since version 2.
    let has_site = !object["site"].is_null();
    let site = if has_site { "site" } else { "location" };
    for name in LABELS {
        if name != site {
            label(name, &object[name]);
        }
    }
    // NetBox before version 3.6.
    if object["role"].is_null() {
        label("role", &object["device_role"]);
    }
    for tag in object["tags"].as_array().into_iter().flatten() {
        if let Some(name) = text(tag) {
            label(&format!("tag_{name}"), &json!("true"));
        }
    }
    for (name, value) in object["custom_fields"].as_object().into_iter().flatten() {
        match name.strip_prefix(PREFIX) {
            Some(key) if !value.is_null() => {
                settings.insert(key.to_owned(), value.clone());
            }
            Some(_) => {}
            None => label(&format!("cf_{name}"), value),
        }
    }
    if let Some(site) = text(&object[site]) {
        let entry = settings.entry("site");
        entry.or_insert_with(|| site.into());
    }
    settings.insert("labels".to_owned(), Json::Object(labels));
    settings
}

/// The platform of the inventory; without an entry, the name that the service has for programs.
fn platform(object: &Json, platforms: &BTreeMap<String, String>) -> Option<String> {
    let names = PLATFORM_NAMES.iter().filter_map(|key| object[key].as_str());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let mapped = names.iter().find_map(|name| platforms.get(*name));
    mapped
        .cloned()
        .or_else(|| names.first().map(|name| (*name).to_owned()))
}

/// A value as the text of a label: a reference by its name for programs, a list with commas.
fn text(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Json::Bool(_) | Json::Number(_) => Some(value.to_string()),
        Json::Array(items) => {
            let items: BTreeSet<String> = items.iter().filter_map(text).collect();
            let items = Vec::from_iter(items).join(",");
            Some(items).filter(|text| !text.is_empty())
        }
        Json::Object(fields) => ["slug", "value", "name", "model", "label", "display"]
            .iter()
            .find_map(|key| text(fields.get(*key)?)),
    }
}
