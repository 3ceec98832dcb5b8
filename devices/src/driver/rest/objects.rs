//! The objects of a type in the answers, and an index of their names.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value as Json;

use super::canonical::canonical;
use super::definition::{RestDefinition, RestInstanceRule};
use super::lookups::answer;
use super::read_requests::{collections, name_of};
use crate::model::TypeModel;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::read::rows::JsonRow;
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
    pub(crate) object: &'a Json,
}

impl FoundObject<'_> {
    /// The value of the first namevar.
    pub(crate) fn name(&self) -> &str {
        &self.key[0]
    }
}

/// Position of an object: its collection and the index in it.
type ObjectIndex = (usize, usize);

/// The values of the key of a row. A number counts as text.
///
/// # Errors
/// The row lacks one of them; the message has the answer as its subject.
pub(crate) fn key_of<'a>(
    rule: &RestInstanceRule,
    row: JsonRow<'a>,
) -> Result<ObjectKey<'a>, String> {
    let value = |field: &Option<FieldPath>| match field {
        None => {
            let name = row.name.map(Cow::Borrowed);
            name.ok_or_else(|| "its objects have no names: it is not a map".to_owned())
        }
        Some(path) => {
            let text = match path.get(row.value) {
                Some(Json::String(text)) => Some(Cow::Borrowed(text.as_str())),
                Some(other) => scalar_text(other).map(Cow::Owned),
                None => None,
            };
            text.ok_or_else(|| format!("an object has no `{path}`"))
        }
    };
    rule.key.iter().map(|key| value(&key.field)).collect()
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
    for (index, (path, kind)) in collections(definition).into_iter().enumerate() {
        let found = objects_in(&definition.instance, state, &path);
        let found = found.map_err(|message| ReadError {
            read: name_of(&path),
            message,
        })?;
        let found = found.into_iter().enumerate();
        objects.extend(
            found.map(|(item, (key, object))| ((index, item), FoundObject { kind, key, object })),
        );
    }
    Ok(objects)
}

/// The keys and objects in one answer; none if it was not read.
fn objects_in<'a>(
    rule: &'a RestInstanceRule,
    state: &'a State,
    path: &str,
) -> Result<Vec<(ObjectKey<'a>, &'a Json)>, String> {
    let Some(answer) = answer(state, path).filter(|answer| !answer.is_null()) else {
        return Ok(Vec::new());
    };
    let Some(rows) = &rule.rows else {
        if !answer.is_object() {
            return Err("it is not a JSON object".to_owned());
        }
        let name = rule.singleton.as_deref().unwrap_or_default();
        return Ok(vec![(vec![name.into()], answer)]);
    };
    let rows = rows.rows(answer)?.into_iter();
    rows.map(|row| Ok((key_of(rule, row)?, row.value)))
        .collect()
}

/// The object at a position from [`objects`].
fn object_at<'a>(
    definition: &'a RestDefinition,
    state: &'a State,
    (collection, item): ObjectIndex,
) -> Option<FoundObject<'a>> {
    let (path, kind) = collections(definition).into_iter().nth(collection)?;
    let answer = answer(state, &path)?;
    let rule = &definition.instance;
    let Some(rows) = &rule.rows else {
        let name = rule.singleton.as_deref()?;
        return Some(FoundObject {
            kind,
            key: vec![name.into()],
            object: answer,
        });
    };
    let row = rows.row(answer, item)?;
    Some(FoundObject {
        kind,
        key: key_of(rule, row).ok()?,
        object: row.value,
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
    Ok(index.and_then(|index| object_at(definition, state, *index)))
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
                indexes.entry(key.collect()).or_insert(index);
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
        (name, canonical(definition, model, name, &value, 0))
    })
}
