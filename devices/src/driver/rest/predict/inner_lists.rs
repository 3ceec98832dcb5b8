//! Edits of a list in the elements of other lists.

use serde_json::{Value as Json, json};

use super::Predictor;
use crate::driver::rest::element_path;
use crate::operation::Method;
use crate::read::nested_rows::{NestedRow, NestedRows, RowPlace};
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
        place: RowPlace::default(),
    }
}

impl Predictor<'_> {
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
