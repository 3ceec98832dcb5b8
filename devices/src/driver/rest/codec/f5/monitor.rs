//! The monitor expression: `/Common/a and /Common/b`, `min 1 of { /Common/a /Common/b }`.

use serde_json::Value as Json;

use super::{list_or, texts};
use crate::value::Value;

/// Health monitors, and the number of them that must be up. No values: another expression.
pub(crate) fn read(field: Option<&Json>) -> Vec<Option<Value>> {
    let text = field.map_or(Some(""), Json::as_str);
    let words: Option<Vec<&str>> = text.map(|text| text.split_whitespace().collect());
    let (monitors, needed) = match words.as_deref() {
        Some([] | ["none" | "/Common/none"]) => return vec![Some("none".into()), None],
        Some(["default"]) => return vec![Some("default".into()), None],
        Some(["min", count, "of", "{", monitors @ .., "}"]) => (
            Some(monitors.to_vec()),
            count.parse().ok().map(Value::Integer),
        ),
        Some(words) => (joined_by_and(words), Some("all".into())),
        None => (None, None),
    };
    let monitors = monitors.filter(|paths| paths.iter().all(|path| path.starts_with('/')));
    let (Some(monitors), Some(needed)) = (monitors, needed) else {
        return vec![None, None];
    };
    let mut monitors: Vec<String> = monitors.into_iter().map(str::to_owned).collect();
    // The order of monitors has no effect.
    monitors.sort();
    monitors.dedup();
    vec![Some(list_or("none", monitors)), Some(needed)]
}

/// The words between `and`.
fn joined_by_and<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let (operands, operators): (Vec<_>, Vec<_>) =
        words.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let is_joined = operators.iter().all(|(_, word)| **word == "and");
    (is_joined && operands.len() > operators.len())
        .then(|| operands.into_iter().map(|(_, word)| *word).collect())
}

/// The monitors of a value, which can also be a word.
pub(crate) fn paths(monitors: Option<&Value>) -> Vec<String> {
    let mut paths = texts(monitors);
    paths.retain(|path| path.starts_with('/'));
    paths
}

pub(crate) fn write(monitors: Option<&Value>, needed: Option<&Value>) -> Json {
    let monitors = texts(monitors);
    match (
        monitors.as_slice(),
        needed.and_then(Value::scalar_text).as_deref(),
    ) {
        ([], _) => "none".into(),
        ([word], _) if !word.starts_with('/') => word.as_str().into(),
        (paths, None | Some("all")) => paths.join(" and ").into(),
        (paths, Some(count)) => format!("min {count} of {{ {} }}", paths.join(" ")).into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn monitor_expressions_are_read() {
        let path = |names: &[&str]| {
            Value::from(names.iter().copied().map(Value::from).collect::<Vec<_>>())
        };
        let cases = [
            (
                json!("/Common/a and /Common/b "),
                path(&["/Common/a", "/Common/b"]),
                Some("all".into()),
            ),
            (
                json!("/Common/b and /Common/a"),
                path(&["/Common/a", "/Common/b"]),
                Some("all".into()),
            ),
            (
                json!("min 1 of { /Common/http /Common/tcp } "),
                path(&["/Common/http", "/Common/tcp"]),
                Some(Value::Integer(1)),
            ),
            (
                json!("min 2 of { /Common/a /Common/b }"),
                path(&["/Common/a", "/Common/b"]),
                Some(Value::Integer(2)),
            ),
            (
                json!("/Common/http "),
                path(&["/Common/http"]),
                Some("all".into()),
            ),
            (json!("default"), "default".into(), None),
            (json!("none"), "none".into(), None),
            (json!("/Common/none"), "none".into(), None),
            (json!(""), "none".into(), None),
        ];
        for (json, monitors, needed) in cases {
            assert_eq!(read(Some(&json)), [Some(monitors), needed], "{json}");
        }
        assert_eq!(read(None), [Some("none".into()), None]);
        for other in [
            json!("/Common/a or /Common/b"),
            json!("/Common/a and"),
            json!("/Common/a fallback"),
            json!("min most of { /Common/a }"),
            json!("min 1 of { /Common/a } more"),
            json!(["/Common/a"]),
        ] {
            assert_eq!(read(Some(&other)), [None, None], "{other}");
        }
    }

    #[test]
    fn monitor_expressions_are_written() {
        let two = Value::from(vec!["/Common/a", "/Common/b"]);
        let cases = [
            (
                Some(two.clone()),
                Some(Value::from("all")),
                "/Common/a and /Common/b",
            ),
            (Some(two.clone()), None, "/Common/a and /Common/b"),
            (
                Some(two),
                Some(Value::Integer(1)),
                "min 1 of { /Common/a /Common/b }",
            ),
            (Some("none".into()), None, "none"),
            (Some(vec!["default"].into()), None, "default"),
        ];
        for (monitors, needed, expected) in cases {
            assert_eq!(write(monitors.as_ref(), needed.as_ref()), json!(expected));
        }
    }
}
