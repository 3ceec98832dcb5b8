//! Predicts the device's answers by applying requests to the answers that were read.
//!
//! A new object has only the fields that were sent; fields that the device sets itself are unknown.
//! Names follow iControl REST: `name`, `partition` and `subPath` form the `fullPath`.

mod command;
mod inner_lists;
mod own_requests;

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use self::inner_lists::{OuterElement, row_in};
use super::definition::{
    MembersRule, OrderRule, RequestTarget, RestAttributeRule, RestDefinition, RestLocation,
};
use super::objects::key_of;
use super::read_requests::collections;
use super::template::TextTemplate;
use super::write::leaf_path;
use crate::model::TypeModel;
use crate::operation::{Method, Request};
use crate::read::field_path::{FieldPath, scalar_text};
use crate::read::json_text::entry_path;
use crate::read::rows::RowsRule;
use crate::read::{Parsed, State};

/// Applies requests in order. A request for an object that was not read has no effect.
pub(crate) fn apply<'a>(
    (definition, model): (&RestDefinition, &TypeModel),
    requests: impl IntoIterator<Item = &'a Request>,
    state: &mut State,
) {
    let predictor = Predictor {
        definition,
        model,
        alternatives: definition.alternatives(),
        collections: collections(definition)
            .into_iter()
            .map(|collection| {
                let kind = collection.kind.and_then(|kind| {
                    let kinds = &definition.kinds.as_ref()?.kinds;
                    kinds.get(kind)?.path.clone()
                });
                (collection.read, collection.path, kind)
            })
            .collect(),
    };
    for request in requests {
        match &definition.instance.document {
            Some(document) => document.apply(request, state),
            None if definition.instance.has_frames() => predictor.apply_command(request, state),
            None => predictor.apply(request, state),
        }
    }
}

struct Predictor<'a> {
    definition: &'a RestDefinition,
    model: &'a TypeModel,
    alternatives: Vec<Vec<FieldPath>>,
    /// Reads and paths of the type's collections, each with the text of `{kind}` in it.
    collections: Vec<(String, String, Option<String>)>,
}

