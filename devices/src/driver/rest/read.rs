//! Converts JSON answers to instances.

use serde_json::Value as Json;

use super::canonical::{canonical, canonical_members};
use super::codec::ObjectContext;
use super::definition::{RestDefinition, RestLocation};
use super::entries::entries_value;
use super::field::{field_value, state_value};
use super::lookups::{Lookups, partition};
use super::members::members_value;
use super::objects::{FoundObject, canonical_key, find, objects};
use crate::change::{Desired, Instance};
use crate::driver::json_body::equivalent;
use crate::model::TypeModel;
use crate::read::{ReadError, State};
use crate::value::{Attributes, Value};

/// All instances of the type in the answers.
///
/// # Errors
/// An answer is not a collection, or has an object without a name.
pub(crate) fn instances(
    definition: &RestDefinition,
    model: &TypeModel,
    state: &State,
) -> Result<Vec<Instance>, ReadError> {
    let surveyed = Lookups::of(definition, model, state);
    let objects = objects(definition, state)?;
    let device_owned = &definition.instance.device_owned;
    Ok(objects
        .into_iter()
        .filter(|(_, found)| !found.is_inactive() && !device_owned.is(found.object))
        .map(|(_, found)| instance(definition, model, &surveyed, &found))
        .collect())
}

/// The instance with a name.
///
/// # Errors
/// An answer is not a collection, or has an object without a name.
pub(crate) fn instance_of(
    definition: &RestDefinition,
    model: &TypeModel,
    desired: &Desired,
    state: &State,
) -> Result<Option<Instance>, ReadError> {
    let found = find(definition, model, &desired.attributes, state)?;
    Ok(found.map(|found| {
        instance(
            definition,
            model,
            &Lookups::of(definition, model, state),
            &found,
        )
    }))
}

/// One object as an instance.
fn instance(
    definition: &RestDefinition,
    model: &TypeModel,
    surveyed: &Lookups,
    found: &FoundObject<'_>,
) -> Instance {
    let object = found.object;
    let partition = partition(found.name());
    let context = ObjectContext {
        partition: &partition,
        domain: surveyed.domain(&partition),
    };
    let mut attributes = Attributes::default();
    for (name, value) in canonical_key(definition, model, found) {
        attributes.insert(name.to_owned(), value);
    }
    let kind = found
        .kind
        .or_else(|| recognise(definition, surveyed, object));
    if let (Some(kinds), Some(kind)) = (&definition.kinds, kind) {
        attributes.insert(kinds.attribute.clone(), kind.into());
    }
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            let value = canonical(definition, model, name, &value, context.domain);
            attributes.insert(name.to_owned(), value);
        }
    };
    let decides = |name: &str| definition.deciding_value(model, name, (object, kind));
    for name in model.attributes.keys() {
        let Some(rule) = definition.attributes.get(name) else {
            continue;
        };
        if rule.write_only || !definition.has(name, kind) {
            continue;
        }
        match &rule.location {
            location @ (RestLocation::Field(_) | RestLocation::Chosen(_)) => {
                let field = definition.field(location, &decides);
                put(name, field.and_then(|field| field_value(field, object)));
            }
            RestLocation::Choice(choice) => put(name, choice.value(object)),
            RestLocation::States(states) => put(name, state_value(states, object)),
            RestLocation::Group { codec, field, with } => {
                let values = codec.read(field, object, context);
                for (name, value) in std::iter::once(name).chain(with).zip(values) {
                    if definition.has(name, kind) {
                        put(name, value);
                    }
                }
            }
            RestLocation::Members(members) => put(name, Some(members_value(members, object))),
            RestLocation::Entries(rule) => {
                let shared = &definition.shared[&rule.of];
                let is_array = model.attributes[name].array.is_some();
                put(
                    name,
                    entries_value(rule, shared, surveyed, object, is_array),
                );
            }
            RestLocation::Order(order) => put(name, Some(order.value(found))),
            RestLocation::Upload(_) | RestLocation::Inside(_) | RestLocation::Unsupported(_) => {}
        }
    }
    canonical_members(definition, model, &mut attributes, context.domain);
    let mut inactive = definition.inactive_attributes(object);
    for name in &inactive {
        attributes.remove(name);
    }
    if found.is_inactive() {
        if model.is_ensurable() {
            inactive.insert(0, "ensure".into());
        } else {
            // None of its values is used.
            let names = definition.attributes.keys();
            let names = names.filter(|name| attributes.contains_key(name));
            inactive.extend(names.cloned().collect::<Vec<_>>());
            inactive.iter().for_each(|name| {
                attributes.remove(name);
            });
        }
    }
    let manager = definition.manager.as_ref();
    Instance {
        manager: manager.and_then(|rule| rule.manager(found.name(), object)),
        attributes,
        inactive,
        ..Instance::default()
    }
}

/// The kind of an object in a collection with several kinds.
pub(crate) fn recognise<'a>(
    definition: &'a RestDefinition,
    surveyed: &Lookups,
    object: &Json,
) -> Option<&'a str> {
    let kinds = &definition.kinds.as_ref()?.kinds;
    let is = kinds.iter().find(|(_, kind)| {
        let marked = kind.marks.iter().all(|(path, json)| {
            path.get(object)
                .is_some_and(|field| equivalent(field, json))
        });
        let entered = kind.entry.as_ref().is_none_or(|(of, entry)| {
            let shared = &definition.shared[of];
            shared
                .read
                .get(object)
                .and_then(Json::as_array)
                .is_some_and(|entries| {
                    entries
                        .iter()
                        .any(|one| surveyed.is_of(shared, std::slice::from_ref(entry), one))
                })
        });
        marked && entered
    });
    is.map(|(name, _)| name.as_str())
}

/// The names of the fields of sensitive attributes.
pub(crate) fn secret_fields(
    definition: &RestDefinition,
    model: &TypeModel,
) -> impl Iterator<Item = String> {
    let sensitive = |name: &str| model.attributes.get(name).is_some_and(|one| one.sensitive);
    let rules = definition.attributes.iter();
    let rules = rules.filter(move |(name, _)| sensitive(name));
    let fields = rules.flat_map(|(_, rule)| rule.location.fields());
    fields.filter_map(|field| field.each.as_ref().unwrap_or(&field.path).names().pop())
}
