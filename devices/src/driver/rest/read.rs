//! From JSON answers to instances.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::ask::{collections, name_of};
use super::canonical::canonical;
use super::codec::ObjectContext;
use super::definition::{Definition, Place};
use super::entries::entries_value;
use super::field::{field_value, state_value};
use super::json::alike;
use super::members::members_value;
use super::survey::{Surveyed, answer, items, partition};
use crate::change::{Instance, Wanted};
use crate::model::TypeModel;
use crate::read::{ReadError, State};
use crate::value::{Attributes, Value};

/// An object of a type, among the answers.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its kind, if kinds have collections of their own.
    pub kind: Option<&'a str>,
    pub name: &'a str,
    pub object: &'a Json,
}

/// Which of the type's collections an object is in, and where in it.
type Among = (usize, usize);

/// The objects of the type, each with its kind if kinds have collections of their own.
///
/// # Errors
/// An answer is something else than a collection, or has an object without a name.
fn objects<'a>(
    definition: &'a Definition,
    state: &'a State,
) -> Result<Vec<(Among, Found<'a>)>, ReadError> {
    let rule = &definition.instance;
    let mut objects = Vec::new();
    for (collection, (path, kind)) in collections(definition).into_iter().enumerate() {
        let error = |message: &str| ReadError {
            read: name_of(&path),
            message: message.to_owned(),
        };
        let Some(answer) = answer(state, &path).filter(|answer| !answer.is_null()) else {
            continue;
        };
        if !answer.is_object() {
            return Err(error("not a JSON object"));
        }
        if let Some(name) = &rule.singleton {
            let found = Found {
                kind,
                name,
                object: answer,
            };
            objects.push(((collection, 0), found));
            continue;
        }
        if answer.get("items").is_some_and(|items| !items.is_array()) {
            return Err(error("`items` is not a list"));
        }
        for (item, object) in items(answer).iter().enumerate() {
            let (_, key) = &rule.key;
            let name = key.get(object).and_then(Json::as_str);
            let name = name.ok_or_else(|| error("an object without a name"))?;
            objects.push(((collection, item), Found { kind, name, object }));
        }
    }
    Ok(objects)
}

/// The object at a place where [`objects`] has found one.
fn object_at<'a>(
    definition: &'a Definition,
    state: &'a State,
    (collection, item): Among,
) -> Option<Found<'a>> {
    let (path, kind) = collections(definition).into_iter().nth(collection)?;
    let answer = answer(state, &path)?;
    if let Some(name) = &definition.instance.singleton {
        return Some(Found {
            kind,
            name,
            object: answer,
        });
    }
    let object = items(answer).get(item)?;
    let (_, key) = &definition.instance.key;
    let name = key.get(object).and_then(Json::as_str)?;
    Some(Found { kind, name, object })
}

/// All instances of the type that the answers tell.
///
/// # Errors
/// An answer is something else than a collection, or has an object without a name.
pub fn instances(
    definition: &Definition,
    model: &TypeModel,
    state: &State,
) -> Result<Vec<Instance>, ReadError> {
    let surveyed = Surveyed::of(definition, model, state);
    let objects = objects(definition, state)?;
    Ok(objects
        .into_iter()
        .map(|(_, found)| instance(definition, model, &surveyed, found))
        .collect())
}

/// The instance of a name.
///
/// # Errors
/// An answer is something else than a collection, or has an object without a name.
pub fn instance_of(
    definition: &Definition,
    model: &TypeModel,
    wanted: &Wanted,
    state: &State,
) -> Result<Option<Instance>, ReadError> {
    let (key, _) = &definition.instance.key;
    let found = find(definition, model, wanted.attributes.get(key), state)?;
    Ok(found.map(|found| {
        instance(
            definition,
            model,
            &Surveyed::of(definition, model, state),
            found,
        )
    }))
}

/// The object of a name, which is in canonical form.
///
/// # Errors
/// An answer is something else than a collection, or has an object without a name.
pub fn find<'a>(
    definition: &'a Definition,
    model: &TypeModel,
    wanted: Option<&Value>,
    state: &'a State,
) -> Result<Option<Found<'a>>, ReadError> {
    let (key, _) = &definition.instance.key;
    let Some(wanted) = wanted else {
        return Ok(None);
    };
    let objects = state.derived_from_all(&model.name, || Objects::new(definition, model, state));
    let objects = objects.0.as_ref().map_err(ReadError::clone)?;
    let alike = wanted.as_str().and_then(|name| objects.get(name));
    let alike = alike.into_iter().flatten();
    let found = alike.filter_map(|place| object_at(definition, state, *place));
    Ok(found.into_iter().find(|found| {
        let same = wanted.as_str() == Some(found.name);
        same || *wanted == canonical(definition, model, key, &found.name.into(), 0)
    }))
}

