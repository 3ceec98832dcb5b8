//! The schema of definition files is complete.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;
use crate::pattern::Pattern;

fn schema() -> Json {
    Registry::definition_schema(&[]).expect("the shipped files load")
}

/// The paths of all keys in a schema, and whether each has a description.
fn keys(schema: &Json, path: &str, found: &mut Vec<(String, bool)>) {
    for below in ["additionalProperties", "items"] {
        if let Some(below) = schema.get(below) {
            keys(below, path, found);
        }
    }
    let properties = schema.get("properties").and_then(Json::as_object);
    for (key, property) in properties.into_iter().flatten() {
        let path = format!("{path}.{key}");
        let is_described = property.get("description").and_then(Json::as_str) > Some("");
        keys(property, &path, found);
        found.push((path, is_described));
    }
}

#[test]
fn schema_describes_its_keys_and_no_others() {
    let schema = schema();
    let kinds = schema["$defs"].as_object().expect("kinds of files");
    let mut described = BTreeSet::new();
    let mut missing = Vec::new();
    for (kind, schema) in kinds {
        let section = match kind.as_str() {
            "model" | "implementation" => kind,
            _ => "platform",
        };
        let mut found = Vec::new();
        keys(schema, section, &mut found);
        for (path, is_described) in found {
            if !is_described {
                missing.push(path.clone());
            }
            described.insert(path);
        }
    }
    assert!(missing.is_empty(), "without a description: {missing:#?}");
    assert!(described.len() > 400, "{}", described.len());
    let sections = ["model", "platform", "implementation"].into_iter();
    let texts = sections.flat_map(|section| {
        let paths = descriptions(section).into_keys();
        paths.map(move |path| format!("{section}.{path}"))
    });
    let others: Vec<String> = texts.filter(|path| !described.contains(path)).collect();
    assert!(others.is_empty(), "no such key: {others:#?}");
}

/// The source files of the loaders.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.contains("tests") {
            found.push(path);
        }
    }
}

#[test]
fn schema_has_every_key_that_loaders_read() {
    let schema = schema();
    let mut found = Vec::new();
    for schema in schema["$defs"]
        .as_object()
        .expect("kinds of files")
        .values()
    {
        keys(schema, "", &mut found);
    }
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let known: BTreeSet<String> = found.iter().map(|(path, _)| last(path)).collect();
    // Reads of tables, and closures of loaders that read one kind of value.
    let reads = [
        r#"\.\s*(?:string|bool|integer|strings|pattern|patterns|table|get_own|required|required_string|required_pattern|required_table)\(\s*"([a-z_]+)"#,
        r#"\b(?:table|root|connection|error)\s*\.get\(\s*"([a-z_]+)""#,
        r#"\b(?:request|texts|words|seconds|count|field|line)\((?:table, )?"([a-z_]+)""#,
    ];
    let reads = reads.map(|text| Pattern::new(text).expect("a pattern"));
    let mut files = Vec::new();
    for directory in ["driver", "dialogue", "model", "read"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        sources(&source.join(directory), &mut files);
    }
    let mut read = BTreeSet::new();
    for path in files {
        // `values` of a model may be anything in the schema: kinds of values have keys of their own.
        if path.ends_with("model/load/value_spec.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for pattern in &reads {
            let mut rest = text;
            while let Some(key) = pattern.captures(rest).and_then(|found| found.get(1)) {
                read.insert(key.as_str().to_owned());
                rest = &rest[key.end()..];
            }
        }
    }
    assert!(read.len() > 100, "{}", read.len());
    let missing: Vec<&String> = read.difference(&known).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// `UPDATE_DOCS=1` writes the page.
#[test]
fn reference_of_keys_is_that_of_the_loaders() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/definition-keys.md");
    let page = Registry::definition_reference().expect("the shipped files load");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/reference/definition-keys.md is out of date: write it with UPDATE_DOCS=1"
    );
}
