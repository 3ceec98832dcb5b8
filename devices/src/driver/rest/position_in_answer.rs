//! The position of an object in the answer, for requests that write what contains it: a document, or its
//! parent.

use serde_json::Value as Json;

use super::canonical::canonical;
use super::definition::{KeyRule, RestInstanceRule};
use super::writer::{RequestWriter, error};
use crate::change::ChangeKind;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::NestedRow;
use crate::read::rows::JsonRow;
use crate::value::{Name, Value};

impl RequestWriter<'_> {
    /// The path of the object of the change in the answer; of a new object, its future path.
    pub(super) fn position_in(&self, answer: &Json) -> Result<FieldPath, RenderError> {
        let rule = &self.definition.instance;
        match self.change.kind {
            ChangeKind::Remove if rule.remove.is_none() => {
                let message = "the device has exactly one, which cannot be removed";
                Err(error("ensure", message))
            }
            ChangeKind::Create if rule.create.is_none() => {
                let message = "the device has exactly one, which cannot be created";
                Err(error("ensure", message))
            }
            ChangeKind::Create => self.path_of_new(rule, answer),
            ChangeKind::Remove | ChangeKind::Update => {
                self.path_of_known(rule, answer).ok_or_else(missing)
            }
        }
    }

    /// A value that contains the object at a path, with the change.
    pub(super) fn with_change(&self, value: &Json, path: &FieldPath) -> Result<Body, RenderError> {
        let rule = &self.definition.instance;
        match (self.change.kind, &rule.create) {
            (ChangeKind::Remove, _) => {
                let mut after = value.clone();
                path.remove(&mut after);
                Ok(Body::from(after))
            }
            (ChangeKind::Create, Some(create)) => {
                let object = self.new_object(create)?;
                let mut after = Body::from(value.clone());
                after.put(path, object);
                Ok(after)
            }
            (ChangeKind::Create | ChangeKind::Update, _) => {
                let object = path.get(value).ok_or_else(missing)?;
                let mut changed = self.current_body(object);
                self.put_fields(&mut changed, &|name| {
                    self.change.attributes.iter().any(|one| one == name)
                });
                let mut after = Body::from(value.clone());
                after.put(path, changed);
                Ok(after)
            }
        }
    }

    /// The attributes that a request with the whole change writes.
    pub(super) fn written_attributes(&self) -> Vec<Name> {
        if self.change.is_create_or_remove() {
            vec!["ensure".into()]
        } else {
            self.change.attributes.clone()
        }
    }

    /// The path of an existing object; that of the answer for a singleton.
    fn path_of_known(&self, rule: &RestInstanceRule, answer: &Json) -> Option<FieldPath> {
        let Some(rows) = &rule.rows else {
            return Some(FieldPath::default());
        };
        let mut found = rows.rows(answer).ok()?.into_iter();
        let found = found.find(|found| {
            let mut keys = rule.key.iter();
            keys.all(|key| self.is_desired(key, found))
        })?;
        let outer = rows.path_of(&found.position.outer, &found.outer);
        Some(outer.join(&rows.innermost().path_of(found.position.index, found.row)))
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
    pub(super) fn is_desired(&self, key: &KeyRule, found: &NestedRow<'_>) -> bool {
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

fn missing() -> RenderError {
    RenderError::lacking_object("ensure", "the object is not in the answer of the device")
}
