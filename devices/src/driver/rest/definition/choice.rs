//! Choices: the place of a value depends on another attribute, and the value of that attribute can be
//! the one whose field exists.

use serde_json::Value as Json;

use super::{FieldRule, RestLocation, UnsetRule};
use crate::map::IndexMap;
use crate::read::field_path::FieldPath;
use crate::value::{Name, Value};

/// A value whose field depends on the value of another attribute. The fields differ in their paths only.
#[derive(Clone, Debug)]
pub(crate) struct ChosenField {
    /// The attribute that decides.
    pub(crate) by: Name,
    /// At least one. With other values there is no place.
    pub(crate) places: IndexMap<String, FieldRule>,
}

impl ChosenField {
    /// The field with a value of the attribute that decides.
    pub(crate) fn with(&self, value: Option<&str>) -> Option<&FieldRule> {
        self.places.get(value?)
    }

    /// Why a value has no place with a value of the attribute that decides.
    pub(crate) fn refusal(&self, decided: Option<&str>, value: &Value) -> Option<String> {
        let is_absent = self.any().absent.as_ref() == Some(value.unwrap_sensitive());
        if is_absent || self.with(decided).is_some() {
            return None;
        }
        Some(match decided {
            Some(decided) => format!("does not exist with {} `{decided}`", self.by),
            None => format!("requires a value of {}", self.by),
        })
    }

    /// What the fields have in common.
    pub(crate) fn any(&self) -> &FieldRule {
        &self.places[0]
    }
}

/// A value that is the field that exists.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceRule {
    pub(crate) places: IndexMap<String, FieldPath>,
    /// The value if none exists.
    pub(crate) absent: Option<Value>,
    /// How the fields of other values are removed; `None`: the device does so.
    pub(crate) unset: Option<UnsetRule>,
}

impl ChoiceRule {
    /// The places that exist in an object, with their values.
    pub(crate) fn existing<'a>(
        &'a self,
        object: &'a Json,
    ) -> impl Iterator<Item = (&'a str, &'a FieldPath)> {
        let places = self.places.iter();
        let existing = places.filter(|(_, path)| path.get(object).is_some());
        existing.map(|(value, path)| (value.as_str(), path))
    }

    /// The value of an object; `None` if it has the fields of several values.
    pub(crate) fn value(&self, object: &Json) -> Option<Value> {
        let mut existing = self.existing(object);
        match (existing.next(), existing.next()) {
            (None, _) => self.absent.clone(),
            (Some((value, _)), None) => Some(value.into()),
            (Some(_), Some(_)) => None,
        }
    }

    /// The fields of other values.
    pub(crate) fn others(&self, value: Option<&str>) -> impl Iterator<Item = &FieldPath> {
        let others = self.places.iter();
        let others = others.filter(move |(other, _)| Some(other.as_str()) != value);
        others.map(|(_, path)| path)
    }
}

impl RestLocation {
    /// The fields where a value can be.
    pub(crate) fn fields(&self) -> Vec<&FieldRule> {
        match self {
            RestLocation::Field(field) => vec![field],
            RestLocation::Chosen(chosen) => chosen.places.values().collect(),
            _ => Vec::new(),
        }
    }

    /// The same, for a change.
    pub(crate) fn fields_mut(&mut self) -> Vec<&mut FieldRule> {
        match self {
            RestLocation::Field(field) => vec![field],
            RestLocation::Chosen(chosen) => chosen.places.values_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// The value of a missing field, as text.
    pub(crate) fn absent(&self) -> Option<String> {
        let absent = match self {
            RestLocation::Choice(choice) => choice.absent.as_ref(),
            location => location.field_format()?.absent.as_ref(),
        };
        absent?.scalar_text()
    }

    /// What all fields of a value have in common besides their paths.
    pub(crate) fn field_format(&self) -> Option<&FieldRule> {
        self.fields().into_iter().next()
    }
}