impl Predictor<'_> {
    fn apply(&self, request: &Request, state: &mut State) {
        // The names of an object are in its path or in parameters.
        let path = if self.definition.instance.object.to_string().contains('?') {
            request.path.as_str()
        } else {
            request.path.split('?').next().unwrap_or_default()
        };
        let body: Option<Json> = request
            .body
            .as_ref()
            .and_then(|body| serde_json::from_str(&body.reveal()).ok());
        let rule = &self.definition.instance;
        let body = body.and_then(|body| rule.envelope.get(&body).cloned());
        let body = body.unwrap_or_else(|| json!({}));
        let method = request.method;
        for (read, collection, kind) in &self.collections {
            let Some(answer) = answer_mut(state, read) else {
                continue;
            };
            if let Some(rows) = &rule.rows
                && self.orders().any(|order| {
                    let list = rows.innermost().get_or_insert(answer);
                    order.apply(rule, (method, &request.path), list)
                })
            {
                return;
            }
            let is_own = match &rule.rows {
                Some(rows) if rows.depth() == 0 => {
                    let list = (rows.innermost(), collection.as_str(), kind.as_deref());
                    self.apply_own_to_list((request, &body), list, answer)
                }
                Some(_) => false,
                None => {
                    let name = rule.singleton.clone().unwrap_or_default();
                    let object = rule.location.get_or_insert(answer);
                    let known = object.clone();
                    let key = [name];
                    self.apply_own(request, &self.values(&key, None, &known), object)
                }
            };
            if is_own {
                return;
            }
            if let Some(inactive) = self.definition.inactive.as_ref()
                && !self.definition.removes_object(method, path)
            {
                inactive.clear_path(answer, path);
            }
            let request = (method, path, &body);
            let is_done = match &rule.rows {
                Some(rows) if rule.parent_levels > 0 => self.apply_to_parent(request, rows, answer),
                Some(rows) if rows.depth() > 0 && self.definition.namespaces.is_some() => {
                    let lists = (rows, collection.as_str(), kind.as_deref());
                    self.apply_to_elements(request, lists, answer)
                }
                Some(rows) if rows.depth() > 0 => {
                    self.apply_to_inner_lists(request, (rows, kind.as_deref()), answer)
                }
                Some(rows) => {
                    let list = (rows.innermost(), collection.as_str(), kind.as_deref());
                    self.apply_to_list(request, list, answer, &[])
                }
                None => {
                    let object = rule.location.get_or_insert(answer);
                    self.apply_to_singleton(request, collection, object)
                }
            };
            if is_done {
                return;
            }
        }
    }

    fn orders(&self) -> impl Iterator<Item = &OrderRule> {
        let rules = self.definition.attributes.values();
        rules.filter_map(|rule| match &rule.location {
            RestLocation::Order(order) => Some(order.as_ref()),
            _ => None,
        })
    }

    /// Applies a request to the only object. Returns false if it is for another path.
    fn apply_to_singleton(
        &self,
        (method, path, body): (Method, &str, &Json),
        collection: &str,
        answer: &mut Json,
    ) -> bool {
        if path == collection {
            self.apply_to_object(method, body, answer);
            return true;
        }
        let name = self.definition.instance.singleton.clone();
        let key = [name.unwrap_or_default()];
        let values = self.values(&key, None, &Json::Null);
        let is_member = self.apply_to_members_of(method, (&values, path), body, answer);
        is_member || self.remove_field((method, path), collection, answer)
    }

    /// Applies a request to a list of objects, in an answer or in an element of an outer list.
    /// Returns false if it is for another path.
    fn apply_to_list(
        &self,
        (method, path, body): (Method, &str, &Json),
        (rows, collection, kind): (&RowsRule, &str, Option<&str>),
        answer: &mut Json,
        outer: &[OuterElement],
    ) -> bool {
        let rule = &self.definition.instance;
        let found = rows.rows(answer).unwrap_or_default().into_iter();
        let found = found.enumerate().find_map(|(index, row)| {
            let key = key_of(rule, &row_in(outer, row.name, row.value)).ok()?;
            let key: Vec<String> = key.into_iter().map(Cow::into_owned).collect();
            let own = fill(&rule.object, &self.values(&key, kind, row.value));
            let is_inside = path == own || path.starts_with(&format!("{own}/"));
            is_inside.then_some((index, key, own))
        });
        let list = rows.get_or_insert(answer);
        let Some((index, key, own)) = found else {
            let creates = rule.create.as_ref().is_some_and(|create| {
                let at_target = match &create.target {
                    RequestTarget::Collection => path == collection,
                    RequestTarget::Object if outer.is_empty() => true,
                    RequestTarget::Object => self.is_below(outer, rule.object.values_in(path)),
                    RequestTarget::Path(own) => self.is_below(outer, own.values_in(path)),
                };
                create.method == method && at_target
            });
            return creates && self.add_object((path, body), list, outer);
        };
        if method == Method::Delete && path == own {
            remove_row(list, index);
            return true;
        }
        if path == own {
            if self.orders().any(|order| {
                let name = &key[rule.own_key()];
                order.apply_attributes(rule, (name, body), list)
            }) {
                return true;
            }
            let Some(object) = row_mut(list, index) else {
                return false;
            };
            self.apply_to_object(method, body, object);
            return true;
        }
        let Some(object) = row_mut(list, index) else {
            return false;
        };
        let values = self.values(&key, kind, &Json::Null);
        let is_member = self.apply_to_members_of(method, (&values, path), body, object);
        is_member || self.remove_field((method, path), &own, object)
    }

    /// The values of the placeholders of an object's paths: names, and attributes that it has.
    fn values<'a>(
        &'a self,
        key: &'a [String],
        kind: Option<&'a str>,
        object: &'a Json,
    ) -> impl Fn(&str) -> Option<String> + 'a {
        move |hole| {
            let mut names = self.definition.instance.key.iter().zip(key);
            match hole {
                "kind" if self.definition.kinds.is_some() => kind.map(str::to_owned),
                _ => match names.find(|(rule, _)| rule.attribute == hole) {
                    Some((_, value)) => Some(value.clone()),
                    None => (self.definition).deciding_value(self.model, hole, (object, None)),
                },
            }
        }
    }

    /// Adds an object, which is in the body and, in part, in the path. Returns false if the path is
    /// that of another one.
    fn add_object(
        &self,
        (path, body): (&str, &Json),
        list: &mut Json,
        outer: &[OuterElement],
    ) -> bool {
        let rule = &self.definition.instance;
        let mut object = json!({});
        self.merge(&mut object, body);
        for (field, template) in rule.create.iter().flat_map(|create| &create.adds) {
            if let Ok(text) = template.fill(|name| scalar_text(body.get(name)?)) {
                field.put(&mut object, text.into());
            }
        }
        name_object(&mut object);
        let in_path = rule.object.values_in(path).unwrap_or_default();
        let in_path = |name: &str| {
            let value = in_path.iter().find(|(hole, _)| *hole == name);
            value.map(|(_, value)| value.clone())
        };
        for key in rule.key.iter().filter(|key| key.up == 0) {
            if let (Some(field), Some(value)) = (&key.field, in_path(&key.attribute))
                && field.get(&object).is_none()
            {
                field.put(&mut object, value.into());
            }
        }
        let map_key = rule
            .key
            .iter()
            .find(|key| key.up == 0 && key.field.is_none());
        let Some(map_key) = map_key else {
            if !list.is_array() {
                *list = json!([]);
            }
            let items = list.as_array_mut().expect("was just made a list");
            let key_of = |value| {
                let key = key_of(rule, &row_in(outer, None, value)).ok()?;
                Some(key.into_iter().map(Cow::into_owned).collect::<Vec<_>>())
            };
            let key = key_of(&object);
            if items.iter().all(|other| key_of(other) != key) {
                items.push(object);
            }
            return true;
        };
        if let Some(name) = in_path(&map_key.attribute) {
            FieldPath::of(&name).put(list, object);
            return true;
        }
        false
    }

    /// Changes an object: a complete body replaces it.
    fn apply_to_object(&self, method: Method, body: &Json, object: &mut Json) {
        let update = &self.definition.instance.update;
        if update.is_complete && update.method == method {
            *object = json!({});
        }
        self.merge(object, body);
        let rules = self.definition.attributes.values();
        if let Some(inactive) = self.definition.inactive.as_ref() {
            for path in rules.flat_map(RestAttributeRule::paths) {
                if method == Method::Patch {
                    inactive.clear_fields(object, body, path);
                }
            }
        }
    }

    /// Removes the field of a path below that of its object. Returns false if it is another path.
    fn remove_field(&self, (method, path): (Method, &str), own: &str, object: &mut Json) -> bool {
        let fields = self.definition.fields().map(|(_, field)| &field.path);
        let rules = self.definition.attributes.values();
        let choices = rules.flat_map(|rule| match &rule.location {
            RestLocation::Choice(choice) => choice.places.values().collect(),
            _ => Vec::new(),
        });
        let mut removed = fields.chain(choices);
        let removed = removed.find(|field| leaf_path(own, field) == path);
        let removed = removed.filter(|_| method == Method::Delete);
        if let Some(field) = removed {
            field.remove(object);
        }
        removed.is_some()
    }

    /// Whether the path is that of a list of members of the object.
    fn apply_to_members_of(
        &self,
        method: Method,
        (values, path): (&HoleValues<'_>, &str),
        body: &Json,
        object: &mut Json,
    ) -> bool {
        let mut rules = self.definition.attributes.values();
        rules.any(|rule| match &rule.location {
            RestLocation::Members(members) => {
                apply_to_members(members, (values, path), method, body, object)
            }
            _ => false,
        })
    }

    /// Copies the fields of a body into an object, and lists of members to their path.
    fn merge(&self, object: &mut Json, body: &Json) {
        for group in &self.alternatives {
            clear_others(object, group, body);
        }
        let members = self.definition.attributes.values();
        let members = members.filter_map(|rule| match &rule.location {
            RestLocation::Members(members) if members.own.is_some() => {
                Some((&members.write, &members.read))
            }
            _ => None,
        });
        let shared = self.definition.shared.values();
        let moved: Vec<_> = members
            .chain(shared.map(|shared| (&shared.write, &shared.read)))
            .collect();
        for (field, value) in body.as_object().into_iter().flatten() {
            let index = moved
                .iter()
                .find(|(write, _)| **write == FieldPath::of(field));
            match (index, value) {
                (Some((_, read)), Json::Array(items)) => {
                    read.put(object, items.iter().map(entry).collect());
                }
                _ => merge_value(&mut object[field], value),
            }
        }
    }
}

