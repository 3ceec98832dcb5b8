//! Writes values whose place depends on another attribute: a change of that attribute moves them, and
//! removes the fields of the other choice.

use serde_json::Value as Json;

use super::definition::{ChoiceRule, ChosenField};
use super::definition::{FieldRule, RestLocation, UnsetRule};
use super::writer::{RequestWriter, error};
use crate::change::ChangeKind;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::read::field_path::FieldPath;
use crate::value::{Name, Value};

impl RequestWriter<'_> {
    /// Refuses values that have no place.
    pub(super) fn check_places(&self) -> Result<(), RenderError> {
        let attributes = &self.change.desired.attributes;
        for (name, value) in attributes.iter() {
            let is_written = match self.change.kind {
                ChangeKind::Create => true,
                ChangeKind::Update => self.change.attributes.contains(name),
                ChangeKind::Remove => false,
            };
            let rule = self.definition.attributes.get(name);
            if let Some(RestLocation::Chosen(chosen)) = rule.map(|rule| &rule.location)
                && is_written
                && let Some(message) = chosen.refusal(self.text(&chosen.by).as_deref(), value)
            {
                return Err(error(name, &message));
            }
        }
        Ok(())
    }

    /// The field of a value after the change.
    pub(super) fn field<'l>(&self, location: &'l RestLocation) -> Option<&'l FieldRule> {
        self.definition.field(location, &|name| self.text(name))
    }

    /// The field that a value leaves because another attribute changes, unless the field of that
    /// attribute contains it.
    fn left_field<'l>(&self, location: &'l RestLocation) -> Option<&'l FieldRule> {
        let RestLocation::Chosen(chosen) = location else {
            return None;
        };
        let by = self.definition.attributes.get(&chosen.by);
        let is_removed = by.is_some_and(|by| matches!(by.location, RestLocation::Choice(_)));
        if is_removed || !self.is_moved(chosen) {
            return None;
        }
        let current = self.change.current.as_ref()?.attributes.get(&chosen.by)?;
        let left = chosen.with(current.scalar_text().as_deref())?;
        let stays = self
            .field(location)
            .is_some_and(|new| new.path == left.path);
        (!stays).then_some(left)
    }

    /// Whether the attribute that decides changes.
    fn is_moved(&self, chosen: &ChosenField) -> bool {
        let by = self.definition.attributes.get(&chosen.by);
        self.change.kind == ChangeKind::Update
            && (self.change.attributes.contains(&chosen.by)
                || by.is_some_and(|by| {
                    matches!(&by.location, RestLocation::Chosen(outer) if self.is_moved(outer))
                }))
    }

    /// Whether the place of a value changes, so that the value is written again.
    pub(super) fn moves(&self, location: &RestLocation) -> bool {
        matches!(location, RestLocation::Chosen(chosen) if self.is_moved(chosen))
    }

    /// Sets the field of a value, and removes the one that it leaves.
    pub(super) fn put_field(&self, body: &mut Body, name: &str, location: &RestLocation) {
        let creates = self.change.kind == ChangeKind::Create;
        if let Some(left) = self.left_field(location) {
            self.remove_field(body, &left.path, left.unset);
        }
        let (Some(field), Some(value)) = (self.field(location), self.value(name)) else {
            return;
        };
        match self.unset(name, field) {
            Some(UnsetRule::Null) if !creates => body.put(&field.path, Json::Null.into()),
            Some(_) => body.remove(&field.path),
            None => {
                let sent = super::field::field_body(field, &value, self.current_object());
                body.put(&field.path, sent);
            }
        }
    }

    /// Sets the field of a choice, and removes those of other values.
    pub(super) fn put_choice(&self, body: &mut Body, name: &str, choice: &ChoiceRule) {
        let value = self.text(name);
        for path in choice.others(value.as_deref()) {
            self.remove_field(body, path, choice.unset);
        }
        let location = value.and_then(|value| choice.places.get(&value));
        if let Some(path) = location {
            body.put_missing(path, Body::object());
        }
    }

    /// Removes a field by the body of the object.
    fn remove_field(&self, body: &mut Body, path: &FieldPath, unset: Option<UnsetRule>) {
        let is_complete =
            self.change.kind == ChangeKind::Create || self.definition.instance.writes_complete();
        let current = self.current_object();
        let exists = current.is_some_and(|object| path.get(object).is_some());
        if is_complete {
            body.remove(path);
        } else if exists && unset == Some(UnsetRule::Null) {
            body.put(path, Json::Null.into());
        }
    }

    /// The fields of a choice that a change leaves, and that a `DELETE` removes.
    pub(super) fn left_fields(&self) -> Vec<(&Name, &FieldPath)> {
        let mut left = Vec::new();
        let Some(object) = self.current_object() else {
            return left;
        };
        for (name, rule) in &self.definition.attributes {
            match &rule.location {
                RestLocation::Choice(choice)
                    if choice.unset == Some(UnsetRule::Delete)
                        && self.change.attributes.contains(name) =>
                {
                    let value = self.text(name);
                    let others = choice.existing(object);
                    let others = others.filter(|(other, _)| Some(*other) != value.as_deref());
                    left.extend(others.map(|(_, path)| (name, path)));
                }
                location => {
                    let field = self.left_field(location);
                    let field = field.filter(|field| {
                        field.unset == Some(UnsetRule::Delete) && field.path.get(object).is_some()
                    });
                    left.extend(field.map(|field| (name, &field.path)));
                }
            }
        }
        left
    }

    /// The value of an attribute after the change, as text.
    fn text(&self, name: &str) -> Option<String> {
        self.value(name).as_ref().and_then(Value::scalar_text)
    }
}
