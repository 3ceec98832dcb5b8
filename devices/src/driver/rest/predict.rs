//! Predicts the device's answers by applying requests to the answers that were read.
//!
//! A new object has only the fields that were sent; fields that the device sets itself are unknown.
//! Names follow iControl REST: `name`, `partition` and `subPath` form the `fullPath`.

use serde_json::{Map, Value as Json, json};

use super::definition::{MembersRule, RestDefinition, RestLocation};
use super::json::FieldPath;
use super::read_requests::{collections, name_of};
use super::template::TextTemplate;
use crate::operation::{Method, Request};
use crate::read::json_text::entry_path;
use crate::read::{Parsed, State};

/// Applies requests in order. A request for an object that was not read has no effect.
pub(crate) fn apply<'a>(
    definition: &RestDefinition,
    requests: impl IntoIterator<Item = &'a Request>,
    state: &mut State,
) {
    let predictor = Predictor {
        definition,
        alternatives: definition.alternatives(),
        collections: collections(definition)
            .into_iter()
            .map(|(path, _)| path)
            .collect(),
    };
    for request in requests {
        predictor.apply(request, state);
    }
}

struct Predictor<'a> {
    definition: &'a RestDefinition,
    alternatives: Vec<Vec<FieldPath>>,
    /// Paths of the type's collections.
    collections: Vec<String>,
}

impl Predictor<'_> {
    fn apply(&self, request: &Request, state: &mut State) {
        let path = request.path.split('?').next().unwrap_or_default();
        let body: Json = request
            .body
            .as_ref()
            .and_then(|body| serde_json::from_str(&body.reveal()).ok())
            .unwrap_or_else(|| json!({}));
        let collections = &self.collections;
        if collections.iter().any(|collection| collection == path) {
            if let Some(answer) = answer_mut(state, path) {
                self.apply_to_collection(request.method, &body, answer);
            }
            return;
        }
        for collection in collections {
            if path.starts_with(&format!("{collection}/"))
                && let Some(answer) = answer_mut(state, collection)
            {
                let kind = kind_path(self.definition, collection);
                self.apply_to_object(request.method, (path, kind.as_deref()), &body, answer);
            }
        }
    }

    fn apply_to_collection(&self, method: Method, body: &Json, answer: &mut Json) {
        if self.definition.instance.singleton.is_some() {
            self.merge(answer, body);
            return;
        }
        if method != Method::Post {
            return;
        }
        let mut object = json!({});
        self.merge(&mut object, body);
        name_object(&mut object);
        let (_, key) = &self.definition.instance.key;
        let name = key.get(&object).cloned();
        let list = list_at(answer, &FieldPath::new("items"));
        if list.iter().all(|other| key.get(other) != name.as_ref()) {
            list.push(object);
        }
    }

    fn apply_to_object(
        &self,
        method: Method,
        (path, kind): (&str, Option<&str>),
        body: &Json,
        answer: &mut Json,
    ) {
        let definition = self.definition;
        let (_, key) = &definition.instance.key;
        if let Some(name) = &definition.instance.singleton {
            self.apply_to_members_of(method, (name, kind, path), body, answer);
            return;
        }
        let list = list_at(answer, &FieldPath::new("items"));
        for index in 0..list.len() {
            let Some(name) = key.get(&list[index]).and_then(Json::as_str) else {
                continue;
            };
            let own = fill(&definition.instance.object, name, kind, None);
            if own == path {
                match method {
                    Method::Delete => {
                        list.remove(index);
                    }
                    _ => self.merge(&mut list[index], body),
                }
                return;
            }
            if path.starts_with(&format!("{own}/")) {
                let name = name.to_owned();
                let object = &mut list[index];
                if self.apply_to_members_of(method, (&name, kind, path), body, object) {
                    return;
                }
            }
        }
    }

    /// Whether the path is that of a list of members of the object.
    fn apply_to_members_of(
        &self,
        method: Method,
        (name, kind, path): (&str, Option<&str>, &str),
        body: &Json,
        object: &mut Json,
    ) -> bool {
        let mut rules = self.definition.attributes.values();
        rules.any(|rule| match &rule.location {
            RestLocation::Members(members) => {
                apply_to_members(members, (name, kind, path), method, body, object)
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
            RestLocation::Members(members) => Some((&members.write, &members.read)),
            _ => None,
        });
        let shared = self.definition.shared.values();
        let moved: Vec<_> = members
            .chain(shared.map(|shared| (&shared.write, &shared.read)))
            .collect();
        for (field, value) in body.as_object().into_iter().flatten() {
            let index = moved
                .iter()
                .find(|(write, _)| write.steps() == std::slice::from_ref(field));
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
fn answer_mut<'a>(state: &'a mut State, path: &str) -> Option<&'a mut Json> {
    match state.get_mut(&name_of(path)) {
        Some(Parsed::Json(json)) => {
            if json.is_null() {
                *json = json!({});
            }
            Some(json)
        }
        _ => None,
    }
}

/// The text of `{kind}` in a collection's path.
fn kind_path(definition: &RestDefinition, collection: &str) -> Option<String> {
    let (_, kind) = collections(definition)
        .into_iter()
        .find(|(path, _)| path == collection)?;
    definition.kinds.as_ref()?.kinds.get(kind?)?.path.clone()
}

fn fill(template: &TextTemplate, name: &str, kind: Option<&str>, member: Option<&str>) -> String {
    template
        .fill(|hole| {
            Some(match hole {
                "kind" => kind.unwrap_or_default().to_owned(),
                "member" => member.unwrap_or_default().to_owned(),
                _ => name.to_owned(),
            })
        })
        .unwrap_or_default()
}

/// Applies a request to the members of an object. Returns false if it is for another path.
fn apply_to_members(
    members: &MembersRule,
    (name, kind, path): (&str, Option<&str>, &str),
    method: Method,
    body: &Json,
    object: &mut Json,
) -> bool {
    let list = list_at(object, &members.read);
    if method == Method::Post {
        if fill(&members.collection, name, kind, None) != path {
            return false;
        }
        list.push(entry(body));
        return true;
    }
    let found = list.iter().position(|member| {
        let member = members.key.get(member).and_then(Json::as_str);
        fill(&members.object, name, kind, member) == path
    });
    let Some(index) = found else {
        return false;
    };
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
    let mut at = object;
    for step in path.steps() {
        if !at.is_object() {
            *at = Json::Object(Map::new());
        }
        at = &mut at[step];
    }
    if !at.is_array() {
        *at = json!([]);
    }
    at.as_array_mut().expect("was just made a list")
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
