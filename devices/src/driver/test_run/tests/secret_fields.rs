//! Each field of JSON and XML with a sensitive attribute is masked in backups, transcripts and messages.
//!
//! Few types of requests have secrets. So each text of such a type is also tested as if it were one: the
//! models become sensitive here. The answers are made from the paths in the text of the definitions.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value as Json};
use toml::{Table, Value as Toml};

use super::secret_templates::texts;
use super::{initial_state, operations_for};
use crate::change::Desired;
use crate::definitions::{self, DefinitionFile};
use crate::driver::{Driver, Facts, NoSecretHistory, Registry};
use crate::model::TypeModel;
use crate::read::Reads;
use crate::secret_mask::SecretMask;
use crate::session::mask_device_text;
use crate::value::{Attributes, Value};

const SECRET: &str = "Zq7xWgeheim";
const FOLDERS: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/definitions"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/definitions"),
];

/// A step of the path of a field: its name, and whether it is a list, perhaps of objects with a field.
struct Step {
    name: String,
    elements: Option<Option<(String, String)>>,
}

/// The steps of a path: `a.b[0].c`, `a[kind=x].b`, `"a.b".c`.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path.trim_start_matches("../");
    while !rest.is_empty() && rest != "." {
        let name = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (name, after) = quoted.split_once('"').unwrap();
                rest = after;
                name
            }
            None => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                rest = after;
                name
            }
        };
        let elements = rest.strip_prefix('[').map(|inner| {
            let (element, after) = inner.split_once(']').unwrap();
            rest = after;
            let condition = element.split_once('=');
            condition.map(|(field, value)| (field.to_owned(), value.to_owned()))
        });
        steps.push(Step {
            name: name.to_owned(),
            elements,
        });
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    steps
}

/// The object with the secret in a field.
fn object(path: &str) -> Json {
    let mut value = Json::from(SECRET);
    for step in steps(path).into_iter().rev() {
        if let Some(condition) = step.elements {
            if let (Some((field, text)), Json::Object(fields)) = (condition, &mut value) {
                fields.insert(field, text.into());
            }
            value = Json::Array(vec![value]);
        }
        value = Json::Object(Map::from_iter([(step.name, value)]));
    }
    value
}

