//! Services that a self IP allows: `default`, `all`, `none`, or a set of `protocol:port`.
//!
//! The device omits the field for `none`, and prints `all` as a text, not as a list.

use serde_json::Value as Json;

use super::{list_or, texts};
use crate::value::Value;

pub(crate) fn read(field: Option<&Json>) -> Value {
    let mut services: Vec<String> = match field {
        Some(Json::String(word)) => vec![word.trim().to_owned()],
        Some(Json::Array(items)) => items
            .iter()
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    services.sort();
    match services.as_slice() {
        [word] if matches!(word.as_str(), "all" | "default" | "none") => word.as_str().into(),
        _ => list_or("none", services),
    }
}

pub(crate) fn write(value: Option<&Value>) -> Json {
    let mut services = texts(value);
    services.retain(|service| service != "none");
    match services.as_slice() {
        [all] if all == "all" => "all".into(),
        _ => services.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lockdown_round_trip() {
        for (value, json) in [
            (Value::from("default"), json!(["default"])),
            ("all".into(), json!("all")),
            ("none".into(), json!([])),
            (
                vec!["tcp:22", "tcp:443"].into(),
                json!(["tcp:22", "tcp:443"]),
            ),
        ] {
            assert_eq!(write(Some(&value)), json);
            assert_eq!(read(Some(&json)), value);
        }
        assert_eq!(read(None), "none".into());
    }
}
