//! Requests as edits of a NETCONF configuration (RFC 6241, section 7.2).
//!
//! A path is that of an element. A request without a method of its own merges.

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use super::definition::{RestAttributeRule, RestDefinition};
use super::element_path::{OPERATION, steps, tree};
use super::objects::FoundObject;
use super::writer::error;
use crate::driver::implementation::RenderError;
use crate::driver::inactive::InactiveRule;
use crate::driver::json_body::equivalent;
use crate::model::TypeModel;
use crate::operation::{Edit, Method, Request};
use crate::read::field_path::FieldPath;
use crate::read::xml::{self, Namespaces};
use crate::secret::Text;
use crate::value::Name;

const DELETE: &str = "delete";

/// The object of a change, as it was read.
pub(crate) struct EditedObject<'a> {
    pub(crate) definition: &'a RestDefinition,
    pub(crate) model: &'a TypeModel,
    /// `None`: it is new.
    pub(crate) found: Option<FoundObject<'a>>,
    /// The attributes that the change sets.
    pub(crate) written: &'a [Name],
}

impl EditedObject<'_> {
    /// The edit with the effect of a request.
    ///
    /// # Errors
    /// A value cannot be sent as XML.
    pub(crate) fn edit(
        &self,
        request: Request,
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
        let current = self.found.as_ref().map(|found| found.object);
        if let (None, Some(current)) = (operation, current) {
            self.put_list_changes(&mut body, current);
        }
        if let Some(current) = current {
            self.activate_fields(&mut body, current);
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
        let mut elements = tree(&request.path, body);
        self.activate_elements(&request, &mut elements);
        let config = xml::write(&elements, namespaces, &|text| secrets.contains(text));
        let config = config.map_err(|reason| error("ensure", &reason.to_string()))?;
        Ok(Edit { config, request })
    }

    /// Replaces complete lists by their changes.
    fn put_list_changes(&self, body: &mut Json, current: &Json) {
        let inactive = self.definition.inactive.as_ref();
        for (name, field) in self.definition.fields() {
            let attribute = self.model.attributes.get(name);
            if attribute.is_some_and(|one| one.array.is_some())
                && let Some(Json::Array(new)) = field.path.get(body)
            {
                let old = field.path.get(current);
                let changes = changes_of_list((new, old), field.each.as_ref(), inactive);
                field.path.put(body, Json::Array(changes));
            }
        }
    }

    /// Activates the elements on the paths of attributes that the change sets.
    fn activate_fields(&self, body: &mut Json, current: &Json) {
        let Some(inactive) = &self.definition.inactive else {
            return;
        };
        let rules = self.written.iter();
        let rules = rules.filter_map(|name| self.definition.attributes.get(name));
        for path in rules.flat_map(RestAttributeRule::paths) {
            inactive.activate_path(body, current, path);
        }
    }

    /// Activates the elements around the object, and its own, unless it is deleted.
    fn activate_elements(&self, request: &Request, elements: &mut Json) {
        let (Some(inactive), Some(found)) = (&self.definition.inactive, &self.found) else {
            return;
        };
        // The removal of an object activates nothing.
        if self
            .definition
            .removes_object(request.method, &request.path)
        {
            return;
        }
        let names: Vec<String> = steps(&request.path)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        for count in &found.marked {
            let element = names[..(*count).min(names.len())]
                .iter()
                .try_fold(&mut *elements, |at, name| at.get_mut(name));
            if let Some(element) = element {
                inactive.activate(element);
            }
        }
    }
}

/// The elements of a list that are new, and those that are deleted: a merge does not remove.
fn changes_of_list(
    (new, old): (&[Json], Option<&Json>),
    each: Option<&FieldPath>,
    inactive: Option<&InactiveRule>,
) -> Vec<Json> {
    let value = |item: &Json| match each {
        Some(each) => each.get(item).cloned().unwrap_or_default(),
        // An element with attributes.
        None => item.get("").unwrap_or(item).clone(),
    };
    let known: &[Json] = match old {
        Some(Json::Array(items)) => items,
        Some(Json::String(text)) if text.is_empty() => &[],
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let is_marked = |item: &Json| inactive.is_some_and(|rule| rule.is_marked(item));
    let old: Vec<Json> = known.iter().map(value).collect();
    let marked: Vec<Json> = known
        .iter()
        .filter(|item| is_marked(item))
        .map(value)
        .collect();
    let is_in = |all: &[Json], one: &Json| all.iter().any(|other| equivalent(other, one));
    let mut changes: Vec<Json> = new.to_vec();
    changes.retain(|item| !is_in(&old, &value(item)) || is_in(&marked, &value(item)));
    for item in &mut changes {
        if let Some(rule) = inactive.filter(|_| is_in(&marked, &value(item))) {
            rule.activate(item);
        }
    }
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
        let changes = changes_of_list((&[json!("b"), json!("c")], Some(&old)), None, None);
        let expected = [json!("c"), json!({"@nc:operation": "delete", "": "a"})];
        assert_eq!(changes, expected);
        let each: FieldPath = "ip".parse().expect("a path");
        let one = json!({"ip": "192.0.2.1", "origin": "static"});
        let changes = changes_of_list((&[], Some(&one)), Some(&each), None);
        let expected = [json!({"@nc:operation": "delete", "ip": "192.0.2.1"})];
        assert_eq!(changes, expected);
    }
}