/// The same as elements of XML. A field `@name` is an attribute, which has no text of its own.
fn elements(value: &Json) -> String {
    match value {
        Json::Object(fields) => fields
            .iter()
            .map(|(name, value)| match value {
                Json::Array(items) => items
                    .iter()
                    .map(|item| format!("<{name}>{}</{name}>", elements(item)))
                    .collect(),
                value => format!("<{name}>{}</{name}>", elements(value)),
            })
            .collect(),
        Json::Array(items) => items.iter().map(elements).collect(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Formats of several attributes in common fields. Such attributes cannot be secrets.
const SHARED: [&str; 8] = [
    "f5-alias",
    "f5-clone-pools",
    "f5-destination",
    "f5-lockdown",
    "f5-monitor",
    "f5-persistence",
    "f5-snat",
    "f5-vlans",
];

/// The sections of a definition with fields: attributes and the paths of their fields.
fn fields(definition: &Table) -> Vec<(String, Vec<String>)> {
    let attributes = definition.get("attr").and_then(Toml::as_table);
    let attributes = attributes.into_iter().flatten();
    let of = |(name, rule): (&String, &Toml)| {
        let codec = rule.get("codec").and_then(Toml::as_str);
        // The field of an uploaded file has its name.
        let is_own = ["sub", "upload", "with"]
            .iter()
            .all(|key| rule.get(key).is_none())
            && !codec.is_some_and(|codec| SHARED.contains(&codec));
        let fields = texts(rule.get("field").filter(|_| is_own)?);
        let fields = fields.into_iter().map(str::to_owned).collect();
        Some((name.clone(), fields))
    };
    attributes.filter_map(of).collect()
}

/// The definitions by their paths; later files replace earlier ones.
fn files() -> BTreeMap<String, Table> {
    let folders = FOLDERS.map(|folder| definitions::from_directory(Path::new(folder)).unwrap());
    let files = definitions::shipped().into_iter().chain(folders.concat());
    let files = files.map(|file| (file.path.clone(), file.source.text.parse().unwrap()));
    files.collect()
}

fn transport(files: &BTreeMap<String, Table>, platform: &str) -> Option<String> {
    let definition = files.get(&format!("{platform}/platform.toml"))?;
    let transport = definition.get("transport").and_then(Toml::as_str);
    transport.map(str::to_owned)
}

/// The paths of types of requests: platform, type and definition.
fn types_of_requests(files: &BTreeMap<String, Table>) -> Vec<(String, String, Table)> {
    let types = files.iter().filter_map(|(path, definition)| {
        let (platform, file) = path.split_once('/')?;
        let name = file.strip_suffix(".toml")?;
        let transport = transport(files, platform)?;
        let is_type = name != "platform" && transport != "ssh-cli";
        is_type.then(|| (platform.to_owned(), name.to_owned(), definition.clone()))
    });
    types.collect()
}

/// The registry in which each text in a field is a secret. Types that a command line has, too, stay as they are.
fn sensitive(files: &BTreeMap<String, Table>) -> Registry {
    let mut files = files.clone();
    for (_, name, definition) in types_of_requests(&files) {
        let is_of_lines = files.keys().any(|path| {
            let (platform, file) = path.split_once('/').unwrap_or_default();
            file == format!("{name}.toml")
                && transport(&files, platform).is_some_and(|transport| transport == "ssh-cli")
        });
        let model = files.get_mut(&format!("models/{name}.toml"));
        let attributes = model.and_then(|model| model.get_mut("attr")?.as_table_mut());
        let Some(attributes) = attributes.filter(|_| !is_of_lines) else {
            continue;
        };
        for (attribute, _) in fields(&definition) {
            let rule = attributes.get_mut(&attribute).and_then(Toml::as_table_mut);
            if let Some(rule) = rule.filter(|rule| rule.get("role").is_none()) {
                rule.insert("sensitive".to_owned(), true.into());
                rule.remove("refers");
            }
        }
    }
    let shipped: Vec<String> = definitions::shipped()
        .into_iter()
        .map(|file| file.path)
        .collect();
    let files = files.iter().map(|(path, table)| {
        let text = toml::to_string(table).unwrap();
        DefinitionFile::new(path, text)
    });
    let (shipped, own): (Vec<_>, Vec<_>) = files.partition(|file| shipped.contains(&file.path));
    match Registry::from_files(&shipped, &own) {
        Ok(registry) => registry,
        Err(findings) => {
            let messages = findings.iter().map(|finding| {
                let label = finding.labels.first();
                let file = label.map_or("", |label| &label.source.name);
                format!("{file}: {}", finding.message)
            });
            panic!("{}", messages.collect::<Vec<_>>().join("\n"));
        }
    }
}

fn is_sensitive(model: &TypeModel, name: &str) -> bool {
    let attribute = model.attributes.get(name);
    attribute.is_some_and(|attribute| attribute.sensitive)
}

#[test]
fn fields_of_sensitive_attributes_are_masked_in_every_text() {
    let files = files();
    let registry = sensitive(&files);
    let mut failures = String::new();
    let mut count = 0;
    for (platform, name, definition) in types_of_requests(&files) {
        let model = registry.model(&name).unwrap();
        let platform = registry.platform(&platform).unwrap();
        let driver = Driver::new(platform, &Facts::default());
        let fields = fields(&definition).into_iter();
        for (attribute, paths) in fields.filter(|(attribute, _)| is_sensitive(model, attribute)) {
            for path in paths {
                count += 1;
                let object = object(&path);
                let xml = elements(&object);
                let compact = object.to_string();
                let pretty = serde_json::to_string_pretty(&object).unwrap();
                for text in [
                    compact.clone(),
                    pretty,
                    xml,
                    format!("refused: {compact}"),
                    format!("PATCH /x {compact}"),
                ] {
                    let reads = driver.backup_reads().into_iter();
                    let reads: Reads = reads.map(|read| (read.name, text.clone())).collect();
                    let backup = driver.backup(&reads, |text| driver.masked_text(text));
                    let transcript =
                        mask_device_text(platform.protocol(), &SecretMask::default(), &text);
                    let outputs = [
                        backup.configuration.unwrap_or_default(),
                        backup.answers.unwrap_or_default(),
                        transcript,
                        driver.masked_text(&text),
                    ];
                    if let Some(output) = outputs.iter().find(|output| output.contains(SECRET)) {
                        failures += &format!("{}/{name}.{attribute}: {output}\n", platform.name);
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{count} fields\n{failures}");
    assert!(count > 150, "{count} fields");
}

/// Requests, and what a device has and the type does not understand, in messages.
#[test]
fn requests_with_sensitive_attributes_are_masked() {
    let files = files();
    let registry = sensitive(&files);
    let mut failures = String::new();
    let mut count = 0;
    for (platform, name, _) in types_of_requests(&files) {
        let platform = registry.platform(&platform).unwrap();
        let Some(definition) = platform.type_drivers().find(|one| one.model.name == *name) else {
            continue;
        };
        let model = &definition.model;
        for test in definition.tests.iter() {
            let Some(want) = test.want.as_ref().filter(|_| test.error.is_none()) else {
                continue;
            };
            let driver = Driver::new(platform, &test.facts);
            let is_own = |name: &str| is_sensitive(model, name);
            let secrets = texts_of(want, &is_own);
            let others = texts_of(want, &|name| !is_own(name));
            let attributes = model.resolve("", want);
            let attributes =
                attributes.and_then(|attributes| driver.canonicalize(model, attributes));
            let (Ok(attributes), Ok(state)) =
                (attributes, initial_state(&driver, definition, test))
            else {
                continue;
            };
            let desired = Desired {
                reference: name.as_str().into(),
                model: model.clone(),
                attributes,
            };
            let Ok((operations, _)) = operations_for(&driver, &desired, &state, &NoSecretHistory)
            else {
                continue;
            };
            let sent: Vec<String> = operations
                .iter()
                .map(|operation| operation.action.text())
                .collect();
            let mut specs = model.attributes.values().flat_map(|one| &one.values);
            let words: Vec<String> = specs.by_ref().map(|spec| spec.name().to_string()).collect();
            // A word of the model may also be that of another attribute.
            let is_own = |secret: &&String| {
                !words.contains(secret) && !others.iter().any(|other| other.contains(*secret))
            };
            for secret in secrets.iter().filter(is_own) {
                count += 1;
                if let Some(line) = sent.iter().find(|line| line.contains(secret.as_str())) {
                    failures += &format!("{}/{name}: {}: {line}\n", platform.name, test.name);
                }
            }
        }
    }
    assert!(failures.is_empty(), "{count} values\n{failures}");
    assert!(count > 50, "{count} values");
}

/// The texts of attributes that are long enough to be told from others.
fn texts_of(attributes: &Attributes, is_one: &dyn Fn(&str) -> bool) -> Vec<String> {
    fn add(value: &Value, found: &mut Vec<String>) {
        match value.unwrap_sensitive() {
            Value::List(items) => items.iter().for_each(|item| add(item, found)),
            Value::Hash(entries) => entries.iter().for_each(|(_, value)| add(value, found)),
            other => found.extend(other.as_str().map(str::to_owned)),
        }
    }
    let mut found = Vec::new();
    for (_, value) in attributes.iter().filter(|(name, _)| is_one(name)) {
        add(value, &mut found);
    }
    found.retain(|text| text.len() > 6);
    found
}
