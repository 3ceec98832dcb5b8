//! Case files and the resources in them: `"Network_vlan[10]" = { vlan_name = "users" }`.

use std::fs;

use serde_json::{Value, json};

use test_support::catalog::resource;

/// Resources in the order of the file. A value `{ sensitive = VALUE }` is a secret.
pub(super) fn resources(table: &toml::Table) -> Vec<Value> {
    table
        .iter()
        .map(|(reference, attributes)| {
            let (type_name, title) = reference
                .strip_suffix(']')
                .and_then(|reference| reference.split_once('['))
                .unwrap_or_else(|| panic!("`{reference}` is no reference"));
            let mut parameters = serde_json::to_value(attributes).expect("JSON");
            let mut secrets = Vec::new();
            for (name, value) in parameters.as_object_mut().expect("attributes") {
                if let Some(secret) = value.get("sensitive") {
                    secrets.push(name.clone());
                    *value = secret.clone();
                }
            }
            let mut resource = resource(type_name, title, parameters);
            if !secrets.is_empty() {
                resource["sensitive_parameters"] = json!(secrets);
            }
            resource
        })
        .collect()
}

/// The names of the case files in a folder, sorted.
pub(super) fn names(folder: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let cases = paths.filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    let mut names: Vec<String> = cases
        .map(|path| path.file_stem().unwrap().display().to_string())
        .collect();
    names.sort();
    names
}