/// Where the objects of a type are, by their names as the device gives them and in canonical
/// form; made once for all resources of the type.
struct Objects(Result<HashMap<String, Vec<Among>>, ReadError>);

impl Objects {
    fn new(definition: &Definition, model: &TypeModel, state: &State) -> Self {
        let (key, _) = &definition.instance.key;
        Self(objects(definition, state).map(|objects| {
            let mut places: HashMap<String, Vec<Among>> = HashMap::new();
            for (place, found) in objects {
                let canonical = canonical(definition, model, key, &found.name.into(), 0);
                let canonical = canonical.as_str().filter(|name| *name != found.name);
                for name in [Some(found.name), canonical].into_iter().flatten() {
                    places.entry(name.to_owned()).or_default().push(place);
                }
            }
            places
        }))
    }
}

/// One object as an instance.
fn instance(
    definition: &Definition,
    model: &TypeModel,
    surveyed: &Surveyed,
    Found { kind, name, object }: Found<'_>,
) -> Instance {
    let (key, _) = &definition.instance.key;
    let partition = partition(name);
    let around = ObjectContext {
        partition: &partition,
        domain: surveyed.domain(&partition),
    };
    let mut attributes = Attributes::default();
    attributes.insert(
        key.clone(),
        canonical(definition, model, key, &name.into(), 0),
    );
    let kind = kind.or_else(|| recognise(definition, surveyed, object));
    if let (Some(kinds), Some(kind)) = (&definition.kinds, kind) {
        attributes.insert(kinds.attribute.clone(), kind.into());
    }
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            let value = canonical(definition, model, name, &value, around.domain);
            attributes.insert(name.to_owned(), value);
        }
    };
    for name in model.attributes.keys() {
        let Some(rule) = definition.attributes.get(name) else {
            continue;
        };
        if rule.write_only || !definition.has(name, kind) {
            continue;
        }
        match &rule.place {
            Place::Field(rule) => put(name, field_value(rule, object)),
            Place::States(states) => put(name, state_value(states, object)),
            Place::Group { codec, field, with } => {
                let values = codec.read(field, object, around);
                for (name, value) in std::iter::once(name).chain(with).zip(values) {
                    if definition.has(name, kind) {
                        put(name, value);
                    }
                }
            }
            Place::Members(members) => put(name, Some(members_value(members, object))),
            Place::Entries(rule) => {
                let shared = &definition.shared[&rule.of];
                let is_array = model.attributes[name].array.is_some();
                put(
                    name,
                    entries_value(rule, shared, surveyed, object, is_array),
                );
            }
            Place::Inside(_) | Place::Unsupported(_) => {}
        }
    }
    Instance {
        attributes,
        ..Instance::default()
    }
}

/// The kind of an object of a collection that has several.
pub fn recognise<'a>(
    definition: &'a Definition,
    surveyed: &Surveyed,
    object: &Json,
) -> Option<&'a str> {
    let kinds = &definition.kinds.as_ref()?.kinds;
    let is = kinds.iter().find(|(_, kind)| {
        let marked = kind
            .marks
            .iter()
            .all(|(path, json)| path.get(object).is_some_and(|field| alike(field, json)));
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

/// Secrets that stand in the answers, as the device gives them.
pub fn secrets(definition: &Definition, model: &TypeModel, state: &State) -> Vec<String> {
    let fields: Vec<_> = definition
        .attributes
        .iter()
        .filter(|(name, _)| model.attributes.get(*name).is_some_and(|one| one.sensitive))
        .filter_map(|(_, rule)| match &rule.place {
            Place::Field(field) => Some(&field.path),
            _ => None,
        })
        .collect();
    let objects = objects(definition, state).unwrap_or_default();
    objects
        .iter()
        .flat_map(|(_, found)| fields.iter().filter_map(|path| path.get(found.object)))
        .filter_map(Json::as_str)
        .map(str::to_owned)
        .collect()
}
