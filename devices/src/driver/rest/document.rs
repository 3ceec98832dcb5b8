//! Objects in a document that is written as a whole, by a [`DocumentRule`].
//!
//! A change reads the document from the state, changes the object in it, and sends all of it. The
//! request requires that the device still has the document that was read.

use serde_json::Value as Json;

use super::canonical::canonical;
use super::definition::RestInstanceRule;
use super::objects::{key_of, rows_in};
use super::writer::{RequestWriter, error};
use crate::change::ChangeKind;
use crate::driver::document_rule::DocumentRule;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::Operation;
use crate::read::Parsed;
use crate::read::field_path::FieldPath;
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
        if rule.rows.is_none() {
            return Some(FieldPath::default());
        }
        let rows = rows_in(rule, answer).ok()?.into_iter();
        let mut rows = rows.filter(|one| {
            key_of(rule, one.row, one.outer).is_ok_and(|key| {
                rule.key
                    .iter()
                    .zip(key)
                    .all(|(rule, value)| self.is_desired(&rule.attribute, &value))
            })
        });
        rows.next()?.path(rule)
    }

    /// The path of a new object in the answer.
    fn path_of_new(
        &self,
        rule: &RestInstanceRule,
        answer: &Json,
    ) -> Result<FieldPath, RenderError> {
        let rows = rule.rows.as_ref();
        let rows = rows.ok_or_else(|| error("ensure", "the type has no list of objects"))?;
        let (list, outer) = match &rule.each {
            None => (answer, FieldPath::default()),
            Some(each) => {
                let each = each.location();
                let index = self.outer_index(rule, each.get(answer))?;
                let path = each.join(&FieldPath::element(index));
                (path.get(answer).unwrap_or(&Json::Null), path)
            }
        };
        let name = rule.key.iter().find(|key| key.field.is_none());
        let name = name.and_then(|key| self.change.desired.attributes.get(&key.attribute));
        let name = name.and_then(Value::scalar_text);
        let count = rows.rows(list).map(|rows| rows.len()).unwrap_or_default();
        Ok(outer.join(&rows.path_of_new(count, name.as_deref())))
    }

    /// The index of the element of the outer list that gets a new object.
    fn outer_index(
        &self,
        rule: &RestInstanceRule,
        list: Option<&Json>,
    ) -> Result<usize, RenderError> {
        let mut elements = list.and_then(Json::as_array).into_iter().flatten();
        let keys = || rule.key.iter().filter(|key| key.is_outer);
        let found = elements.position(|element| {
            keys().all(|key| {
                let value = key.field.as_ref().and_then(|field| field.get(element));
                let value = value.and_then(crate::read::field_path::scalar_text);
                value.is_some_and(|value| self.is_desired(&key.attribute, &value))
            })
        });
        found.ok_or_else(|| {
            let key = keys().next().map_or("ensure", |key| &key.attribute);
            let value = self.change.desired.attributes.get(key);
            let value = value.and_then(Value::scalar_text).unwrap_or_default();
            let message = format!("`{value}` does not exist on the device");
            RenderError::lacking_object(key, message)
        })
    }

    /// Whether a value of the device is that of a namevar of the resource.
    fn is_desired(&self, attribute: &str, value: &str) -> bool {
        let value = canonical(self.definition, self.model, attribute, &value.into(), None);
        let desired = self.change.desired.attributes.get(attribute);
        desired.and_then(Value::scalar_text) == value.scalar_text()
    }
}
