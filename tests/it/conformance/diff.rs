//! Differences between what was recorded and what happened, for people.

use serde_json::Value as Json;

/// One difference: where, what was expected, what came.
pub(crate) struct Difference {
    path: String,
    expected: Option<Json>,
    actual: Option<Json>,
}

pub(crate) fn of(expected: &[Json], actual: &[Json]) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(
        "runs",
        Some(&Json::from(expected.to_vec())),
        Some(&Json::from(actual.to_vec())),
        &mut found,
    );
    found
}

fn walk(path: &str, expected: Option<&Json>, actual: Option<&Json>, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Some(expected), Some(actual)) if expected == actual => {}
        (Some(Json::Object(expected)), Some(Json::Object(actual))) => {
            for (key, value) in expected {
                walk(
                    &format!("{path}.{key}"),
                    Some(value),
                    actual.get(key),
                    found,
                );
            }
            for (key, value) in actual {
                if !expected.contains_key(key) {
                    walk(&format!("{path}.{key}"), None, Some(value), found);
                }
            }
        }
        (Some(Json::Array(expected)), Some(Json::Array(actual))) => {
            // The first element that differs is the most useful; the rest is shifted.
            for at in 0..expected.len().max(actual.len()) {
                let before = found.len();
                walk(
                    &format!("{path}[{at}]"),
                    expected.get(at),
                    actual.get(at),
                    found,
                );
                if found.len() > before && expected.len() != actual.len() {
                    break;
                }
            }
        }
        _ => found.push(Difference {
            path: path.to_owned(),
            expected: expected.cloned(),
            actual: actual.cloned(),
        }),
    }
}

pub(crate) fn render(differences: &[Difference]) -> String {
    let text = |value: &Option<Json>| {
        value
            .as_ref()
            .map_or_else(|| "nothing".to_owned(), ToString::to_string)
    };
    differences
        .iter()
        .take(8)
        .map(|difference| {
            format!(
                "{}\n  recorded: {}\n  ours:     {}\n",
                difference.path,
                text(&difference.expected),
                text(&difference.actual)
            )
        })
        .collect()
}
