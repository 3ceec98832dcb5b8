//! JSON objects as text for line-by-line comparison: a heading per object, then its fields.

use serde_json::Value as Json;

use super::field_path::scalar_text;
use super::indent::Node;
use super::nested_rows::NestedRows;

/// The answer to a read as lines: for each object its path and, below it, its flattened fields.
/// Members of lists have one line each; links and generations are omitted. Without `rows` the
/// answer is one object. An object in lists in lists has the names of all elements around it. The text may contain secrets: mask it before output.
pub(crate) fn objects(read: &str, answer: &Json, rows: Option<&NestedRows>) -> Vec<Node> {
    let path = read.strip_prefix("GET ").unwrap_or(read);
    let Some(list) = rows else {
        return object(path, answer).into_iter().collect();
    };
    let rows = list.rows(answer).unwrap_or_default().into_iter();
    let objects = rows.filter_map(|found| {
        let lists = list.levels().zip(found.outer.iter().chain([&found.row]));
        let names = lists.map(|(list, row)| {
            let names = list.names_of(row.value);
            let name = row.name.map(str::to_owned);
            let name = name.or_else(|| name_of(row.value).filter(|_| names.len() < 2));
            name.unwrap_or_else(|| names.join(" "))
        });
        let names: Vec<String> = names.collect();
        object(&format!("{path} {}", names.join(" ")), found.row.value)
    });
    objects.collect()
}

/// The name of an object in a list: its path, or its number.
fn name_of(object: &Json) -> Option<String> {
    entry_path(object).or_else(|| scalar_text(object.get("id")?))
}

/// Full path of an entry that has a path, or a name and partition.
pub(crate) fn entry_path(entry: &Json) -> Option<String> {
    let text = |name: &str| entry.get(name).and_then(Json::as_str);
    if let Some(path) = entry.as_str().or_else(|| text("fullPath")) {
        return Some(path.to_owned());
    }
    let name = text("name")?;
    Some(match (text("partition"), text("subPath")) {
        _ if name.starts_with('/') => name.to_owned(),
        (Some(partition), Some(folder)) => format!("/{partition}/{folder}/{name}"),
        (Some(partition), None) => format!("/{partition}/{name}"),
        (None, _) => name.to_owned(),
    })
}

/// The fields of an object, flattened, with their values.
pub(crate) fn fields(object: &Json) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    flatten("", object, &mut fields);
    fields
}

/// `None` if it has no fields.
fn object(title: &str, object: &Json) -> Option<Node> {
    let fields = fields(object);
    let lines = fields
        .iter()
        .map(|(name, value)| Node::new(format!("{name}: {value}")));
    (!fields.is_empty()).then(|| Node::block(title, lines.collect()))
}

/// A document as lines: each value with its name, below the names that lead to it. An element of a
/// list begins with its first simple value.
pub(crate) fn values(json: &Json) -> Vec<Node> {
    match json {
        Json::Object(fields) => {
            let fields = fields.iter();
            let lines = fields.map(|(name, value)| {
                let name = Json::from(name.as_str());
                if is_simple(value) {
                    Node::new(format!("{name}: {value}"))
                } else {
                    Node::block(format!("{name}:"), values(value))
                }
            });
            lines.collect()
        }
        Json::Array(items) => items.iter().map(element).collect(),
        simple => vec![Node::new(simple.to_string())],
    }
}

fn element(item: &Json) -> Node {
    if is_simple(item) {
        return Node::new(format!("- {item}"));
    }
    let mut lines = values(item);
    let first = lines.iter().position(|line| line.children.nodes.is_empty());
    let first = first.map_or_else(String::new, |first| {
        format!(" {}", lines.remove(first).text)
    });
    Node::block(format!("-{first}"), lines)
}

/// Whether a value has no lines of its own.
fn is_simple(json: &Json) -> bool {
    match json {
        Json::Object(fields) => fields.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => true,
    }
}

fn flatten(prefix: &str, value: &Json, out: &mut Vec<(String, String)>) {
    let Json::Object(fields) = value else {
        // Devices leave out empty lists.
        let is_empty = value.as_array().is_some_and(Vec::is_empty);
        if !value.is_null() && !is_empty {
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
    use crate::read::indent::Tree;
    use crate::read::rows::RowsRule;

    #[test]
    fn json_text_of_a_document_has_the_names_that_lead_to_a_value() {
        let document = serde_json::json!({"Dhcp4": {"subnet4": [
            {"reservations": [{"hostname": "a"}], "id": 1, "option-data": []},
            {"pools": [["x", 2]]},
        ]}});
        let nodes = values(&document);
        assert_eq!(
            Tree {
                nodes,
                ..Tree::default()
            }
            .text(),
            "\"Dhcp4\":\n \"subnet4\":\n  - \"id\": 1\n   \"reservations\":\n    - \"hostname\": \"a\"\n   \"option-data\": []\n  -\n   \"pools\":\n    - - \"x\"\n     - 2\n"
        );
    }

    #[test]
    fn json_text_has_a_heading_and_a_line_per_field() {
        let answer = serde_json::json!({"kind": "x", "items": [
            {"fullPath": "/Common/a", "name": "a", "allowNat": "yes", "selfLink": "x",
             "membersReference": {"link": "y", "items": [
                {"name": "n1:80", "partition": "Common", "ratio": 2}, {"fullPath": "/Common/n2:80"}]}},
            {"fullPath": "/Common/b", "sflow": {"pollInterval": 3}, "rules": ["/Common/r"]},
        ]});
        let rows = NestedRows::from(RowsRule::json(FieldPath::of("items"), true));
        let text = |read, answer, rows| {
            let nodes = objects(read, answer, rows);
            Tree {
                nodes,
                ..Tree::default()
            }
            .text()
        };
        let rows = Some(&rows);
        assert_eq!(
            text("GET /ltm/pool", &answer, rows),
            "/ltm/pool /Common/a\n name: \"a\"\n allowNat: \"yes\"\n members: /Common/n1:80 ratio=2\n members: /Common/n2:80\n\
             /ltm/pool /Common/b\n sflow.pollInterval: 3\n rules: [\"/Common/r\"]\n"
        );
        let singleton = serde_json::json!({"kind": "x", "timezone": "UTC"});
        assert_eq!(
            text("GET /sys/ntp", &singleton, None),
            "/sys/ntp\n timezone: \"UTC\"\n"
        );
        let numbered = serde_json::json!({"items": [{"id": 10, "name": null}]});
        assert_eq!(text("GET /vlan", &numbered, rows), "/vlan 10\n id: 10\n");
        assert_eq!(text("GET /ltm/pool", &Json::Null, rows), "");
    }
}
