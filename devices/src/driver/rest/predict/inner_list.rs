//! Edits of a list in an element of another list.

use serde_json::{Value as Json, json};

use super::Predictor;
use crate::driver::rest::element_path;
use crate::operation::Method;
use crate::read::rows::RowsRule;

impl Predictor<'_> {
    /// Applies an edit to the list in the element that its path names. A new object creates a missing
    /// element, as an edit does. Returns false if the path is another one.
    pub(super) fn apply_to_inner_list(
        &self,
        request: (Method, &str, &Json),
        (each, list): (&RowsRule, (&RowsRule, &str, Option<&str>)),
        answer: &mut Json,
    ) -> bool {
        let (method, path, _) = request;
        let depth = each.location().steps().len();
        let Some((_, keys)) = element_path::steps(path).into_iter().nth(depth - 1) else {
            return false;
        };
        let elements = each.get_or_insert(answer);
        if !elements.is_array() {
            *elements = json!([]);
        }
        let Some(elements) = elements.as_array_mut() else {
            return false;
        };
        let is_named = |element: &Json| keys.iter().all(|(name, value)| element[name] == *value);
        let index = match elements.iter().position(is_named) {
            Some(index) => index,
            None if method == Method::Delete => return false,
            None => {
                elements.push(Json::Object(keys));
                elements.len() - 1
            }
        };
        let outer = elements[index].clone();
        self.apply_to_list(request, list, &mut elements[index], Some(&outer))
    }
}
