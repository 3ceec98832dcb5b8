//! Requests whose body has the command and the names of the object.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::Predictor;
use super::inner_lists::row_in;
use crate::driver::rest::objects::key_of;
use crate::driver::rest::template::BodyField;
use crate::operation::Request;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::read::{Parsed, State};

impl Predictor<'_> {
    /// Applies a request whose body has the command and the names of the object.
    pub(super) fn apply_command(&self, request: &Request, state: &mut State) {
        let rule = &self.definition.instance;
        let body = request.body.as_ref();
        let body: Option<Json> = body.and_then(|body| serde_json::from_str(&body.reveal()).ok());
        let (Some(body), Some(rows), Some(source)) = (body, &rule.rows, &rule.source) else {
            return;
        };
        let Some(Parsed::Json(answer)) = state.get_mut(&source.name) else {
            return;
        };
        let object = rule.envelope.get(&body).cloned().unwrap_or_default();
        let names = |value: &Json| {
            let key = key_of(rule, &row_in(&[], None, value)).ok()?;
            Some(key.into_iter().map(Cow::into_owned).collect::<Vec<_>>())
        };
        let is_command = |frame: &[(FieldPath, BodyField)]| {
            !frame.is_empty()
                && frame.iter().all(|(path, field)| match field {
                    BodyField::Constant(json) => path.get(&body) == Some(json),
                    BodyField::Text(text) if text.holes().next().is_none() => {
                        path.get(&body).and_then(Json::as_str) == Some(&text.to_string())
                    }
                    BodyField::Text(_) => true,
                })
        };
        let list = rows.innermost().get_or_insert(answer);
        if rule.create.iter().any(|create| is_command(&create.frame)) {
            self.add_object((&request.path, &object), list, &[]);
            return;
        }
        let Some(items) = list.as_array_mut() else {
            return;
        };
        if is_command(&rule.update.frame) {
            let key = names(&object);
            if let Some(item) = items.iter_mut().find(|item| names(item) == key) {
                self.apply_to_object(request.method, &object, item);
            }
        } else if let Some(remove) = rule.remove.as_ref().filter(|one| is_command(&one.body)) {
            let value = |attribute: &str| {
                remove.body.iter().find_map(|(path, field)| match field {
                    BodyField::Text(text) => {
                        let found = scalar_text(path.get(&body)?)?;
                        let values = text.values_in(&found)?.into_iter();
                        let mut values = values.filter(|(hole, _)| *hole == attribute);
                        values.next().map(|(_, value)| value)
                    }
                    BodyField::Constant(_) => None,
                })
            };
            let key: Option<Vec<String>> =
                rule.key.iter().map(|key| value(&key.attribute)).collect();
            items.retain(|item| names(item) != key);
        }
    }
}
