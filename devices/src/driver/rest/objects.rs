//! The objects of a type in the answers, and an index of their names.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::canonical::canonical;
use super::definition::RestDefinition;
use super::lookups::answer;
use super::read_requests::{collections, name_of};
use crate::model::TypeModel;
use crate::read::json_text::{COLLECTION_LIST, items};
use crate::read::{ReadError, State};
use crate::value::Value;

/// An object of a type in the answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundObject<'a> {
    /// Its kind, if kinds have separate collections.
    pub(crate) kind: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) object: &'a Json,
}

/// Position of an object: its collection and the index in it.
type ObjectIndex = (usize, usize);

/// The objects of the type, each with its kind if kinds have separate collections.
///
/// # Errors
/// An answer is not a collection, or has an object without a name.
pub(crate) fn objects<'a>(
    definition: &'a RestDefinition,
    state: &'a State,
) -> Result<Vec<(ObjectIndex, FoundObject<'a>)>, ReadError> {
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
            let found = FoundObject {
                kind,
                name,
                object: answer,
            };
            objects.push(((collection, 0), found));
            continue;
        }
        let list = answer.get(COLLECTION_LIST);
        if list.is_some_and(|items| !items.is_array()) {
            return Err(error("`items` is not a list"));
        }
        let mut fields = answer.as_object().into_iter().flatten();
        if list.is_none()
            && let Some((name, _)) = fields.find(|(_, value)| value.is_array())
        {
            return Err(error(&format!("the list is `{name}` instead of `items`")));
        }
        for (item, object) in items(answer).iter().enumerate() {
            let (_, key) = &rule.key;
            let name = key.get(object).and_then(Json::as_str);
            let name = name.ok_or_else(|| error("an object without a name"))?;
            objects.push(((collection, item), FoundObject { kind, name, object }));
        }
    }
    Ok(objects)
}

/// The object at a position from [`objects`].
fn object_at<'a>(
    definition: &'a RestDefinition,
    state: &'a State,
    (collection, item): ObjectIndex,
) -> Option<FoundObject<'a>> {
    let (path, kind) = collections(definition).into_iter().nth(collection)?;
    let answer = answer(state, &path)?;
    if let Some(name) = &definition.instance.singleton {
        return Some(FoundObject {
            kind,
            name,
            object: answer,
        });
    }
    let object = items(answer).get(item)?;
    let (_, key) = &definition.instance.key;
    let name = key.get(object).and_then(Json::as_str)?;
    Some(FoundObject { kind, name, object })
}

/// The object with a name in canonical form.
///
/// # Errors
/// An answer is not a collection, or has an object without a name.
pub(crate) fn find<'a>(
    definition: &'a RestDefinition,
    model: &TypeModel,
    desired: Option<&Value>,
    state: &'a State,
) -> Result<Option<FoundObject<'a>>, ReadError> {
    let (key, _) = &definition.instance.key;
    let Some(desired) = desired.map(Value::unwrap_sensitive) else {
        return Ok(None);
    };
    let objects =
        state.derived_from_all(&model.name, || ObjectsByName::new(definition, model, state));
    let objects = objects.0.as_ref().map_err(ReadError::clone)?;
    let alike = desired.as_str().and_then(|name| objects.get(name));
    let alike = alike.into_iter().flatten();
    let found = alike.filter_map(|index| object_at(definition, state, *index));
    Ok(found.into_iter().find(|found| {
        let same = desired.as_str() == Some(found.name);
        same || *desired == canonical(definition, model, key, &found.name.into(), 0)
    }))
}

/// Positions of a type's objects by name, in the device's and the canonical form; built once for
/// all resources of the type.
struct ObjectsByName(Result<HashMap<String, Vec<ObjectIndex>>, ReadError>);

impl ObjectsByName {
    fn new(definition: &RestDefinition, model: &TypeModel, state: &State) -> Self {
        let (key, _) = &definition.instance.key;
        Self(objects(definition, state).map(|objects| {
            let mut indexes: HashMap<String, Vec<ObjectIndex>> = HashMap::new();
            for (index, found) in objects {
                let canonical = canonical(definition, model, key, &found.name.into(), 0);
                let canonical = canonical.as_str().filter(|name| *name != found.name);
                for name in [Some(found.name), canonical].into_iter().flatten() {
                    indexes.entry(name.to_owned()).or_default().push(index);
                }
            }
            indexes
        }))
    }
}
