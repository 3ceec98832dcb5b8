//! Members of an object that are objects themselves: read as a list, written individually or with
//! the object.

use crate::map::IndexMap;
use serde_json::Value as Json;

use super::codec::f5::destination;
use super::definition::{KeySplit, MemberPaths, MembersRule, RestLocation};
use super::field::{field_value, put_location, state_value};
use super::writer::RequestWriter;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::{Method, Operation};
use crate::value::Value;

/// All members of an object, without those of the device itself.
pub(crate) fn members_value(members: &MembersRule, object: &Json) -> Value {
    let list = members.read.get(object).and_then(Json::as_array);
    let values: Vec<Value> = list
        .iter()
        .flat_map(|list| list.iter())
        .filter(|item| !members.device_owned.is(item))
        .filter_map(|item| member_value(members, item))
        .collect();
    match (&members.none, values.is_empty()) {
        (Some(none), true) => none.clone(),
        _ => Value::List(values),
    }
}

/// A desired list whose members take the fields that they do not set from the current members: only
/// fields that are set are compared.
pub(crate) fn with_unset_fields(members: &MembersRule, desired: &Value, current: &Value) -> Value {
    let Value::List(desired) = desired else {
        return desired.clone();
    };
    let known = members_of(members, Some(current));
    let complete = |member: &Value| {
        let key = key_of(members, member);
        let known = known.iter().find(|known| key_of(members, known) == key);
        let (Some(Value::Hash(known)), Value::Hash(fields)) = (known, member) else {
            return member.clone();
        };
        // In the order of the current member, so that equal members are equal values.
        let taken = known.iter().map(|(name, value)| {
            let own = fields.iter().find(|(own, _)| own == name);
            (name.clone(), own.map_or(value, |(_, own)| own).clone())
        });
        let is_new = |(name, _): &&(Value, Value)| known.iter().all(|(other, _)| other != name);
        let own = fields.iter().filter(is_new).cloned();
        Value::Hash(taken.chain(own).collect())
    };
    Value::List(desired.iter().map(complete).collect())
}

/// The key of a member on the device.
pub(crate) fn member_key(members: &MembersRule, item: &Json) -> Option<String> {
    members
        .key
        .get(item)
        .and_then(Json::as_str)
        .map(str::to_owned)
}

fn member_value(members: &MembersRule, item: &Json) -> Option<Value> {
    let key = member_key(members, item)?;
    let mut fields: Vec<(Value, Value)> = match &members.split {
        KeySplit::Complete => return Some(key.into()),
        KeySplit::Field(name) => vec![(name.as_str().into(), key.into())],
        KeySplit::HostPort(host, port) => {
            let (host_text, port_text) = split_member(&key);
            vec![
                (host.as_str().into(), host_text.into()),
                (port.as_str().into(), port_text.into()),
            ]
        }
    };
    for (name, location) in &members.fields {
        let value = match location {
            RestLocation::Field(rule) => field_value(rule, item),
            RestLocation::States(states) => state_value(states, item),
            _ => None,
        };
        if let Some(value) = value {
            fields.push((name.as_str().into(), value));
        }
    }
    Some(Value::Hash(fields))
}

/// Name and port of a pool member: after the last colon, for IPv6 after the last dot.
fn split_member(key: &str) -> (String, String) {
    let name = key.rsplit('/').next().unwrap_or(key);
    let separator = if name.matches(':').count() > 1 {
        '.'
    } else {
        ':'
    };
    match key.rsplit_once(separator) {
        Some((host, port)) => {
            let port = if port == "any" { "0" } else { port };
            (host.to_owned(), port.to_owned())
        }
        None => (key.to_owned(), String::new()),
    }
}

