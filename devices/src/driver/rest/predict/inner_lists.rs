//! Requests for objects in lists in the elements of other lists.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::{Predictor, fill};
use crate::driver::rest::element_path;
use crate::operation::Method;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::{NestedRow, NestedRows, RowPosition};
use crate::read::parents::name_field;
use crate::read::rows::JsonRow;

/// An element of an outer list: its name in a map, and the fields of its key.
pub(super) struct OuterElement {
    pub(super) name: Option<String>,
    pub(super) fields: Json,
}

/// A value of a list as a row in elements of outer lists.
pub(super) fn row_in<'a>(
    outer: &'a [OuterElement],
    name: Option<&'a str>,
    value: &'a Json,
) -> NestedRow<'a> {
    let outer = outer.iter().map(|element| JsonRow {
        name: element.name.as_deref(),
        value: &element.fields,
    });
    NestedRow {
        outer: outer.collect(),
        row: JsonRow { name, value },
        position: RowPosition::default(),
    }
}

impl Predictor<'_> {
    /// Applies a request that writes the parent of objects. Returns false if it is for another path.
    pub(super) fn apply_to_parent(
        &self,
        (method, path, body): (Method, &str, &Json),
        rows: &NestedRows,
        answer: &mut Json,
    ) -> bool {
        let rule = &self.definition.instance;
        let parents = rows.parents(rule.parent_levels);
        let found = parents.rows(answer).unwrap_or_default().into_iter();
        let mut found = found.filter(|row| {
            let value = |hole: &str| {
                let key = rule.key.iter().find(|key| key.attribute == hole)?;
                let row = row.up(key.up.checked_sub(rule.parent_levels)?)?;
                key.value_in(row).ok().map(Cow::into_owned)
            };
            fill(&rule.object, &value) == path
        });
        let Some(row) = found.next() else {
            return false;
        };
        let outer = parents.path_of(&row.position.outer, &row.outer);
        let position = outer.join(&parents.innermost().path_of(row.position.index, row.row));
        if let Some(parent) = position.get_mut(answer) {
            self.apply_to_object(method, body, parent);
        }
        true
    }

    /// Applies a request to the list in the elements of outer lists that has its object, which has a path
    /// of its own. Returns false if it is for another path.
    pub(super) fn apply_to_inner_lists(
        &self,
        request: (Method, &str, &Json),
        (rows, kind): (&NestedRows, Option<&str>),
        answer: &mut Json,
    ) -> bool {
        let rule = &self.definition.instance;
        if rule.parent.is_some() {
            self.add_parent(request.1, answer);
        }
        let lists = rows.lists(answer).unwrap_or_default().into_iter();
        let lists: Vec<(FieldPath, Vec<OuterElement>)> = lists
            .map(|list| {
                let position = rows.path_of(&list.indexes, &list.outer);
                (position, self.outer_elements(&list.outer))
            })
            .collect();
        lists.iter().any(|(position, outer)| {
            let values = self.outer_values(outer);
            let collection = fill(&rule.collection, &|hole| values.get(hole).cloned());
            position.get_mut(answer).is_some_and(|value| {
                let list = (rows.innermost(), collection.as_str(), kind);
                self.apply_to_list(request, list, value, outer)
            })
        })
    }

    /// Adds the parent of a new object, which another request has created.
    fn add_parent(&self, path: &str, answer: &mut Json) {
        let rule = &self.definition.instance;
        let (Some(names), Some(parent)) = (rule.collection.values_in(path), &rule.parent) else {
            return;
        };
        if !answer.is_array() {
            *answer = json!([]);
        }
        let mut element = json!({});
        for (attribute, _) in &parent.key {
            let name = names.iter().find(|(hole, _)| hole == attribute);
            let name = name.map(|(_, text)| text.clone()).unwrap_or_default();
            name_field(attribute).put(&mut element, name.into());
        }
        let elements = answer.as_array_mut().expect("was just made a list");
        let names_of = |element: &Json| {
            let names = parent.key.iter();
            let names = names.map(|(name, _)| name_field(name).get(element).cloned());
            names.collect::<Vec<_>>()
        };
        let names = names_of(&element);
        if elements.iter().all(|other| names_of(other) != names) {
            elements.push(element);
        }
    }

    /// The elements of outer lists with the fields of their keys.
    fn outer_elements(&self, outer: &[JsonRow<'_>]) -> Vec<OuterElement> {
        let depth = outer.len();
        let elements = outer.iter().enumerate();
        let elements = elements.map(|(index, row)| {
            let mut fields = json!({});
            let keys = &self.definition.instance.key;
            let keys = keys.iter().filter(|key| key.up == depth - index);
            for field in keys.filter_map(|key| key.field.as_ref()) {
                let value = field.get(row.value).cloned().unwrap_or_default();
                field.put(&mut fields, value);
            }
            OuterElement {
                name: row.name.map(str::to_owned),
                fields,
            }
        });
        elements.collect()
    }

    /// The namevars that elements of outer lists have.
    fn outer_values(&self, outer: &[OuterElement]) -> HashMap<&str, String> {
        let nothing = Json::Null;
        let row = row_in(outer, None, &nothing);
        let keys = self.definition.instance.key.iter();
        let keys = keys.filter(|key| key.up > 0);
        keys.filter_map(|key| Some((key.attribute.as_str(), key.value(&row).ok()?.into_owned())))
            .collect()
    }

    /// Whether the values in a path, if it is one, are those of the elements of outer lists.
    pub(super) fn is_below(
        &self,
        outer: &[OuterElement],
        in_path: Option<Vec<(&str, String)>>,
    ) -> bool {
        let values = self.outer_values(outer);
        in_path.is_some_and(|in_path| {
            let mut in_path = in_path.iter();
            in_path.all(|(name, value)| values.get(name).is_none_or(|own| own == value))
        })
    }

    /// Applies an edit to the list in the elements that its path names. A new object creates missing
    /// elements, as an edit does. Returns false if the path is another one.
    pub(super) fn apply_to_elements(
        &self,
        request: (Method, &str, &Json),
        (rows, collection, kind): (&NestedRows, &str, Option<&str>),
        answer: &mut Json,
    ) -> bool {
        let (method, path, _) = request;
        let steps = element_path::steps(path);
        let mut depth = 0;
        let mut outer = Vec::new();
        let mut at = answer;
        for list in rows.outer() {
            depth += list.location().steps().len();
            let Some((_, keys)) = steps.get(depth - 1) else {
                return false;
            };
            let elements = list.get_or_insert(at);
            if !elements.is_array() {
                *elements = json!([]);
            }
            let Some(elements) = elements.as_array_mut() else {
                return false;
            };
            let mut keyed = elements.iter();
            let is_named =
                |element: &Json| keys.iter().all(|(name, value)| element[name] == *value);
            let index = match keyed.position(is_named) {
                Some(index) => index,
                None if method == Method::Delete => return false,
                None => {
                    elements.push(Json::Object(keys.clone()));
                    elements.len() - 1
                }
            };
            outer.push(OuterElement {
                name: None,
                fields: Json::Object(keys.clone()),
            });
            at = &mut elements[index];
        }
        self.apply_to_list(request, (rows.innermost(), collection, kind), at, &outer)
    }
}
