//! Requests that name their object in another way than by its path: those of single values, and changes
//! and removals with a path of their own.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use super::inner_lists::row_in;
use super::{HoleValues, Predictor, fill, remove_row, row_mut};
use crate::driver::json_body::Body;
use crate::driver::rest::definition::is_request;
use crate::driver::rest::definition::{KeyRule, RequestTarget, RestLocation};
use crate::driver::rest::field::{field_body, put_location};
use crate::driver::rest::objects::key_of;
use crate::operation::Request;
use crate::read::field_path::scalar_text;
use crate::read::rows::RowsRule;
use crate::value::Value;

impl Predictor<'_> {
    /// Applies a request to a list of objects. Returns false if it is none of these requests.
    pub(super) fn apply_own_to_list(
        &self,
        (request, body): (&Request, &Json),
        (rows, collection, kind): (&RowsRule, &str, Option<&str>),
        answer: &mut Json,
    ) -> bool {
        let rule = &self.definition.instance;
        let found = rows.rows(answer).unwrap_or_default();
        for (index, row) in found.iter().enumerate() {
            let Ok(key) = key_of(rule, &row_in(&[], row.name, row.value)) else {
                continue;
            };
            let key: Vec<String> = key.into_iter().map(Cow::into_owned).collect();
            let object = row.value.clone();
            let values = self.values(&key, kind, &object);
            let is_removal = rule.remove.as_ref().is_some_and(|remove| {
                let path = remove.path.as_ref();
                path.is_some_and(|path| {
                    is_request((remove.method, path, &remove.body), request, &values)
                })
            });
            if is_removal {
                remove_row(rows.get_or_insert(answer), index);
                return true;
            }
            let mut changed = object.clone();
            if self.is_update((request, body), collection, (&key, &values)) {
                self.apply_to_object(request.method, body, &mut changed);
            } else if !self.apply_own(request, &values, &mut changed) {
                continue;
            }
            if let Some(object) = row_mut(rows.get_or_insert(answer), index) {
                *object = changed;
            }
            return true;
        }
        false
    }

    /// Whether a request changes the object with this key at a path of its own.
    fn is_update(
        &self,
        (request, body): (&Request, &Json),
        collection: &str,
        (key, values): (&[String], &HoleValues<'_>),
    ) -> bool {
        let rule = &self.definition.instance;
        let is_at = match &rule.update.target {
            RequestTarget::Object => return false,
            RequestTarget::Collection => request.path == collection,
            RequestTarget::Path(path) => fill(path, values) == request.path,
        };
        let is_named = |(rule, value): (&KeyRule, &String)| {
            let named = rule.field.as_ref().and_then(|field| field.get(body));
            named.is_none_or(|named| scalar_text(named).as_ref() == Some(value))
        };
        is_at && rule.update.method == request.method && rule.key.iter().zip(key).all(is_named)
    }

    /// Sets the value of a request of its own. Returns false if the request is another one.
    pub(super) fn apply_own(
        &self,
        request: &Request,
        values: &HoleValues<'_>,
        object: &mut Json,
    ) -> bool {
        let Some((name, value)) = self.definition.value_of_request(request, values) else {
            return false;
        };
        let location = &self.definition.attributes[name].location;
        match location {
            RestLocation::Choice(choice) => {
                choice
                    .others(Some(value))
                    .for_each(|path| path.remove(object));
                if let Some(path) = choice.places.get(value) {
                    path.put(object, json!({}));
                }
            }
            location => {
                let decides = |name: &str| {
                    self.definition
                        .deciding_value(self.model, name, (object, None))
                };
                let field = self.definition.field(location, &decides);
                let is_absent = location.absent().as_deref() == Some(value);
                let value = Value::from(value);
                let mut body = Body::from(object.clone());
                match field {
                    Some(field) if is_absent => body.remove(&field.path),
                    Some(field) => body.put(&field.path, field_body(field, &value, None)),
                    None => put_location(&mut body, location, &value),
                }
                let text = body.to_text().reveal();
                *object = serde_json::from_str(&text).unwrap_or_default();
            }
        }
        true
    }
}
