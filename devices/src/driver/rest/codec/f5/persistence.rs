//! The default persistence profile: the entry that the device marks with `tmDefault`.

use serde_json::{Value as Json, json};

use crate::value::Value;

/// `None`: an entry whose mark is neither yes nor no.
pub(crate) fn read(field: Option<&Json>) -> Option<Value> {
    let mut default = "none".into();
    for entry in field.and_then(Json::as_array).into_iter().flatten() {
        match entry.get("tmDefault").map(Json::as_str) {
            Some(Some("yes")) => default = entry_path(entry)?.into(),
            None | Some(Some("no")) => {}
            Some(_) => return None,
        }
    }
    Some(default)
}

/// Full path of an entry whose name may lack the partition.
pub(crate) fn entry_path(entry: &Json) -> Option<String> {
    let name = entry.get("name")?.as_str()?;
    Some(match entry.get("partition").and_then(Json::as_str) {
        Some(partition) if !name.starts_with('/') => format!("/{partition}/{name}"),
        _ => name.to_owned(),
    })
}

pub(crate) fn write(value: Option<&Value>) -> Json {
    match value.and_then(Value::as_str) {
        Some(path) if path != "none" => json!([{"name": path, "tmDefault": "yes"}]),
        _ => json!([]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persistence_uses_the_default_entry() {
        let box_form = json!([
            {"name": "cookie", "partition": "Common", "tmDefault": "yes"},
        ]);
        assert_eq!(read(Some(&box_form)), Some("/Common/cookie".into()));
        let other = json!([{"name": "/Common/cookie", "tmDefault": "perhaps"}]);
        assert_eq!(read(Some(&other)), None);
        for value in ["/Common/cookie", "none"] {
            assert_eq!(read(Some(&write(Some(&value.into())))), Some(value.into()));
        }
        assert_eq!(read(None), Some("none".into()));
    }
}
