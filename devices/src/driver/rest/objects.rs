//! The objects of a type in the answers, and an index of their names.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value as Json;

use super::canonical::canonical;
use super::definition::{RestDefinition, RestInstanceRule};
use super::lookups::answer;
use super::read_requests::collections;
use crate::model::TypeModel;
use crate::read::nested_rows::{NestedRow, NestedRows, RowPosition};
use crate::read::{ReadError, State};
use crate::value::{Attributes, Value};

/// The values of the key of an object, in the order of the definition.
pub(crate) type ObjectKey<'a> = Vec<Cow<'a, str>>;

/// An object of a type in the answers.
#[derive(Clone, Debug)]
pub(crate) struct FoundObject<'a> {
    /// Its kind, if kinds have separate collections.
    pub(crate) kind: Option<&'a str>,
    pub(crate) key: ObjectKey<'a>,
    /// The own namevar of the object before it in the list.
    pub(crate) previous: Option<Cow<'a, str>>,
    pub(crate) object: &'a Json,
    /// How many names of its path lead to each element that is marked as inactive.
    pub(crate) marked: Vec<usize>,
}

impl FoundObject<'_> {
    /// Whether the device has the object and does not use it.
    pub(crate) fn is_inactive(&self) -> bool {
        !self.marked.is_empty()
    }

    /// The value of the first namevar.
    pub(crate) fn name(&self) -> &str {
        &self.key[0]
    }
}

/// Position of an object: its collection and the position in it.
type ObjectIndex = (usize, RowPosition);

/// A singleton that has no fields.
static NOTHING: Json = Json::Null;

/// The values of the key of a row.
///
/// # Errors
/// The row lacks one of them; the message has the answer as its subject.
pub(crate) fn key_of<'a>(
    rule: &RestInstanceRule,
    row: &NestedRow<'a>,
) -> Result<ObjectKey<'a>, String> {
    rule.key.iter().map(|key| key.value(row)).collect()
}

/// The objects of the type, each with its kind if kinds have separate collections.
///
/// # Errors
/// An answer is not a collection, or has an object without a name.
pub(crate) fn objects<'a>(
    definition: &'a RestDefinition,
    state: &'a State,
) -> Result<Vec<(ObjectIndex, FoundObject<'a>)>, ReadError> {
    let mut objects = Vec::new();
    for (index, collection) in collections(definition).into_iter().enumerate() {
        let (read, kind) = (collection.read, collection.kind);
        let found = objects_in(definition, state, &read);
        let found = found.map_err(|message| ReadError { read, message })?;
        let own = definition.instance.own_key();
        let mut previous: Option<(Vec<usize>, Cow<'_, str>)> = None;
        for InAnswer {
            position,
            key,
            object,
            marked,
        } in found
        {
            // The first object of a list has none before it.
            let before = previous.filter(|(list, _)| *list == position.outer);
            previous = Some((position.outer.clone(), key[own].clone()));
            let found = FoundObject {
                kind,
                key,
                previous: before.map(|(_, name)| name),
                object,
                marked,
            };
            objects.push(((index, position), found));
        }
    }
    Ok(objects)
}

/// An object in one answer.
struct InAnswer<'a> {
    position: RowPosition,
    key: ObjectKey<'a>,
    object: &'a Json,
    marked: Vec<usize>,
}

/// How many names of the path of a row lead to each element that is marked as inactive.
fn marked(
    definition: &RestDefinition,
    list: (&NestedRows, &Json),
    row: &NestedRow<'_>,
) -> Vec<usize> {
    let inactive = definition.inactive.as_ref();
    inactive.map_or_else(Vec::new, |rule| rule.marked_elements(list, row))
}

/// The same for a singleton.
fn marked_singleton(definition: &RestDefinition, answer: &Json) -> Vec<usize> {
    let inactive = definition.inactive.as_ref();
    let location = &definition.instance.location;
    inactive.map_or_else(Vec::new, |rule| rule.marked(answer, location))
}

