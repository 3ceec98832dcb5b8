//! The fields of attributes, also where another attribute decides about their place.

use serde_json::Value as Json;

use super::canonical::canonical;
use super::definition::{FieldRule, RestDefinition, RestLocation};
use super::field::{field_value, state_value};
use crate::model::TypeModel;
use crate::value::Name;

impl RestDefinition {
    /// The fields of all attributes.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&Name, &FieldRule)> {
        let rules = self.attributes.iter();
        rules.flat_map(|(name, rule)| {
            let fields = rule.location.fields().into_iter();
            fields.map(move |field| (name, field))
        })
    }

    /// The field of a value; `attribute` gives the values of attributes that decide about places.
    pub(crate) fn field<'a>(
        &self,
        location: &'a RestLocation,
        attribute: &dyn Fn(&str) -> Option<String>,
    ) -> Option<&'a FieldRule> {
        match location {
            RestLocation::Field(field) => Some(field),
            RestLocation::Chosen(chosen) => chosen.with(attribute(&chosen.by).as_deref()),
            _ => None,
        }
    }

    /// The value of an attribute that decides about places, in an object of this kind.
    pub(crate) fn deciding_value(
        &self,
        model: &TypeModel,
        name: &str,
        (object, kind): (&Json, Option<&str>),
    ) -> Option<String> {
        if self
            .kinds
            .as_ref()
            .is_some_and(|kinds| kinds.attribute == name)
        {
            return kind.map(str::to_owned);
        }
        let value = match &self.attributes.get(name)?.location {
            RestLocation::States(states) => state_value(states, object),
            RestLocation::Choice(choice) => choice.value(object),
            location => {
                let inner = |name: &str| self.deciding_value(model, name, (object, kind));
                field_value(self.field(location, &inner)?, object)
            }
        };
        canonical(self, model, name, &value?, None).scalar_text()
    }
}
