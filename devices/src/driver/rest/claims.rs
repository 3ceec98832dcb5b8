//! The objects of a type with their fields, as lines of a configuration: a heading for each object, then its
//! fields.

use super::canonical::canonical;
use super::definition::{RestDefinition, RestLocation};
use super::lookups::Lookups;
use super::objects::{FoundObject, canonical_key, objects};
use super::read::recognise;
use super::read_requests::collections;
use crate::driver::claim::{Claim, ClaimKind};
use crate::driver::surveyed_object::{SurveyedField, SurveyedObject};
use crate::model::TypeModel;
use crate::read::State;
use crate::read::json_text::fields;
use crate::value::{Attributes, Name};

impl RestDefinition {
    /// The objects of the type; none if an answer is invalid.
    pub(super) fn surveyed(&self, model: &TypeModel, state: &State) -> Vec<SurveyedObject> {
        let lookups = Lookups::of(self, model, state);
        let found = objects(self, state).unwrap_or_default();
        let reads: Vec<String> = collections(self).into_iter().map(|one| one.read).collect();
        let found = found.into_iter();
        let surveyed = found.map(|((collection, _), found)| {
            let kind = found
                .kind
                .or_else(|| recognise(self, &lookups, found.object));
            self.surveyed_object(model, &reads[collection], (&found, kind))
        });
        surveyed.collect()
    }

    fn surveyed_object(
        &self,
        model: &TypeModel,
        read: &str,
        (found, kind): (&FoundObject<'_>, Option<&str>),
    ) -> SurveyedObject {
        let names: Attributes = match &self.instance.singleton {
            Some(_) => Attributes::default(),
            None => canonical_key(self, model, found)
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        };
        // An object of a kind that the type does not have is not one of its instances.
        let is_own = self.kinds.is_none() || kind.is_some();
        let claim = |kind, attributes: Vec<Name>| Claim {
            line: 0,
            type_name: model.name.clone(),
            names: names.clone(),
            title: None,
            attributes,
            kind,
        };
        let path = read.strip_prefix("GET ").unwrap_or(read);
        let path = path.split('?').next().unwrap_or(path);
        let fields = fields(found.object).into_iter().map(|(name, value)| {
            let attributes = self.attributes_of(&name, kind);
            let is_default = attributes
                .iter()
                .all(|own| self.is_default(model, own, found));
            let kind = if is_default {
                ClaimKind::Default
            } else {
                ClaimKind::Value
            };
            let is_read = is_own && !attributes.is_empty();
            SurveyedField {
                name,
                value,
                claim: is_read.then(|| claim(kind, attributes)),
            }
        });
        let key = found.key.join(" ");
        SurveyedObject {
            title: match &self.instance.singleton {
                Some(_) => path.to_owned(),
                None => format!("{path} {key}"),
            },
            key,
            fields: fields.collect(),
            claim: is_own.then(|| claim(ClaimKind::Own, Vec::new())),
        }
    }

    /// The attributes that are read from a field.
    fn attributes_of(&self, field: &str, kind: Option<&str>) -> Vec<Name> {
        let attributes = self.attributes.iter();
        let own = attributes.filter(|(name, rule)| {
            let mut paths = paths(self, &rule.location).into_iter();
            self.has(name, kind) && paths.any(|path| is_part(field, &path) || is_part(&path, field))
        });
        own.map(|(name, _)| name.clone()).collect()
    }

    /// Whether an attribute has the value that it has without a field.
    fn is_default(&self, model: &TypeModel, name: &str, found: &FoundObject<'_>) -> bool {
        let Some(RestLocation::Field(rule)) = self.attributes.get(name).map(|rule| &rule.location)
        else {
            return false;
        };
        let value = super::field::field_value(rule, found.object);
        let form = |value| canonical(self, model, name, value, None);
        let absent = rule.absent.as_ref().map(form);
        absent.is_some() && value.as_ref().map(form) == absent
    }
}

/// The paths of the fields of an attribute, as a line has them.
fn paths(definition: &RestDefinition, location: &RestLocation) -> Vec<String> {
    let paths: Vec<String> = match location {
        RestLocation::Choice(choice) => choice.places.values().map(ToString::to_string).collect(),
        RestLocation::States(states) => {
            let states = states.values();
            let read = states.clone().filter_map(|state| state.when.as_ref());
            let read = read.flat_map(|when| when.iter().map(|(path, _)| path.to_string()));
            let set = states.flat_map(|state| state.set.iter().map(|(path, _)| path.to_string()));
            read.chain(set).collect()
        }
        RestLocation::Group { field, .. } => vec![field.to_string()],
        RestLocation::Inside(leader) => {
            let leader = definition.attributes.get(leader.as_str());
            let leader = leader.map(|rule| paths(definition, &rule.location));
            leader.unwrap_or_default()
        }
        RestLocation::Members(members) => vec![members.read.to_string()],
        RestLocation::Entries(entries) => {
            vec![definition.shared[&entries.of].read.to_string()]
        }
        RestLocation::Upload(upload) => vec![upload.field.to_string()],
        RestLocation::Order(_) | RestLocation::Unsupported(_) => Vec::new(),
        RestLocation::Field(_) | RestLocation::Chosen(_) => {
            let fields = location.fields().into_iter();
            fields.map(|field| field.path.to_string()).collect()
        }
    };
    // A line of members has the name of their list.
    let short = |path: String| path.replace("Reference.items", "");
    paths.into_iter().map(short).collect()
}

/// Whether a path leads to a field, or to an element of it.
fn is_part(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
