//! Requests as edits of a NETCONF configuration (RFC 6241, section 7.2).
//!
//! A path is that of an element, with the keys of elements in lists:
//! `/ietf-interfaces:interfaces/interface[name=eth0]`. A request without a method of its own merges.

use std::collections::HashSet;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as Json};

use super::definition::{RestDefinition, RestLocation};
use super::writer::error;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::equivalent;
use crate::model::TypeModel;
use crate::operation::{Edit, Method, Request};
use crate::read::field_path::FieldPath;
use crate::read::xml::{self, Namespaces};
use crate::secret::Text;

/// The attribute of an element that is not merged.
const OPERATION: &str = "@nc:operation";
const DELETE: &str = "delete";

/// A read of the elements at a path: the operation that a session sends. `outer` are the keys of the
/// list that contains them.
pub(crate) fn get_config(path: &str, outer: &[&FieldPath], namespaces: &Namespaces) -> String {
    // A filter without the keys returns the inner elements alone.
    let keys: String = outer.iter().map(|key| format!("[{key}=]")).collect();
    let path = path.replace("[*]", &keys);
    let filter = xml::write(&tree(&path, Json::Null), namespaces, &|_| false);
    let filter = filter.map_or_else(|_| String::new(), |filter| filter.reveal());
    format!(
        "<get-config><source><running/></source><filter type=\"subtree\">{filter}</filter></get-config>"
    )
}

/// The edit with the effect of a request. `current` is the object as it was read.
///
/// # Errors
/// A value cannot be sent as XML.
pub(crate) fn edit(
    definition: &RestDefinition,
    model: &TypeModel,
    request: Request,
    current: Option<&Json>,
    namespaces: &Namespaces,
) -> Result<Edit, RenderError> {
    let body = request.body.as_ref().map(Text::reveal);
    let body: Option<Json> = body.and_then(|body| serde_json::from_str(&body).ok());
    let mut body = body.unwrap_or_default();
    let operation = match request.method {
        Method::Post => Some("create"),
        Method::Put => Some("replace"),
        Method::Delete => Some(DELETE),
        Method::Patch | Method::Get => None,
    };
    if let (None, Some(current)) = (operation, current) {
        for (name, rule) in &definition.attributes {
            if let RestLocation::Field(field) = &rule.location
                && model
                    .attributes
                    .get(name)
                    .is_some_and(|one| one.array.is_some())
                && let Some(Json::Array(new)) = field.path.get(&body)
            {
                let changes = changes_of_list(new, field.path.get(current), field.each.as_ref());
                field.path.put(&mut body, Json::Array(changes));
            }
        }
    }
    if let Some(operation) = operation {
        let mut fields = Map::new();
        fields.insert(OPERATION.to_owned(), operation.into());
        if let Json::Object(own) = body {
            fields.extend(own);
        }
        body = Json::Object(fields);
    }
    let secrets: HashSet<String> = request
        .body
        .iter()
        .flat_map(Text::secrets)
        .filter_map(|quoted| serde_json::from_str(&format!("\"{quoted}\"")).ok())
        .collect();
    let config = xml::write(&tree(&request.path, body), namespaces, &|text| {
        secrets.contains(text)
    });
    let config = config.map_err(|reason| error("ensure", &reason.to_string()))?;
    Ok(Edit { config, request })
}

/// The elements of a list that are new, and those that are deleted: a merge does not remove.
fn changes_of_list(new: &[Json], old: Option<&Json>, each: Option<&FieldPath>) -> Vec<Json> {
    let value = |item: &Json| match each {
        Some(each) => each.get(item).cloned().unwrap_or_default(),
        None => item.clone(),
    };
    let old: Vec<Json> = match old {
        Some(Json::Array(items)) => items.iter().map(value).collect(),
        Some(Json::String(text)) if text.is_empty() => Vec::new(),
        Some(one) => vec![value(one)],
        None => Vec::new(),
    };
    let is_in = |all: &[Json], one: &Json| all.iter().any(|other| equivalent(other, one));
    let mut changes: Vec<Json> = new.to_vec();
    changes.retain(|item| !is_in(&old, &value(item)));
    let new: Vec<Json> = new.iter().map(value).collect();
    for removed in old.iter().filter(|one| !is_in(&new, one)) {
        let mut element = Json::Object(Map::new());
        element[OPERATION] = DELETE.into();
        match each {
            Some(each) => each.put(&mut element, removed.clone()),
            None => element[""] = removed.clone(),
        }
        changes.push(element);
    }
    changes
}

/// The elements of a path around the content of the last one.
fn tree(path: &str, content: Json) -> Json {
    steps(path).into_iter().rev().fold(content, |inner, step| {
        let (name, keys) = step;
        let element = match (keys.is_empty(), inner) {
            (true, inner) => inner,
            (false, Json::Object(own)) => {
                let (operation, own): (Map<_, _>, Map<_, _>) =
                    own.into_iter().partition(|(name, _)| name == OPERATION);
                let mut fields = operation;
                fields.extend(keys);
                for (name, value) in own {
                    fields.entry(name).or_insert(value);
                }
                Json::Object(fields)
            }
            (false, _) => Json::Object(keys),
        };
        let mut parent = Map::new();
        parent.insert(name, element);
        Json::Object(parent)
    })
}

/// The names of the elements of a path, each with its keys.
pub(super) fn steps(path: &str) -> Vec<(String, Map<String, Json>)> {
    let steps = path.split('/').filter(|step| !step.is_empty());
    let steps = steps.map(|step| {
        let (name, keys) = step.split_once('[').unwrap_or((step, ""));
        let keys = keys.split(['[', ']']).filter_map(|key| {
            let (name, value) = key.split_once('=')?;
            Some((decoded(name), Json::from(decoded(value))))
        });
        (decoded(name), keys.collect())
    });
    steps.collect()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn edit_paths_become_elements_with_their_keys_first() {
        let path = "/if:interfaces/interface[name=a%2Fb%5D][unit=0]/if%3Amtu";
        let expected = json!({"if:interfaces": {"interface": {"name": "a/b]", "unit": "0", "if:mtu": {"@nc:operation": "delete"}}}});
        assert_eq!(tree(path, json!({"@nc:operation": "delete"})), expected);
        let body = json!({"@nc:operation": "create", "name": "x", "mtu": 9000});
        let expected = json!({"a": {"@nc:operation": "create", "name": "x", "mtu": 9000}});
        assert_eq!(tree("/a[name=x]", body).to_string(), expected.to_string());
    }

    #[test]
    fn edit_of_a_list_has_the_changes_only() {
        let old = json!(["a", "b"]);
        let changes = changes_of_list(&[json!("b"), json!("c")], Some(&old), None);
        let expected = [json!("c"), json!({"@nc:operation": "delete", "": "a"})];
        assert_eq!(changes, expected);
        let each: FieldPath = "ip".parse().expect("a path");
        let one = json!({"ip": "192.0.2.1", "origin": "static"});
        let changes = changes_of_list(&[], Some(&one), Some(&each));
        let expected = [json!({"@nc:operation": "delete", "ip": "192.0.2.1"})];
        assert_eq!(changes, expected);
    }
}