/// The answer to a read; empty if the kind has no objects.
fn answer_mut<'a>(state: &'a mut State, read: &str) -> Option<&'a mut Json> {
    match state.get_mut(read) {
        Some(Parsed::Json(json)) => {
            if json.is_null() {
                *json = json!({});
            }
            Some(json)
        }
        _ => None,
    }
}

/// The values of placeholders.
type HoleValues<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A path without the placeholders that have no value.
fn fill(template: &TextTemplate, values: &HoleValues<'_>) -> String {
    template
        .fill(|hole| Some(values(hole).unwrap_or_default()))
        .unwrap_or_default()
}

/// The object of a row.
fn row_mut(list: &mut Json, index: usize) -> Option<&mut Json> {
    match list {
        Json::Array(items) => items.get_mut(index),
        Json::Object(members) => members.values_mut().nth(index),
        _ => None,
    }
}

fn remove_row(list: &mut Json, index: usize) {
    match list {
        Json::Array(items) => {
            items.remove(index);
        }
        Json::Object(members) => {
            let name = members.keys().nth(index).cloned();
            name.and_then(|name| members.shift_remove(&name));
        }
        _ => {}
    }
}

/// Applies a request to the members of an object. Returns false if it is for another path.
fn apply_to_members(
    members: &MembersRule,
    (values, path): (&HoleValues<'_>, &str),
    method: Method,
    body: &Json,
    object: &mut Json,
) -> bool {
    let Some(own) = &members.own else {
        return false;
    };
    if method == Method::Post {
        if fill(&own.collection, values) != path {
            return false;
        }
        list_at(object, &members.read).push(entry(body));
        return true;
    }
    let list = members.read.get(object).and_then(Json::as_array);
    let found = list.into_iter().flatten().position(|member| {
        let member = members.key.get(member).and_then(Json::as_str);
        let values = |hole: &str| match hole {
            "member" => member.map(str::to_owned),
            _ => values(hole),
        };
        fill(&own.object, &values) == path
    });
    let Some(index) = found else {
        return false;
    };
    let list = list_at(object, &members.read);
    if method == Method::Delete {
        list.remove(index);
        return true;
    }
    if let Some(fields) = body.as_object() {
        for group in members
            .fields
            .values()
            .filter_map(RestLocation::alternatives)
        {
            clear_others(&mut list[index], &group, body);
        }
        for (field, value) in fields {
            list[index][field] = value.clone();
        }
    }
    true
}

/// The list at a path in an object; created if missing.
fn list_at<'a>(object: &'a mut Json, path: &FieldPath) -> &'a mut Vec<Json> {
    let list = path.get_or_insert(object);
    if !list.is_array() {
        *list = json!([]);
    }
    list.as_array_mut().expect("was just made a list")
}

fn merge_value(old: &mut Json, new: &Json) {
    match (old, new) {
        (Json::Object(old), Json::Object(new)) => {
            for (field, value) in new {
                merge_value(old.entry(field.clone()).or_insert(Json::Null), value);
            }
        }
        (old, new) => *old = new.clone(),
    }
}

/// Removes the other fields of an exclusive group that the body sets.
fn clear_others(object: &mut Json, group: &[FieldPath], body: &Json) {
    if group.iter().any(|path| path.get(body).is_some()) {
        for path in group.iter().filter(|path| path.get(body).is_none()) {
            path.remove(object);
        }
    }
}

/// A member or entry as the device returns it.
fn entry(sent: &Json) -> Json {
    let mut entry = match sent {
        Json::Object(_) => sent.clone(),
        other => json!({"name": other}),
    };
    name_object(&mut entry);
    entry
}

fn name_object(object: &mut Json) {
    if object.get("fullPath").is_none()
        && let Some(path) = entry_path(object)
    {
        object["fullPath"] = path.into();
    }
}
