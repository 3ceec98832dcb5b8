//! JSON objects as text for line-by-line comparison: a heading per object, then its fields.

use serde_json::Value as Json;

/// The answer to a read as text: for each object its path and, indented below it, its flattened
/// fields. Members of lists have one line each; links and generations are omitted. The text may
/// contain secrets: mask it before output.
pub(crate) fn text(read: &str, answer: &Json) -> String {
    let path = read.strip_prefix("GET ").unwrap_or(read);
    let mut out = String::new();
    if answer.get("items").is_none() {
        object(path, answer, &mut out);
    }
    for item in items(answer) {
        let name = entry_path(item).unwrap_or_default();
        object(&format!("{path} {name}"), item, &mut out);
    }
    out
}

/// The field with the objects of a collection.
pub(crate) const COLLECTION_LIST: &str = "items";

/// The objects of a collection. An empty collection has no `items`.
pub(crate) fn items(answer: &Json) -> &[Json] {
    answer
        .get(COLLECTION_LIST)
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Full path of an entry that has a path, or a name and partition.
pub(crate) fn entry_path(entry: &Json) -> Option<String> {
    let field = |name: &str| entry.get(name).and_then(Json::as_str);
    if let Some(path) = entry.as_str().or_else(|| field("fullPath")) {
        return Some(path.to_owned());
    }
    let name = field("name")?;
    Some(match (field("partition"), field("subPath")) {
        _ if name.starts_with('/') => name.to_owned(),
        (Some(partition), Some(folder)) => format!("/{partition}/{folder}/{name}"),
        (Some(partition), None) => format!("/{partition}/{name}"),
        (None, _) => name.to_owned(),
    })
}

fn object(title: &str, object: &Json, out: &mut String) {
    let mut fields = Vec::new();
    flatten("", object, &mut fields);
    if fields.is_empty() {
        return;
    }
    out.push_str(title);
    out.push('\n');
    for (name, value) in fields {
        out.push_str(&format!(" {name}: {value}\n"));
    }
}

fn flatten(prefix: &str, value: &Json, out: &mut Vec<(String, String)>) {
    let Json::Object(fields) = value else {
        if !value.is_null() {
            out.push((prefix.to_owned(), value.to_string()));
        }
        return;
    };
    for (name, value) in fields {
        if matches!(
            name.as_str(),
            "kind" | "selfLink" | "generation" | "fullPath"
        ) {
            continue;
        }
        let list = value.get("items").and_then(Json::as_array);
        if let Some(list) = list {
            let name = name.trim_end_matches("Reference");
            for member in list {
                let key = entry_path(member).unwrap_or_default();
                let mut own = Vec::new();
                flatten("", member, &mut own);
                own.retain(|(field, _)| !matches!(field.as_str(), "name" | "partition"));
                let own: Vec<String> = own
                    .into_iter()
                    .map(|(field, value)| format!("{field}={value}"))
                    .collect();
                out.push((
                    name.to_owned(),
                    format!("{key} {}", own.join(" ")).trim_end().to_owned(),
                ));
            }
            continue;
        }
        if name.ends_with("Reference") || name.ends_with("Link") {
            continue;
        }
        let path = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        flatten(&path, value, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_text_has_a_heading_and_a_line_per_field() {
        let answer = serde_json::json!({"kind": "x", "items": [
            {"fullPath": "/Common/a", "name": "a", "allowNat": "yes", "selfLink": "x",
             "membersReference": {"link": "y", "items": [
                {"name": "n1:80", "partition": "Common", "ratio": 2}, {"fullPath": "/Common/n2:80"}]}},
            {"fullPath": "/Common/b", "sflow": {"pollInterval": 3}, "rules": ["/Common/r"]},
        ]});
        assert_eq!(
            text("GET /ltm/pool", &answer),
            "/ltm/pool /Common/a\n name: \"a\"\n allowNat: \"yes\"\n members: /Common/n1:80 ratio=2\n members: /Common/n2:80\n\
             /ltm/pool /Common/b\n sflow.pollInterval: 3\n rules: [\"/Common/r\"]\n"
        );
        let singleton = serde_json::json!({"kind": "x", "timezone": "UTC"});
        assert_eq!(
            text("GET /sys/ntp", &singleton),
            "/sys/ntp\n timezone: \"UTC\"\n"
        );
        assert_eq!(text("GET /ltm/pool", &Json::Null), "");
    }
}
