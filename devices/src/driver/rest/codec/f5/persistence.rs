//! The default persistence profile: the entry that the device marks with `tmDefault`.

use serde_json::{Value as Json, json};

use crate::value::Value;

pub(crate) fn read(field: Option<&Json>) -> Value {
    let entries = field.and_then(Json::as_array);
    let default = entries.and_then(|entries| {
        entries
            .iter()
            .find(|entry| entry.get("tmDefault") == Some(&json!("yes")))
            .and_then(entry_path)
    });
    default.map_or_else(|| "none".into(), Value::from)
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
        assert_eq!(read(Some(&box_form)), "/Common/cookie".into());
        for value in ["/Common/cookie", "none"] {
            assert_eq!(read(Some(&write(Some(&value.into())))), value.into());
        }
        assert_eq!(read(None), "none".into());
    }
}
