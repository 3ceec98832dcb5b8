//! Environment variables of external monitors: fields of the raw values, `userDefined NAME`.

use serde_json::{Map, Value as Json};

use crate::value::Value;

const PREFIX: &str = "userDefined ";

/// Names in order, all values as text.
pub(crate) fn canonical(value: &Value) -> Value {
    let Value::Hash(entries) = value else {
        return value.clone();
    };
    let mut entries: Vec<(String, String)> = entries
        .iter()
        .filter_map(|(name, value)| Some((name.scalar_text()?, value.scalar_text()?)))
        .collect();
    entries.sort();
    let entries = entries.into_iter();
    Value::Hash(
        entries
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
    )
}

pub(crate) fn read(fields: &Map<String, Json>) -> Json {
    let own = fields
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?.to_owned(), value.clone())));
    Json::Object(own.collect())
}

pub(crate) fn write(value: Json) -> Json {
    match value {
        Json::Object(fields) => {
            let fields = fields.into_iter();
            Json::Object(
                fields
                    .map(|(name, value)| (format!("{PREFIX}{name}"), value))
                    .collect(),
            )
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_round_trip_without_other_raw_values() {
        let wire = write(json!({"HOST": "x"}));
        assert_eq!(wire, json!({"userDefined HOST": "x"}));
        let raw = json!({"userDefined HOST": "x", "verificationStatus": "none"});
        assert_eq!(read(raw.as_object().unwrap()), json!({"HOST": "x"}));
    }
}
