//! Edits of objects in an answer.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;
use switchtender_outline::{JsonPath, ListLevel, ObjectEffect, ObjectShape, PartShape};

use super::{BAD_REQUEST, CONFLICT, NOT_FOUND, PRECONDITION_FAILED, RequestRefusal, refuse};
use crate::json_path::{Locate as _, array, object, scalar};
use crate::rest_request::RequestNames;

/// What a request requires of the object before it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    /// The object has this tag.
    Tag(String),
    /// There is no such object.
    Missing,
}

/// A request about an object.
pub(super) struct ObjectEdit<'r> {
    pub(super) shape: &'r ObjectShape,
    pub(super) effect: &'r ObjectEffect,
    /// The names in the request.
    pub(super) names: RequestNames,
    pub(super) body: &'r Value,
    pub(super) condition: Option<Condition>,
    /// The elements of the outermost list that parents have before they have objects.
    pub(super) part: Option<&'r PartShape>,
    /// The message about an object that does not exist.
    pub(super) missing: &'r str,
}

/// The position of an object in a list or a map.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ObjectPosition {
    Index(usize),
    Name(String),
}

/// The tag of an object.
pub(super) fn tag(object: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    object.to_string().hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

impl ObjectEdit<'_> {
    /// Executes the request. Returns the object that a read asks for.
    pub(super) fn execute(mut self, answer: &mut Value) -> Result<Option<Value>, RequestRefusal> {
        let body = self.object_in_body()?;
        let Some((level, outer)) = self.shape.lists.split_last() else {
            let object = self.shape.at.get_or_insert(answer);
            self.check_condition(Some(object))?;
            return self.change(object, body);
        };
        self.add_names(level, &body);
        let mut at = answer;
        for level in outer {
            let position = find(level, level.at.get(at), &self.names)?;
            let list = level.at.get_or_insert(at);
            let position = match (position, self.part) {
                (None, Some(part)) => Some(add_parent(part, array(list), &self.names)),
                (position, _) => position,
            };
            at = match position.and_then(|position| position.get_mut(list)) {
                Some(element) => element,
                None => return refuse(NOT_FOUND, self.missing),
            };
        }
        let position = find(level, level.at.get(at), &self.names)?;
        let list = level.at.get_or_insert(at);
        let found = position
            .as_ref()
            .and_then(|position| position.get_mut(list));
        self.check_condition(found.as_deref())?;
        match (self.effect, position) {
            (ObjectEffect::Create { .. }, Some(_)) => refuse(CONFLICT, "the object exists already"),
            (ObjectEffect::Create { required }, None) => {
                let created = self.created(body, level, required)?;
                self.insert(list, level, created)?;
                Ok(None)
            }
            (_, None) => refuse(NOT_FOUND, self.missing),
            (ObjectEffect::Remove, Some(position)) => {
                position.remove(list);
                Ok(None)
            }
            (ObjectEffect::Move { other, is_before }, Some(position)) => {
                self.move_object(list, level, (position, other, *is_before))?;
                Ok(None)
            }
            (_, Some(position)) => {
                let found = position.get_mut(list);
                let found = found.ok_or_else(|| RequestRefusal {
                    status: NOT_FOUND,
                    message: self.missing.to_owned(),
                })?;
                self.change(found, body)
            }
        }
    }

    fn check_condition(&self, found: Option<&Value>) -> Result<(), RequestRefusal> {
        let is_met = match &self.condition {
            None => true,
            Some(Condition::Missing) => found.is_none(),
            Some(Condition::Tag(expected)) => found.is_some_and(|found| tag(found) == *expected),
        };
        if is_met {
            Ok(())
        } else {
            refuse(PRECONDITION_FAILED, "the object is not as it was read")
        }
    }

    /// The object in the body, with its lists at the positions where they are read.
    fn object_in_body(&self) -> Result<Value, RequestRefusal> {
        let has_object = matches!(
            self.effect,
            ObjectEffect::Create { .. } | ObjectEffect::Merge | ObjectEffect::Replace
        );
        if !has_object {
            return Ok(Value::Null);
        }
        let mut own = match self.shape.envelope.get(self.body) {
            Some(Value::Object(own)) => Value::Object(own.clone()),
            _ => return refuse(BAD_REQUEST, "the body has no object at its place"),
        };
        for (written, read) in &self.shape.moved {
            if let Some(value) = written.get(&own).cloned() {
                written.remove(&mut own);
                *read.get_or_insert(&mut own) = value;
            }
        }
        Ok(own)
    }

    /// Adds the names that the object in the body has.
    fn add_names(&mut self, level: &ListLevel, body: &Value) {
        for (name, field) in &level.keys {
            let value = field.as_ref().and_then(|field| field.get(body));
            if let Some(text) = value.and_then(scalar) {
                self.names.entry(name.clone()).or_insert(text);
            }
        }
    }

    /// A new object with its names.
    fn created(
        &self,
        mut body: Value,
        level: &ListLevel,
        required: &[JsonPath],
    ) -> Result<Value, RequestRefusal> {
        if let Some(field) = required.iter().find(|field| field.get(&body).is_none()) {
            let message = format!("the object lacks the required field {:?}", field.0);
            return refuse(BAD_REQUEST, message);
        }
        for (name, field) in &level.keys {
            let (Some(field), Some(text)) = (field, self.names.get(name)) else {
                continue;
            };
            match field.get(&body).and_then(scalar) {
                None => *field.get_or_insert(&mut body) = text.clone().into(),
                Some(own) if own == *text => {}
                Some(own) => {
                    let message = format!("the path names `{text}`, and the body `{own}`");
                    return refuse(BAD_REQUEST, message);
                }
            }
        }
        drop_nulls(&mut body);
        Ok(body)
    }

    fn insert(
        &self,
        list: &mut Value,
        level: &ListLevel,
        created: Value,
    ) -> Result<(), RequestRefusal> {
        let Some((name, _)) = level.keys.iter().find(|(_, field)| field.is_none()) else {
            array(list).push(created);
            return Ok(());
        };
        let Some(name) = self.names.get(name) else {
            return refuse(BAD_REQUEST, "the request does not name the object");
        };
        object(list).insert(name.clone(), created);
        Ok(())
    }

    /// Changes or returns an object.
    fn change(&self, found: &mut Value, mut body: Value) -> Result<Option<Value>, RequestRefusal> {
        match self.effect {
            ObjectEffect::Read => return Ok(Some(found.clone())),
            ObjectEffect::Merge => {
                for group in &self.shape.exclusive {
                    if group.iter().any(|field| field.get(&body).is_some()) {
                        group.iter().for_each(|field| field.remove(found));
                    }
                }
                merge(found, body);
            }
            ObjectEffect::Replace => {
                let level = self.shape.lists.last();
                for (_, field) in level.iter().flat_map(|level| &level.keys) {
                    if let Some(field) = field
                        && field.get(&body).is_none()
                        && let Some(name) = field.get(found)
                    {
                        *field.get_or_insert(&mut body) = name.clone();
                    }
                }
                *found = body;
            }
            ObjectEffect::RemoveField(field) => {
                if field.get(found).is_none() {
                    return refuse(NOT_FOUND, self.missing);
                }
                field.remove(found);
            }
            ObjectEffect::SetFields(fields) => {
                for (field, value) in fields {
                    *field.get_or_insert(found) = value.clone();
                }
            }
            ObjectEffect::Create { .. } | ObjectEffect::Remove | ObjectEffect::Move { .. } => {
                return refuse(BAD_REQUEST, "there is exactly one object");
            }
        }
        drop_nulls(found);
        Ok(None)
    }

    fn move_object(
        &self,
        list: &mut Value,
        level: &ListLevel,
        (position, other, is_before): (ObjectPosition, &str, bool),
    ) -> Result<(), RequestRefusal> {
        let mut names = self.names.clone();
        if let (Some((name, _)), Some(other)) = (level.keys.last(), self.names.get(other)) {
            names.insert(name.clone(), other.clone());
        }
        let target = find(level, Some(list), &names)?;
        let (ObjectPosition::Index(from), Some(ObjectPosition::Index(target))) = (position, target)
        else {
            return refuse(NOT_FOUND, "the object at the new place does not exist");
        };
        let items = array(list);
        let moved = items.remove(from);
        let target = if target > from { target - 1 } else { target };
        items.insert(if is_before { target } else { target + 1 }, moved);
        Ok(())
    }
}

