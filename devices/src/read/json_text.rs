//! JSON objects as text for line-by-line comparison: a heading per object, then its fields.

use serde_json::Value as Json;

use super::field_path::scalar_text;
use super::rows::RowsRule;

/// The answer to a read as text: for each object its path and, indented below it, its flattened
/// fields. Members of lists have one line each; links and generations are omitted. Without `rows` the
/// answer is one object. The text may contain secrets: mask it before output.
pub(crate) fn text(read: &str, answer: &Json, rows: Option<&RowsRule>) -> String {
    let path = read.strip_prefix("GET ").unwrap_or(read);
    let mut out = String::new();
    let Some(rows) = rows else {
        object(path, answer, &mut out);
        return out;
    };
    for row in rows.rows(answer).unwrap_or_default() {
        let name = row.name.map(str::to_owned).or_else(|| name_of(row.value));
        let name = name.unwrap_or_default();
        object(&format!("{path} {name}"), row.value, &mut out);
    }
    out
}

/// The name of an object in a list: its path, or its number.
fn name_of(object: &Json) -> Option<String> {
    entry_path(object).or_else(|| scalar_text(object.get("id")?))
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
    use crate::read::field_path::FieldPath;

    #[test]
    fn json_text_has_a_heading_and_a_line_per_field() {
        let answer = serde_json::json!({"kind": "x", "items": [
            {"fullPath": "/Common/a", "name": "a", "allowNat": "yes", "selfLink": "x",
             "membersReference": {"link": "y", "items": [
                {"name": "n1:80", "partition": "Common", "ratio": 2}, {"fullPath": "/Common/n2:80"}]}},
            {"fullPath": "/Common/b", "sflow": {"pollInterval": 3}, "rules": ["/Common/r"]},
        ]});
        let rows = RowsRule::optional(FieldPath::of("items"));
        let text = |read, answer| text(read, answer, Some(&rows));
        assert_eq!(
            text("GET /ltm/pool", &answer),
            "/ltm/pool /Common/a\n name: \"a\"\n allowNat: \"yes\"\n members: /Common/n1:80 ratio=2\n members: /Common/n2:80\n\
             /ltm/pool /Common/b\n sflow.pollInterval: 3\n rules: [\"/Common/r\"]\n"
        );
        let singleton = serde_json::json!({"kind": "x", "timezone": "UTC"});
        assert_eq!(
            super::text("GET /sys/ntp", &singleton, None),
            "/sys/ntp\n timezone: \"UTC\"\n"
        );
        let numbered = serde_json::json!({"items": [{"id": 10, "name": null}]});
        assert_eq!(text("GET /vlan", &numbered), "/vlan 10\n id: 10\n");
        assert_eq!(text("GET /ltm/pool", &Json::Null), "");
    }
}
