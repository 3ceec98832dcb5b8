//! Objects in a document that is written as a whole, by a [`DocumentRule`].
//!
//! A change reads the document from the state, changes the object in it, and sends all of it. The
//! request requires that the device still has the document that was read.

use serde_json::Value as Json;

use super::canonical::canonical;
use super::definition::{KeyRule, RestInstanceRule};
use super::writer::{RequestWriter, error};
use crate::change::ChangeKind;
use crate::driver::document_rule::DocumentRule;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::Operation;
use crate::read::Parsed;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::NestedRow;
use crate::read::rows::JsonRow;
use crate::value::{Name, Value};

impl RequestWriter<'_> {
    /// The requests that write the document with the change.
    pub(super) fn write_document(
        &self,
        document: &DocumentRule,
    ) -> Result<Vec<Operation>, RenderError> {
        let rule = &self.definition.instance;
        let Some(Parsed::Json(answer)) = self.state.get(&document.read.name) else {
            return Err(error("ensure", "the document was not read"));
        };
        let path = self.path_in_document(rule, answer);
        let missing = || RenderError::lacking_object("ensure", "the object is not in the document");
        let after = match (self.change.kind, &rule.create) {
            (ChangeKind::Remove, _) if !rule.remove => {
                let message = "the device has exactly one, which cannot be removed";
                return Err(error("ensure", message));
            }
            (ChangeKind::Remove, _) => {
                let mut after = answer.clone();
                path.ok_or_else(missing)?.remove(&mut after);
                Body::from(after)
            }
            (ChangeKind::Create, Some(create)) => {
                let mut after = Body::from(answer.clone());
                let path = self.path_of_new(rule, answer)?;
                after.put(&path, self.new_object(create)?);
                after
            }
            (ChangeKind::Create, None) => {
                let message = "the device has exactly one, which cannot be created";
                return Err(error("ensure", message));
            }
            (ChangeKind::Update, _) => {
                let path = path.ok_or_else(missing)?;
                let object = path.get(answer).ok_or_else(missing)?;
                let mut changed = self.current_body(object);
                self.put_fields(&mut changed, &|name| {
                    self.change.attributes.iter().any(|one| one == name)
                });
                let mut after = Body::from(answer.clone());
                after.put(&path, changed);
                after
            }
        };
        let attributes: Vec<Name> = if self.change.is_create_or_remove() {
            vec!["ensure".into()]
        } else {
            self.change.attributes.clone()
        };
        Ok(document.operations(&attributes, answer, after))
    }

    /// The path of the object of the change in the answer; that of the answer for a singleton.
    fn path_in_document(&self, rule: &RestInstanceRule, answer: &Json) -> Option<FieldPath> {
        let Some(rows) = &rule.rows else {
            return Some(FieldPath::default());
        };
        let mut found = rows.rows(answer).ok()?.into_iter();
        let found = found.find(|found| {
            let mut keys = rule.key.iter();
            keys.all(|key| self.is_desired(key, found))
        })?;
        let outer = rows.path_of(&found.place.outer, &found.outer);
        Some(outer.join(&rows.innermost().path_of(found.place.index, found.row)))
    }

    /// The path of a new object in the answer.
    fn path_of_new(
        &self,
        rule: &RestInstanceRule,
        answer: &Json,
    ) -> Result<FieldPath, RenderError> {
        let rows = rule.rows.as_ref();
        let rows = rows.ok_or_else(|| error("ensure", "the type has no list of objects"))?;
        let mut outer = FieldPath::default();
        let mut value = answer;
        for (index, list) in rows.outer().iter().enumerate() {
            let up = rows.depth() - index;
            let element = self.outer_element(rule, list.rows(value).unwrap_or_default(), up)?;
            outer = outer.join(&list.path_of(element.0, element.1));
            value = element.1.value;
        }
        let name = rule
            .key
            .iter()
            .find(|key| key.up == 0 && key.field.is_none());
        let name = name.and_then(|key| self.change.desired.attributes.get(&key.attribute));
        let name = name.and_then(Value::scalar_text);
        let list = rows.innermost();
        let count = list.rows(value).map(|rows| rows.len()).unwrap_or_default();
        Ok(outer.join(&list.path_of_new(count, name.as_deref())))
    }

    /// The element of an outer list that gets a new object, with its index.
    fn outer_element<'j>(
        &self,
        rule: &RestInstanceRule,
        rows: Vec<JsonRow<'j>>,
        up: usize,
    ) -> Result<(usize, JsonRow<'j>), RenderError> {
        let keys = || rule.key.iter().filter(|key| key.up == up);
        let mut elements = rows.into_iter().enumerate();
        let found = elements.find(|(_, row)| keys().all(|key| self.is_desired_in(key, *row)));
        found.ok_or_else(|| {
            let key = keys().next().map_or("ensure", |key| &key.attribute);
            let value = self.change.desired.attributes.get(key);
            let value = value.and_then(Value::scalar_text).unwrap_or_default();
            let message = format!("`{value}` does not exist on the device");
            RenderError::lacking_object(key, message)
        })
    }

    /// Whether the value of a row is that of a namevar of the resource.
    fn is_desired(&self, key: &KeyRule, found: &NestedRow<'_>) -> bool {
        found
            .up(key.up)
            .is_some_and(|row| self.is_desired_in(key, row))
    }

    /// Whether the value of an element is that of a namevar of the resource.
    fn is_desired_in(&self, key: &KeyRule, row: JsonRow<'_>) -> bool {
        let Ok(value) = key.value_in(row) else {
            return false;
        };
        let (definition, model) = (self.definition, self.model);
        let value = Value::from(value.as_ref());
        let value = canonical(definition, model, &key.attribute, &value, None);
        let desired = self.change.desired.attributes.get(&key.attribute);
        desired.and_then(Value::scalar_text) == value.scalar_text()
    }
}