impl ObjectPosition {
    fn get_mut<'a>(&self, list: &'a mut Value) -> Option<&'a mut Value> {
        match self {
            ObjectPosition::Index(index) => list.get_mut(*index),
            ObjectPosition::Name(name) => list.get_mut(name),
        }
    }

    fn remove(&self, list: &mut Value) {
        match (self, list) {
            (ObjectPosition::Index(index), Value::Array(items)) => {
                items.remove(*index);
            }
            (ObjectPosition::Name(name), Value::Object(members)) => {
                members.shift_remove(name);
            }
            _ => {}
        }
    }
}

/// Adds the element of a parent without objects. Returns its position.
fn add_parent(part: &PartShape, list: &mut Vec<Value>, names: &RequestNames) -> ObjectPosition {
    let mut element = part.empty.clone();
    for (name, field) in &part.names {
        if let Some(text) = names.get(name) {
            *field.get_or_insert(&mut element) = text.clone().into();
        }
    }
    list.push(element);
    ObjectPosition::Index(list.len() - 1)
}

/// The part of an answer for the parent that a request names.
pub(super) fn part_of(part: &PartShape, content: &Value, names: &RequestNames) -> Value {
    let elements = content.as_array().into_iter().flatten();
    let is_named = |element: &&Value| {
        let mut fields = part.names.iter();
        fields.all(|(name, field)| field.get(element).and_then(scalar).as_ref() == names.get(name))
    };
    let mut found = elements.filter(is_named);
    let element = found.next().unwrap_or(&part.empty);
    part.at.get(element).cloned().unwrap_or_default()
}

