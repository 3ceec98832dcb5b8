//! VLANs of a virtual server: all, only the listed ones, or all except the listed ones.
//!
//! The device has a list and exactly one of two flags, named after the list's field.

use serde_json::{Value as Json, json};

use super::texts;
use crate::read::field_path::FieldPath;
use crate::value::Value;

pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Hash(entries) => Value::Hash(
            entries
                .iter()
                .map(|(key, vlans)| {
                    let mut vlans = texts(Some(vlans));
                    vlans.sort();
                    vlans.dedup();
                    (key.clone(), vlans.into())
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

/// The two flags; exactly one exists.
pub(crate) fn flags(field: &FieldPath) -> [FieldPath; 2] {
    ["Enabled", "Disabled"].map(|suffix| field.with_suffix(suffix))
}

pub(crate) fn read(field: &FieldPath, object: &Json) -> Value {
    let mut vlans: Vec<String> = field
        .get(object)
        .and_then(Json::as_array)
        .map(|items| {
            items
                .iter()
                .filter_map(Json::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default();
    vlans.sort();
    let enabled = field.with_suffix("Enabled").get(object) == Some(&json!(true));
    let key = match (enabled, vlans.is_empty()) {
        (false, true) => return "all".into(),
        (false, false) => "disabled",
        (true, _) => "enabled",
    };
    Value::Hash(vec![(key.into(), vlans.into())])
}

pub(crate) fn write(field: &FieldPath, value: Option<&Value>) -> Vec<(FieldPath, Json)> {
    let (suffix, vlans) = match value {
        Some(Value::Hash(entries)) => match entries.first() {
            Some((key, vlans)) if key.as_str() == Some("enabled") => {
                ("Enabled", texts(Some(vlans)))
            }
            Some((_, vlans)) => ("Disabled", texts(Some(vlans))),
            None => ("Disabled", Vec::new()),
        },
        _ => ("Disabled", Vec::new()),
    };
    vec![
        (field.clone(), vlans.into()),
        (field.with_suffix(suffix), true.into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlans_round_trip() {
        let field = FieldPath::of("vlans");
        let some =
            |key: &str| Value::Hash(vec![(key.into(), vec!["/Common/a", "/Common/b"].into())]);
        for (value, expected) in [
            ("all".into(), json!({"vlans": [], "vlansDisabled": true})),
            (
                some("enabled"),
                json!({"vlans": ["/Common/a", "/Common/b"], "vlansEnabled": true}),
            ),
            (
                some("disabled"),
                json!({"vlans": ["/Common/a", "/Common/b"], "vlansDisabled": true}),
            ),
        ] {
            let mut object = json!({});
            for (path, json) in write(&field, Some(&value)) {
                path.put(&mut object, json);
            }
            assert_eq!(object, expected);
            assert_eq!(read(&field, &object), value);
        }
    }

    #[test]
    fn vlans_are_compared_without_order() {
        let object = json!({"vlans": ["/Common/b", "/Common/a"], "vlansEnabled": true});
        let desired = Value::Hash(vec![(
            "enabled".into(),
            vec!["/Common/b", "/Common/a"].into(),
        )]);
        assert_eq!(read(&FieldPath::of("vlans"), &object), canonical(&desired));
    }
}
