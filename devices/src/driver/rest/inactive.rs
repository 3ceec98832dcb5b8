//! Inactive elements of a NETCONF configuration: an attribute marks what the device has and does not use.
//!
//! An object is inactive if its element or one around it is; an attribute, if an element on the path to its
//! field is. A change activates the elements on the path of what it sets.

use serde_json::{Map, Value as Json};

use super::definition::{RestAttributeRule, RestDefinition, RestLocation};
use super::element_path::steps;
use crate::driver::inactive::InactiveRule;
use crate::driver::json_body::Body;
use crate::operation::Method;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::{NestedRow, NestedRows};
use crate::value::Name;

impl InactiveRule {
    fn mark_field(&self) -> String {
        format!("@{}", self.mark)
    }

    /// Whether an element is marked.
    pub(super) fn is_marked(&self, element: &Json) -> bool {
        element.get(self.mark_field()).is_some()
    }

    /// How many steps of a path lead to each marked element.
    pub(super) fn marked(&self, document: &Json, path: &FieldPath) -> Vec<usize> {
        let mut marked = Vec::new();
        let mut at = document;
        for (index, step) in path.steps().iter().enumerate() {
            let Some(next) = step.get(at) else {
                break;
            };
            at = next;
            if self.is_marked(at) {
                marked.push(index + 1);
            }
        }
        marked
    }

    /// The same for the names in the path of a row.
    pub(super) fn marked_elements(
        &self,
        (rows, answer): (&NestedRows, &Json),
        row: &NestedRow<'_>,
    ) -> Vec<usize> {
        let mut marked = Vec::new();
        let (mut at, mut depth) = (answer, 0);
        let elements = row.outer.iter().chain([&row.row]);
        for (list, element) in rows.levels().zip(elements) {
            let names = list.location();
            let inner = self.marked(at, names).into_iter();
            marked.extend(inner.map(|count| depth + count));
            depth += names.steps().len();
            at = element.value;
            if self.is_marked(at) && marked.last() != Some(&depth) {
                marked.push(depth);
            }
        }
        marked
    }

    /// Whether a value, an element of a list at its path, or an element around it, is marked.
    fn is_inactive(&self, object: &Json, path: &FieldPath) -> bool {
        let items = path.get(object).and_then(Json::as_array);
        let mut items = items.into_iter().flatten();
        !self.marked(object, path).is_empty() || items.any(|item| self.is_marked(item))
    }

    /// Marks the element for activation.
    pub(super) fn activate(&self, element: &mut Json) {
        if !element.is_object() {
            let mut fields = Map::new();
            fields.insert(String::new(), element.take());
            *element = Json::Object(fields);
        }
        if let Some(fields) = element.as_object_mut() {
            fields.shift_remove(&self.mark_field());
            fields.insert(format!("@{}", self.activate), self.activate.as_str().into());
        }
    }

    /// Marks the elements of a body for activation that are inactive in the object and on a path.
    pub(super) fn activate_path(&self, body: &mut Json, current: &Json, path: &FieldPath) {
        for count in self.marked(current, path) {
            let (element, _) = path.split_at(count);
            match element.get_mut(body) {
                Some(Json::Array(items)) => items.iter_mut().for_each(|item| self.activate(item)),
                Some(element) => self.activate(element),
                None => {}
            }
        }
    }

    /// Removes the marks of a body on a path.
    pub(super) fn clear(&self, body: &mut Body, path: &FieldPath) {
        let mark = FieldPath::of(&self.mark_field());
        for count in 0..=path.steps().len() {
            let (element, _) = path.split_at(count);
            body.remove(&element.join(&mark));
        }
    }

    /// Removes the marks of the elements on a path with keys.
    pub(super) fn clear_path(&self, answer: &mut Json, path: &str) {
        let mut at = answer;
        for (name, keys) in steps(path) {
            let Some(next) = at.get_mut(&name) else {
                return;
            };
            let is_named = |element: &Json| keys.iter().all(|(key, value)| element[key] == *value);
            let element = match next {
                Json::Array(items) => items.iter_mut().find(|item| is_named(item)),
                one => Some(one),
            };
            let Some(element) = element else {
                return;
            };
            self.clear_one(element);
            at = element;
        }
    }

    /// Removes the marks of an object on the paths that a body has.
    pub(super) fn clear_fields(&self, object: &mut Json, body: &Json, path: &FieldPath) {
        for count in 1..=path.steps().len() {
            let (element, _) = path.split_at(count);
            if element.get(body).is_some()
                && let Some(element) = element.get_mut(object)
            {
                self.clear_one(element);
            }
        }
    }

    fn clear_one(&self, element: &mut Json) {
        if let Some(fields) = element.as_object_mut() {
            fields.shift_remove(&self.mark_field());
        }
    }
}

impl RestAttributeRule {
    /// The paths where the value is.
    pub(super) fn paths(&self) -> Vec<&FieldPath> {
        match &self.location {
            RestLocation::Choice(choice) => choice.places.values().collect(),
            RestLocation::States(states) => {
                let fields = states.values().flat_map(|state| &state.set);
                fields.map(|(path, _)| path).collect()
            }
            location => {
                let fields = location.fields().into_iter();
                fields.map(|field| &field.path).collect()
            }
        }
    }
}

impl RestDefinition {
    /// Whether an edit deletes the element of an object, and not one in it.
    pub(super) fn removes_object(&self, method: Method, path: &str) -> bool {
        let depth = steps(&self.instance.object.to_string()).len();
        method == Method::Delete && steps(path).len() == depth
    }

    /// The attributes that an object has and does not use.
    pub(super) fn inactive_attributes(&self, object: &Json) -> Vec<Name> {
        let Some(inactive) = &self.inactive else {
            return Vec::new();
        };
        let rules = self.attributes.iter().filter(|(_, rule)| {
            let paths = rule.paths().into_iter();
            let mut existing = paths.filter(|path| path.get(object).is_some());
            existing.any(|path| inactive.is_inactive(object, path))
        });
        rules.map(|(name, _)| name.clone()).collect()
    }
}