/// The position of the object with all names of the request; `None` if there is none.
fn find(
    level: &ListLevel,
    list: Option<&Value>,
    names: &RequestNames,
) -> Result<Option<ObjectPosition>, RequestRefusal> {
    let known: Vec<_> = level
        .keys
        .iter()
        .filter_map(|(name, field)| Some((field.as_ref(), names.get(name)?)))
        .collect();
    if known.is_empty() {
        return refuse(BAD_REQUEST, "the request does not name the object");
    }
    let has_names = |member: Option<&str>, element: &Value| {
        known.iter().all(|(field, text)| match field {
            None => member == Some(text.as_str()),
            Some(field) => field.get(element).and_then(scalar).as_ref() == Some(*text),
        })
    };
    let mut positions: Vec<ObjectPosition> = match list {
        Some(Value::Array(items)) => {
            let items = items.iter().enumerate();
            let found = items.filter(|(_, item)| has_names(None, item));
            found
                .map(|(index, _)| ObjectPosition::Index(index))
                .collect()
        }
        Some(Value::Object(members)) => {
            let found = members
                .iter()
                .filter(|(name, one)| has_names(Some(name), one));
            found
                .map(|(name, _)| ObjectPosition::Name(name.clone()))
                .collect()
        }
        _ => Vec::new(),
    };
    match positions.len() {
        0 | 1 => Ok(positions.pop()),
        _ => refuse(BAD_REQUEST, "the request names several objects"),
    }
}

fn merge(old: &mut Value, new: Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (field, value) in new {
                merge(old.entry(field).or_insert(Value::Null), value);
            }
        }
        (old, new) => *old = new,
    }
}

/// A field that is written as `null` is removed.
fn drop_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(drop_nulls);
    }
}