/// The positions, keys and objects in one answer; none if it was not read. Rows of a document without
/// a key are not objects of the type: a change sends them as they are.
fn objects_in<'a>(
    definition: &'a RestDefinition,
    state: &'a State,
    read: &str,
) -> Result<Vec<InAnswer<'a>>, String> {
    let rule = &definition.instance;
    let Some(answer) = answer(state, read).filter(|answer| !answer.is_null()) else {
        return Ok(Vec::new());
    };
    if let Some(document) = &rule.document {
        document.check(answer)?;
    }
    let Some(rows) = &rule.rows else {
        if !answer.is_object() && rule.source.is_none() {
            return Err("it is not a JSON object".to_owned());
        }
        let name = rule.singleton.as_deref().unwrap_or_default();
        let object = rule.location.get(answer).unwrap_or(&NOTHING);
        let list = rule.location.list_before(answer);
        let list = list.or_else(|| object.is_array().then(|| rule.location.clone()));
        return match list {
            Some(list) => Err(format!("`{list}` is a list, not one object")),
            None => Ok(vec![InAnswer {
                position: RowPosition::default(),
                key: vec![name.into()],
                object,
                marked: marked_singleton(definition, answer),
            }]),
        };
    };
    let found = rows.rows(answer)?.into_iter().map(|found| {
        let key = key_of(rule, &found)?;
        Ok(InAnswer {
            key,
            object: found.row.value,
            marked: marked(definition, (rows, answer), &found),
            position: found.position,
        })
    });
    found
        .filter(|found| found.is_ok() || rule.document.is_none())
        .collect()
}

/// The object at a position from [`objects`].
fn object_at<'a>(
    definition: &'a RestDefinition,
    state: &'a State,
    (collection, position): &ObjectIndex,
) -> Option<FoundObject<'a>> {
    let collection = collections(definition).into_iter().nth(*collection)?;
    let kind = collection.kind;
    let answer = answer(state, &collection.read)?;
    let rule = &definition.instance;
    let Some(rows) = &rule.rows else {
        let name = rule.singleton.as_deref()?;
        return Some(FoundObject {
            kind,
            key: vec![name.into()],
            previous: None,
            object: rule.location.get(answer).unwrap_or(&NOTHING),
            marked: marked_singleton(definition, answer),
        });
    };
    let found = rows.row(answer, position)?;
    let before = position
        .before()
        .and_then(|position| rows.row(answer, &position));
    let previous = before.and_then(|row| key_of(rule, &row).ok()?.into_iter().nth(rule.own_key()));
    Some(FoundObject {
        kind,
        key: key_of(rule, &found).ok()?,
        previous,
        object: found.row.value,
        marked: marked(definition, (rows, answer), &found),
    })
}

/// The object with the key of a resource, in canonical form.
///
/// # Errors
/// An answer is not a collection, or has an object without a name.
pub(crate) fn find<'a>(
    definition: &'a RestDefinition,
    model: &TypeModel,
    desired: &Attributes,
    state: &'a State,
) -> Result<Option<FoundObject<'a>>, ReadError> {
    let values = definition.instance.key.iter().map(|key| {
        let value = desired.get(&key.attribute)?;
        value.unwrap_sensitive().scalar_text()
    });
    let Some(desired) = values.collect::<Option<Vec<String>>>() else {
        return Ok(None);
    };
    let objects =
        state.derived_from_all(&model.name, || ObjectsByKey::new(definition, model, state));
    let objects = objects.0.as_ref().map_err(ReadError::clone)?;
    let index = objects.get(&desired);
    Ok(index.and_then(|index| object_at(definition, state, index)))
}

/// Positions of a type's objects by key, in the device's and the canonical form; built once for all
/// resources of the type. Of several objects with one key, the first.
struct ObjectsByKey(Result<HashMap<Vec<String>, ObjectIndex>, ReadError>);

impl ObjectsByKey {
    fn new(definition: &RestDefinition, model: &TypeModel, state: &State) -> Self {
        Self(objects(definition, state).map(|objects| {
            let mut indexes = HashMap::new();
            for (index, found) in objects {
                let key = found.key.iter().map(|value| value.clone().into_owned());
                indexes
                    .entry(key.collect())
                    .or_insert_with(|| index.clone());
                let canonical = canonical_key(definition, model, &found);
                let canonical = canonical.filter_map(|(_, value)| value.scalar_text());
                indexes.entry(canonical.collect()).or_insert(index);
            }
            indexes
        }))
    }
}

/// The namevars of an object in canonical form.
pub(crate) fn canonical_key<'a>(
    definition: &'a RestDefinition,
    model: &'a TypeModel,
    found: &'a FoundObject<'_>,
) -> impl Iterator<Item = (&'a str, Value)> {
    let rules = definition.instance.key.iter().zip(&found.key);
    rules.map(|(rule, value)| {
        let name = rule.attribute.as_str();
        let value = Value::from(value.as_ref());
        (name, canonical(definition, model, name, &value, None))
    })
}
