//! Requests as edits of a NETCONF configuration (RFC 6241, section 7.2).
//!
//! A path is that of an element. A request without a method of its own merges.

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use super::definition::RestDefinition;
use super::element_path::{OPERATION, tree};
use super::writer::error;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::equivalent;
use crate::model::TypeModel;
use crate::operation::{Edit, Method, Request};
use crate::read::field_path::FieldPath;
use crate::read::xml::{self, Namespaces};
use crate::secret::Text;

const DELETE: &str = "delete";

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
        for (name, field) in definition.fields() {
            let attribute = model.attributes.get(name);
            if attribute.is_some_and(|one| one.array.is_some())
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
