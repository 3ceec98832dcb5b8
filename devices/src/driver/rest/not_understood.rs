//! Objects and fields that a type recognizes and does not understand ([`crate::not_understood`]).
//!
//! The fields are those of the type's attributes. Other fields are unmanaged.

use serde_json::Value as Json;

use super::canonical::canonical;
use super::codec::ObjectContext;
use super::definition::{RestDefinition, RestLocation, StateFields};
use super::entries::BOTH_SIDES;
use super::field::{field_value, state_value};
use super::lookups::{Lookups, answer, partition};
use super::members::{member_key, members_value};
use super::objects::{FoundObject, canonical_key, key_of, objects};
use super::read::recognise;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::not_understood::{Extent, InstanceNames, NotUnderstood};
use crate::read::State;
use crate::secret::MASK;
use crate::value::{Attributes, Name, Value};

/// The objects and fields that the type does not understand; none if an answer is invalid.
pub(crate) fn not_understood(
    definition: &RestDefinition,
    model: &TypeModel,
    state: &State,
) -> Vec<NotUnderstood> {
    let lookups = Lookups::of(definition, model, state);
    let objects = objects(definition, state).unwrap_or_default();
    let mut all = Vec::new();
    for (_, found) in objects {
        let object = Object {
            definition,
            model,
            lookups: &lookups,
            found,
        };
        object.unread(&mut all);
    }
    all.extend(rows_without_key(definition, model, state));
    all
}

/// The rows of a document that have no key of the type.
fn rows_without_key(
    definition: &RestDefinition,
    model: &TypeModel,
    state: &State,
) -> Vec<NotUnderstood> {
    let rule = &definition.instance;
    let source = rule.source.as_ref().filter(|_| rule.document.is_some());
    let answer = source.and_then(|source| answer(state, &source.name));
    let rows = rule.rows.as_ref().zip(answer);
    let rows = rows.and_then(|(rows, answer)| rows.rows(answer).ok());
    let unnamed = rows.into_iter().flatten().filter_map(|one| {
        let reason = key_of(rule, &one).err()?;
        Some(NotUnderstood {
            type_name: model.name.clone(),
            attribute: None,
            path: vec![reason],
            text: one.row.value.to_string(),
            instance: InstanceNames::Named(Attributes::default()),
            extent: Extent::Instance,
        })
    });
    unnamed.collect()
}

/// The fields of a state that is none of those of the attribute.
fn unread_state(states: &IndexMap<String, StateFields>, json: &Json) -> Vec<(String, Json)> {
    if state_value(states, json).is_some() {
        return Vec::new();
    }
    let mut fields: Vec<(String, Json)> = Vec::new();
    let conditions = states.values().filter_map(|state| state.when.as_ref());
    for (path, _) in conditions.flatten() {
        let field = path.to_string();
        if let Some(found) = path.get(json)
            && !fields.iter().any(|(listed, _)| *listed == field)
        {
            fields.push((field, found.clone()));
        }
    }
    fields
}

struct Object<'a> {
    definition: &'a RestDefinition,
    model: &'a TypeModel,
    lookups: &'a Lookups,
    found: FoundObject<'a>,
}

