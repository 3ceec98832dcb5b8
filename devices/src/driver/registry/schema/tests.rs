//! Each key is declared.

use std::path::{Path, PathBuf};

use toml::{Table, Value as Toml};

use super::*;

/// The keys of a value that the schema does not have.
fn undeclared(schema: &Json, value: &Toml, path: &str, found: &mut Vec<String>) {
    match value {
        Toml::Table(table) => {
            // Without properties and names, the loader looks at the value itself.
            let properties = schema.get("properties").and_then(Json::as_object);
            let named = schema.get("additionalProperties");
            for (key, value) in table {
                let path = format!("{path}.{key}");
                let own = properties.and_then(|properties| properties.get(key));
                match own.or(named.filter(|named| named.is_object())) {
                    Some(schema) => undeclared(schema, value, &path, found),
                    None if properties.is_some() || named.is_some() => found.push(path),
                    None => {}
                }
            }
        }
        Toml::Array(items) => {
            for item in items {
                let elements = schema.get("items").unwrap_or(&Json::Null);
                undeclared(elements, item, path, found);
            }
        }
        _ => {}
    }
}

/// The definition files below a directory.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn every_key_of_shipped_and_example_files_is_declared() {
    let schema = Registry::definition_schema();
    let mut paths = Vec::new();
    for directory in ["definitions", "../examples/definitions"] {
        files(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(directory),
            &mut paths,
        );
    }
    assert!(paths.len() > 100, "{}", paths.len());
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a file");
        let table: Table = text.parse().expect("TOML");
        let kinds = match (
            table.get("platform"),
            table.get("type"),
            table.get(TRANSPORT),
        ) {
            (Some(_), Some(_), _) => vec!["implementation"],
            (None, ..) => vec!["model"],
            (_, _, Some(transport)) => vec![transport.as_str().expect("a word")],
            // It is that of the extended file.
            (_, _, None) => TRANSPORTS.map(|(name, _)| name).to_vec(),
        };
        let name = path.display().to_string();
        let errors = kinds.into_iter().map(|kind| {
            let mut errors = Vec::new();
            let value = Toml::Table(table.clone());
            undeclared(&schema["$defs"][kind], &value, &name, &mut errors);
            errors
        });
        found.extend(errors.min_by_key(Vec::len).unwrap_or_default());
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The paths of keys without a description.
fn undescribed(schema: &Json, path: &str, found: &mut Vec<String>) {
    for below in ["additionalProperties", "items"] {
        if let Some(below) = schema.get(below) {
            undescribed(below, path, found);
        }
    }
    let properties = schema.get("properties").and_then(Json::as_object);
    for (key, property) in properties.into_iter().flatten() {
        let path = format!("{path}.{key}");
        if property.get("description").and_then(Json::as_str) <= Some("") {
            found.push(path.clone());
        }
        undescribed(property, &path, found);
    }
}

#[test]
fn every_key_has_a_description() {
    let schema = Registry::definition_schema();
    let mut found = Vec::new();
    for (kind, schema) in schema["$defs"].as_object().expect("kinds of files") {
        undescribed(schema, kind, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// `UPDATE_DOCS=1` writes the page.
#[test]
fn reference_of_keys_is_that_of_the_loaders() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/definition-keys.md");
    let page = Registry::definition_reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/reference/definition-keys.md is out of date: write it with UPDATE_DOCS=1"
    );
}
