//! Values of OVSDB in JSON (RFC 7047, section 5.1), as `ovs-vsctl --format=json` prints them.

use serde_json::Value as Json;

use crate::value::Value;

/// A set, a map (`key=value`) or a scalar; other texts are unchanged. A set with one element is
/// printed as the element. `None` for an unknown notation.
pub(super) fn read(text: &str) -> Option<Value> {
    match serde_json::from_str(text) {
        Ok(Json::Array(notation)) => of_notation(&notation),
        _ => Some(text.into()),
    }
}

fn of_notation(notation: &[Json]) -> Option<Value> {
    match notation {
        [Json::String(kind), Json::Array(items)] if kind == "set" => {
            let items = items.iter().map(atom);
            items.collect::<Option<_>>().map(Value::List)
        }
        [Json::String(kind), Json::Array(pairs)] if kind == "map" => {
            let pairs = pairs.iter().map(|pair| {
                let [key, value] = pair.as_array()?.as_slice() else {
                    return None;
                };
                let (key, value) = (atom(key)?.scalar_text()?, atom(value)?.scalar_text()?);
                Some(format!("{key}={value}").into())
            });
            pairs.collect::<Option<_>>().map(Value::List)
        }
        _ => None,
    }
}

fn atom(value: &Json) -> Option<Value> {
    match value {
        Json::String(text) => Some(text.as_str().into()),
        Json::Number(number) => Some(number.to_string().into()),
        Json::Bool(truth) => Some((*truth).into()),
        // ["uuid", "…"]
        Json::Array(reference) => match reference.as_slice() {
            [Json::String(kind), Json::String(uuid)] if kind.ends_with("uuid") => {
                Some(uuid.as_str().into())
            }
            _ => None,
        },
        Json::Null | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ovsdb_notation_of_sets_and_maps() {
        let list = |items: &[&str]| Value::List(items.iter().copied().map(Value::from).collect());
        let cases = [
            (r#"["set",[10,20]]"#, Some(list(&["10", "20"]))),
            (r#"["set",[]]"#, Some(list(&[]))),
            (
                r#"["map",[["a","b"],["c",1]]]"#,
                Some(list(&["a=b", "c=1"])),
            ),
            (r#"["set",[["uuid","x"]]]"#, Some(list(&["x"]))),
            ("10", Some("10".into())),
            ("trunk", Some("trunk".into())),
            (r#"["other",[]]"#, None),
            (r#"["set",[{}]]"#, None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