/// The members in a value; empty for the word for none.
fn members_of(members: &MembersRule, value: Option<&Value>) -> Vec<Value> {
    let items = match value {
        Some(Value::List(items)) => items.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    items
        .into_iter()
        .filter(|item| Some(item) != members.none.as_ref())
        .collect()
}

/// The key of a member.
fn key_of(members: &MembersRule, member: &Value) -> Option<String> {
    match &members.split {
        KeySplit::Complete => member.scalar_text(),
        KeySplit::Field(name) => member.get(name).and_then(Value::scalar_text),
        KeySplit::HostPort(host, port) => {
            let host = member.get(host).and_then(Value::scalar_text)?;
            let port = member.get(port).and_then(Value::scalar_text)?;
            Some(destination::join(&host, &port))
        }
    }
}

impl RequestWriter<'_> {
    pub(super) fn desired_members(&self, name: &str, members: &MembersRule) -> Vec<Value> {
        let value = self.change.desired.attributes.get(name);
        members_of(members, value)
    }

    /// The complete list of members. Known members keep their other fields.
    pub(super) fn members_body(&self, name: &str, members: &MembersRule) -> Body {
        let object = self.current_object();
        let list = object.and_then(|object| members.read.get(object)?.as_array());
        let desired = self.desired_members(name, members);
        let element = |member: &Value| {
            let key = key_of(members, member);
            let mut known = list.into_iter().flatten();
            let known = known.find(|item| member_key(members, item) == key);
            let mut element = known.map_or_else(Body::object, |item| item.clone().into());
            if let Some(key) = key {
                element.put(&members.key, Json::from(key).into());
            }
            put_fields_of(members, member, &mut element);
            element
        };
        let mut known = list.into_iter().flatten();
        let device_owned = known.by_ref().filter(|item| members.device_owned.is(item));
        let device_owned: Vec<Body> = device_owned.map(|item| item.clone().into()).collect();
        let own = desired.iter().map(element);
        Body::List(own.chain(device_owned).collect())
    }

    pub(super) fn change_members(
        &self,
        name: &str,
        members: &MembersRule,
        own: &MemberPaths,
    ) -> Result<Vec<Operation>, RenderError> {
        let current = self.change.current.as_ref();
        let current = current.and_then(|instance| instance.attributes.get(name));
        let by_key = |value: Option<&Value>| -> IndexMap<String, Value> {
            members_of(members, value)
                .into_iter()
                .filter_map(|member| Some((key_of(members, &member)?, member)))
                .collect()
        };
        let (is, shall) = (
            by_key(current),
            by_key(self.change.desired.attributes.get(name)),
        );
        let attributes = || vec![name.into()];
        let mut operations = Vec::new();
        // New members are added before old ones are removed, so that the object always has one.
        for (key, member) in shall.iter().filter(|(key, _)| !is.contains_key(*key)) {
            let path = self.path(&own.collection, Some(key))?;
            let body = self.member_body(members, member)?;
            operations.push(self.request(attributes(), Method::Post, path, Some(body)));
        }
        for (key, member) in &shall {
            let Some(before) = is.get(key).filter(|before| *before != member) else {
                continue;
            };
            let mut body = Body::object();
            for (field, location) in &members.fields {
                if let Some(value) = member.get(field)
                    && before.get(field) != Some(value)
                {
                    put_location(&mut body, location, value);
                }
            }
            let path = self.path(&own.object, Some(key))?;
            operations.push(self.request(attributes(), Method::Patch, path, Some(body)));
        }
        for key in is.keys().filter(|key| !shall.contains_key(*key)) {
            let path = self.path(&own.object, Some(key))?;
            operations.push(self.request(attributes(), Method::Delete, path, None));
        }
        Ok(operations)
    }

    /// Removes all members of the object.
    pub(super) fn remove_members(
        &self,
        name: &str,
        members: &MembersRule,
        own: &MemberPaths,
    ) -> Result<Vec<Operation>, RenderError> {
        let current = self.change.current.as_ref();
        let current = current.and_then(|instance| instance.attributes.get(name));
        let keys = members_of(members, current);
        let keys = keys.iter().filter_map(|member| key_of(members, member));
        keys.map(|key| {
            let path = self.path(&own.object, Some(&key))?;
            Ok(self.request(vec!["ensure".into()], Method::Delete, path, None))
        })
        .collect()
    }

    pub(super) fn member_body(
        &self,
        members: &MembersRule,
        member: &Value,
    ) -> Result<Body, RenderError> {
        let key = key_of(members, member);
        let mut body = Body::object();
        self.put_body(&mut body, &members.create, key.as_deref())?;
        put_fields_of(members, member, &mut body);
        Ok(body)
    }
}

/// Sets the fields of a member that are not its key.
fn put_fields_of(members: &MembersRule, member: &Value, body: &mut Body) {
    for (field, location) in &members.fields {
        if let Some(value) = member.get(field) {
            put_location(body, location, value);
        }
    }
}