impl Object<'_> {
    fn unread(&self, all: &mut Vec<NotUnderstood>) {
        let json = self.found.object;
        let key = self.found.key.join(" ");
        if self.found.is_inactive() {
            all.push(self.inactive(None, (Vec::new(), &key)));
            return;
        }
        let inactive = self.definition.inactive_attributes(json);
        for name in &inactive {
            all.push(self.inactive(Some(name), (vec![key.clone()], name)));
        }
        let kind = self.found.kind;
        let kind = kind.or_else(|| recognise(self.definition, self.lookups, json));
        if let (Some(kinds), None) = (&self.definition.kinds, kind) {
            let text = format!("no {} of the type", kinds.attribute);
            all.push(self.entry(Some(&kinds.attribute), text, Extent::Instance));
            return;
        }
        for (name, rule) in &self.definition.attributes {
            let is_read = !rule.write_only && !inactive.contains(name);
            if !is_read || !self.definition.has(name, kind) {
                continue;
            }
            for (field, value) in self.unread_fields(name, &rule.location, kind) {
                let is_secret = |name: &str| {
                    let attribute = self.model.attributes.get(name);
                    attribute.is_some_and(|attribute| attribute.sensitive)
                };
                let value = if is_secret(name) {
                    MASK.to_owned()
                } else {
                    value.to_string()
                };
                let mut sharing = vec![name.clone()];
                if let RestLocation::Group { with, .. } = &rule.location {
                    sharing.extend(with.iter().cloned());
                }
                let text = format!("{field}: {value}");
                all.push(self.entry(Some(name), text, Extent::Attributes(sharing)));
            }
        }
    }

    /// Fields whose content is no value of the attribute, with their paths.
    fn unread_fields(
        &self,
        name: &Name,
        location: &RestLocation,
        kind: Option<&str>,
    ) -> Vec<(String, Json)> {
        let json = self.found.object;
        match location {
            RestLocation::Field(_) | RestLocation::Chosen(_) => {
                let (definition, model) = (self.definition, self.model);
                let decides = |name: &str| definition.deciding_value(model, name, (json, kind));
                let Some(rule) = definition.field(location, &decides) else {
                    return Vec::new();
                };
                if let Some(list) = rule.path.list_before(json) {
                    let found = list.get(json).cloned().unwrap_or_default();
                    return vec![(list.to_string(), found)];
                }
                let value = field_value(rule, json);
                let unread = rule
                    .path
                    .get(json)
                    .filter(|_| value.is_some_and(|value| !self.is_valid(name, &value)));
                let field = rule.path.to_string();
                unread
                    .map(|found| (field, found.clone()))
                    .into_iter()
                    .collect()
            }
            RestLocation::Choice(choice) => {
                let existing: Vec<_> = choice.existing(json).collect();
                let several = existing.iter().filter(|_| existing.len() > 1);
                let fields = several
                    .filter_map(|(_, path)| Some((path.to_string(), path.get(json)?.clone())));
                fields.collect()
            }
            RestLocation::States(states) => unread_state(states, json),
            RestLocation::Group { codec, field, with } => {
                let partition = partition(self.found.name());
                let context = ObjectContext {
                    partition: &partition,
                    domain: self.lookups.domain(&partition),
                };
                let Some(found) = field.get(json) else {
                    return Vec::new();
                };
                let values = codec.read(field, json, context);
                let names = std::iter::once(name).chain(with);
                let is_valid = names.zip(&values).all(|(name, value)| {
                    let mut values = value.iter();
                    values.all(|value| self.is_valid(name, value))
                });
                let has_value = values.iter().any(Option::is_some);
                if is_valid && has_value {
                    Vec::new()
                } else {
                    vec![(field.to_string(), found.clone())]
                }
            }
            RestLocation::Members(members) => {
                let list = members.read.get(json).and_then(Json::as_array);
                let unnamed = list
                    .into_iter()
                    .flatten()
                    .filter(|item| member_key(members, item).is_none());
                let field = members.read.to_string();
                let mut unread: Vec<(String, Json)> =
                    unnamed.map(|item| (field.clone(), item.clone())).collect();
                let value = members_value(members, json);
                if unread.is_empty() && !self.is_valid(name, &value) {
                    unread.extend(members.read.get(json).map(|found| (field, found.clone())));
                }
                let own = list.into_iter().flatten();
                for item in own.filter(|item| !members.device_owned.is(item)) {
                    for location in members.fields.values() {
                        if let RestLocation::States(states) = location {
                            unread.extend(unread_state(states, item));
                        }
                    }
                }
                unread
            }
            RestLocation::Entries(rule) => {
                let shared = &self.definition.shared[&rule.of];
                let entries = shared.read.get(json).and_then(Json::as_array);
                let unread = entries.into_iter().flatten().filter(|entry| {
                    self.lookups.is_of(shared, &rule.kinds, entry) && !self.has_known_side(entry)
                });
                let field = shared.read.to_string();
                unread.map(|entry| (field.clone(), entry.clone())).collect()
            }
            RestLocation::Upload(_)
            | RestLocation::Order(_)
            | RestLocation::Inside(_)
            | RestLocation::Unsupported(_) => Vec::new(),
        }
    }

    /// Whether an entry of a shared array is for both sides, or for a side that an attribute has.
    fn has_known_side(&self, entry: &Json) -> bool {
        let Some(context) = entry.get("context") else {
            return true;
        };
        let rules = self.definition.attributes.values();
        let mut sides = rules.filter_map(|rule| match &rule.location {
            RestLocation::Entries(rule) => rule.context.as_deref(),
            _ => None,
        });
        context == BOTH_SIDES || sides.any(|side| context == side)
    }

    /// Whether the model accepts a value of the device.
    fn is_valid(&self, name: &str, value: &Value) -> bool {
        let domain = self.lookups.domain(&partition(self.found.name()));
        let value = canonical(self.definition, self.model, name, value, domain);
        matches!(value, Value::Undef) || self.model.canonicalize(name, &value).is_ok()
    }

    /// What the device has and does not use.
    fn inactive(&self, attribute: Option<&Name>, text: (Vec<String>, &str)) -> NotUnderstood {
        let names = canonical_key(self.definition, self.model, &self.found);
        let names = names.map(|(name, value)| (name.to_owned(), value));
        NotUnderstood::inactive(
            self.model.name.clone(),
            attribute.cloned(),
            InstanceNames::Named(names.collect()),
            text,
        )
    }

    fn entry(&self, attribute: Option<&str>, text: String, extent: Extent) -> NotUnderstood {
        let instance = match &self.definition.instance.singleton {
            Some(_) => InstanceNames::Singleton,
            None => {
                let key = canonical_key(self.definition, self.model, &self.found);
                let key = key.map(|(name, value)| (name.to_owned(), value));
                InstanceNames::Named(key.collect())
            }
        };
        NotUnderstood {
            type_name: self.model.name.clone(),
            attribute: attribute.map(Name::from),
            path: vec![self.found.key.join(" ")],
            text,
            instance,
            extent,
        }
    }
}
