//! From a change to the requests that make it: the fewest, in the order the device accepts.
//!
//! An object is made by one request with everything in its body. It is changed by one request with
//! the fields that differ, then one for each member that comes, changes or goes. Nothing that the
//! catalog does not mention is sent.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::codec::{Surroundings, destination, text_of};
use super::definition::{
    Definition, EntriesRule, FieldRule, Members, Otherwise, Place, Setting, SharedArray, Split,
};
use super::json::{Body, FieldPath};
use super::read::{Surveyed, entry_path, find, is_for, partition};
use super::template::Template;
use crate::change::{Change, ChangeKind};
use crate::driver::RenderError;
use crate::model::TypeModel;
use crate::operation::{Action, Method, Operation, Request};
use crate::read::State;
use crate::secret::Text;
use crate::value::{Attributes, Value};

/// The requests of one change.
///
/// # Errors
/// The change is one that the device cannot make, or an answer that it depends on is garbage.
pub fn operations(
    definition: &Definition,
    change: &Change,
    state: &State,
) -> Result<Vec<Operation>, RenderError> {
    let writer = Writer {
        definition,
        model: &change.wanted.model,
        change,
        surveyed: Surveyed::new(definition, state),
        state,
    };
    match change.kind {
        ChangeKind::Create => writer.create(),
        ChangeKind::Update => writer.update(),
        ChangeKind::Remove => writer.remove(),
    }
}

fn error(attribute: &str, message: &str) -> RenderError {
    RenderError {
        attribute: attribute.to_owned(),
        message: message.to_owned(),
    }
}

struct Writer<'a> {
    definition: &'a Definition,
    model: &'a TypeModel,
    change: &'a Change,
    surveyed: Surveyed,
    state: &'a State,
}

impl Writer<'_> {
    fn create(&self) -> Result<Vec<Operation>, RenderError> {
        let definition = self.definition;
        let Some(create) = &definition.instance.create else {
            return Err(error("ensure", "there is one, and it cannot be created"));
        };
        let kind = definition.kind_of(&self.change.wanted.attributes);
        let needs = kind
            .map(|(_, kind)| kind.needs.as_slice())
            .unwrap_or_default();
        for name in create.needs.iter().chain(needs) {
            if !self.change.wanted.attributes.contains_key(name) {
                return Err(error(name, "is needed to create it"));
            }
        }
        let mut body = Body::object();
        for (field, template) in &create.body {
            let text = self.fill(template, None)?;
            if !text.is_empty() {
                body.put(&FieldPath::new(field), Json::from(text).into());
            }
        }
        for (path, json) in kind.iter().flat_map(|(_, kind)| &kind.marks) {
            body.put(path, json.clone().into());
        }
        self.put_fields(&mut body, &|name| {
            self.change.wanted.attributes.contains_key(name)
        });
        for (name, members) in self.members() {
            let list = self
                .wanted_members(name, members)
                .iter()
                .map(|member| self.member_body(members, member))
                .collect::<Result<Vec<_>, _>>()?;
            if !list.is_empty() {
                body.put(&members.write, Body::List(list));
            }
        }
        let path = self.fill(&definition.instance.collection, None)?;
        Ok(vec![self.request(
            vec!["ensure".to_owned()],
            create.method,
            path,
            Some(body),
        )])
    }

    fn update(&self) -> Result<Vec<Operation>, RenderError> {
        let definition = self.definition;
        let differs = |name: &str| self.change.attributes.iter().any(|one| one == name);
        for name in &self.change.attributes {
            let chooses_kind = definition
                .kinds
                .as_ref()
                .is_some_and(|kinds| kinds.attribute == *name);
            let fixed = definition
                .attributes
                .get(name)
                .is_some_and(|rule| rule.create_only);
            if chooses_kind || fixed {
                let message =
                    "cannot be changed on the device; remove the resource and create it again";
                return Err(error(name, message));
            }
        }
        let object = self.fill(&definition.instance.object, None)?;
        let mut operations = Vec::new();
        let mut body = Body::object();
        self.put_fields(&mut body, &differs);
        if !body.is_empty() {
            let members: Vec<&str> = self.members().map(|(name, _)| name).collect();
            let carried = self
                .change
                .attributes
                .iter()
                .filter(|name| !members.contains(&name.as_str()))
                .cloned()
                .collect();
            let method = definition.instance.update;
            operations.push(self.request(carried, method, object, Some(body)));
        }
        for (name, members) in self.members() {
            if differs(name) {
                operations.extend(self.change_members(name, members)?);
            }
        }
        Ok(operations)
    }

    fn remove(&self) -> Result<Vec<Operation>, RenderError> {
        if !self.definition.instance.remove {
            return Err(error("ensure", "there is one, and it cannot be removed"));
        }
        let path = self.fill(&self.definition.instance.object, None)?;
        Ok(vec![self.request(
            vec!["ensure".to_owned()],
            Method::Delete,
            path,
            None,
        )])
    }

    fn request(
        &self,
        attributes: Vec<String>,
        method: Method,
        path: String,
        body: Option<Body>,
    ) -> Operation {
        Operation {
            attributes,
            action: Action::Request(Request {
                method,
                path,
                body: body.map(|body| body.to_text()),
                // Making a thing twice is refused; all else leaves the same state behind.
                idempotent: method != Method::Post,
            }),
        }
    }

    fn fill(&self, template: &Template, member: Option<&str>) -> Result<String, RenderError> {
        let wanted = &self.change.wanted.attributes;
        template
            .fill(|name| match name {
                "kind" => self
                    .definition
                    .kind_of(wanted)
                    .or_else(|| {
                        self.definition
                            .kind_of(&self.change.current.as_ref()?.attributes)
                    })
                    .and_then(|(_, kind)| kind.path.clone()),
                "member" => member.map(str::to_owned),
                _ => wanted.get(name).and_then(text_of),
            })
            .map_err(|name| error(&name, &format!("has no value, which `{template}` needs")))
    }

    fn name(&self) -> &str {
        let (key, _) = &self.definition.instance.key;
        self.change
            .wanted
            .attributes
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn members(&self) -> impl Iterator<Item = (&str, &Members)> {
        self.definition
            .attributes
            .iter()
            .filter_map(|(name, rule)| match &rule.place {
                Place::Members(members) => Some((name.as_str(), members.as_ref())),
                _ => None,
            })
    }

    /// What an attribute shall be, or else is.
    fn value(&self, name: &str) -> Option<Value> {
        let current = self.change.current.as_ref();
        self.change
            .wanted
            .attributes
            .get(name)
            .or_else(|| current?.attributes.get(name))
            .cloned()
    }

    /// Puts the fields of all attributes that are chosen, in the order of the model.
    fn put_fields(&self, body: &mut Body, chosen: &dyn Fn(&str) -> bool) {
        let kind = self.definition.kind_of(&self.change.wanted.attributes);
        let kind = kind.map(|(name, _)| name);
        let partition = partition(self.name());
        let around = Surroundings {
            partition: &partition,
            domain: self.surveyed.domain(&partition),
        };
        for name in self.model.attributes.keys() {
            let Some(rule) = self.definition.attributes.get(name) else {
                continue;
            };
            if !self.definition.has(name, kind) {
                continue;
            }
            match &rule.place {
                Place::Field(rule) if chosen(name) => {
                    if let Some(value) = self.change.wanted.attributes.get(name) {
                        body.put(&rule.path, field_body(rule, value));
                    }
                }
                Place::States(states) if chosen(name) => {
                    for (path, json) in state_fields(states, self.value(name).as_ref()) {
                        body.put(path, json.clone().into());
                    }
                }
                Place::Group { codec, field, with } => {
                    let names: Vec<&String> = std::iter::once(name).chain(with).collect();
                    if names.iter().any(|name| chosen(name)) {
                        let values: Vec<_> = names.iter().map(|name| self.value(name)).collect();
                        for (path, json) in codec.write(field, &values, around) {
                            body.put(&path, json.into());
                        }
                    }
                }
                _ => {}
            }
        }
        for (of, shared) in &self.definition.shared {
            if let Some(entries) = self.entries(of, shared, kind, chosen) {
                body.put(&shared.write, Json::from(entries).into());
            }
        }
    }

    /// The whole shared array, if an attribute of it is chosen.
    fn entries(
        &self,
        of: &str,
        shared: &SharedArray,
        kind: Option<&str>,
        chosen: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<Json>> {
        let creating = self.change.kind == ChangeKind::Create;
        let mut entries = if creating {
            Vec::new()
        } else {
            self.current_entries(shared)
        };
        let mut touched = false;
        for name in self.model.attributes.keys() {
            let Some(rule) = self.definition.attributes.get(name) else {
                continue;
            };
            let Place::Entries(rule) = &rule.place else {
                continue;
            };
            if rule.of != of || !self.definition.has(name, kind) {
                continue;
            }
            let paths = if chosen(name) {
                let mut paths = self
                    .value(name)
                    .map(|value| list_of(&value))
                    .unwrap_or_default();
                paths.retain(|path| path.starts_with('/'));
                paths
            } else if creating && let Some(path) = self.otherwise(shared, rule.otherwise.as_ref()) {
                vec![path]
            } else {
                continue;
            };
            touched = true;
            self.take_out(&mut entries, rule, shared);
            for path in paths {
                let both = rule
                    .both
                    .iter()
                    .any(|kind| self.surveyed.has(shared, kind, &path));
                let context = rule.context.clone().filter(|_| !both);
                entries.push(Entry { path, context });
            }
        }
        touched.then(|| {
            merge_sides(&mut entries);
            entries.iter().map(Entry::json).collect()
        })
    }

    fn current_entries(&self, shared: &SharedArray) -> Vec<Entry> {
        let object = self.current_object();
        object
            .and_then(|object| shared.read.get(object))
            .and_then(Json::as_array)
            .iter()
            .flat_map(|list| list.iter())
            .filter_map(|entry| {
                Some(Entry {
                    path: entry_path(entry)?,
                    context: entry
                        .get("context")
                        .and_then(Json::as_str)
                        .map(str::to_owned),
                })
            })
            .collect()
    }

    fn current_object(&self) -> Option<&Json> {
        let (key, _) = &self.definition.instance.key;
        let name = self.change.wanted.attributes.get(key);
        let found = find(self.definition, self.model, name, self.state).ok()??;
        Some(found.object)
    }

    /// Takes the entries that an attribute owns out of the array. An entry for both sides stays
    /// for the other side.
    fn take_out(&self, entries: &mut Vec<Entry>, rule: &EntriesRule, shared: &SharedArray) {
        entries.retain_mut(|entry| {
            let json = entry.json();
            let linked = self.linked_entry(shared, &entry.path);
            let json = linked.as_ref().unwrap_or(&json);
            if !self.surveyed.is_of(shared, &rule.kinds, json) || !is_for(rule, &entry.json()) {
                return true;
            }
            match (&rule.context, entry.context.as_deref()) {
                (Some(side), Some("all")) => {
                    let other = if side == "clientside" {
                        "serverside"
                    } else {
                        "clientside"
                    };
                    entry.context = Some(other.to_owned());
                    true
                }
                _ => false,
            }
        });
    }

    /// The entry as the device gave it, which may have a link that tells its kind.
    fn linked_entry(&self, shared: &SharedArray, path: &str) -> Option<Json> {
        let object = self.current_object()?;
        shared
            .read
            .get(object)?
            .as_array()?
            .iter()
            .find(|entry| entry_path(entry).as_deref() == Some(path))
            .cloned()
    }

    fn otherwise(&self, shared: &SharedArray, otherwise: Option<&Otherwise>) -> Option<String> {
        let otherwise = otherwise?;
        let wanted = &self.change.wanted.attributes;
        if !otherwise.holds(wanted) {
            return None;
        }
        let kind = otherwise.kind(wanted)?;
        let paths: Vec<String> = otherwise
            .paths
            .iter()
            .filter_map(|path| path.fill(|name| wanted.get(name).and_then(text_of)).ok())
            .collect();
        paths
            .iter()
            .find(|path| self.surveyed.has(shared, &kind, path))
            .or(paths.last())
            .cloned()
    }

    fn wanted_members(&self, name: &str, members: &Members) -> Vec<Value> {
        let value = self.change.wanted.attributes.get(name);
        members_of(members, value)
    }

    fn change_members(&self, name: &str, members: &Members) -> Result<Vec<Operation>, RenderError> {
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
            by_key(self.change.wanted.attributes.get(name)),
        );
        let attributes = || vec![name.to_owned()];
        let mut operations = Vec::new();
        // Members come before others go, so that the object is never without one in between.
        for (key, member) in shall.iter().filter(|(key, _)| !is.contains_key(*key)) {
            let path = self.fill(&members.collection, Some(key))?;
            let body = self.member_body(members, member)?;
            operations.push(self.request(attributes(), Method::Post, path, Some(body)));
        }
        for (key, member) in &shall {
            let Some(before) = is.get(key).filter(|before| *before != member) else {
                continue;
            };
            let mut body = Body::object();
            for (field, place) in &members.fields {
                if let Some(value) = member.get(field)
                    && before.get(field) != Some(value)
                {
                    put_place(&mut body, place, value);
                }
            }
            let path = self.fill(&members.object, Some(key))?;
            operations.push(self.request(attributes(), Method::Patch, path, Some(body)));
        }
        for key in is.keys().filter(|key| !shall.contains_key(*key)) {
            let path = self.fill(&members.object, Some(key))?;
            operations.push(self.request(attributes(), Method::Delete, path, None));
        }
        Ok(operations)
    }

    fn member_body(&self, members: &Members, member: &Value) -> Result<Body, RenderError> {
        let key = key_of(members, member);
        let mut body = Body::object();
        for (field, template) in &members.create {
            let text = self.fill(template, key.as_deref())?;
            body.put(&FieldPath::new(field), Json::from(text).into());
        }
        for (field, place) in &members.fields {
            if let Some(value) = member.get(field) {
                put_place(&mut body, place, value);
            }
        }
        Ok(body)
    }
}

/// An entry of a shared array, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    path: String,
    context: Option<String>,
}

impl Entry {
    fn json(&self) -> Json {
        match &self.context {
            Some(context) => json!({"name": self.path, "context": context}),
            None => json!({"name": self.path}),
        }
    }
}

/// One entry for both sides instead of one for each.
fn merge_sides(entries: &mut Vec<Entry>) {
    let mut merged: Vec<Entry> = Vec::new();
    for entry in entries.drain(..) {
        let twin = merged.iter_mut().find(|other| other.path == entry.path);
        match twin {
            Some(other) if other.context != entry.context => {
                other.context = Some("all".to_owned());
            }
            Some(_) => {}
            None => merged.push(entry),
        }
    }
    *entries = merged;
}

impl Otherwise {
    pub fn holds(&self, wanted: &Attributes) -> bool {
        self.when.iter().all(|(name, values)| {
            wanted
                .get(name)
                .and_then(text_of)
                .is_some_and(|text| values.contains(&text))
        })
    }

    pub fn kind(&self, wanted: &Attributes) -> Option<String> {
        self.kind
            .fill(|name| wanted.get(name).and_then(text_of))
            .ok()
    }
}

fn list_of(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().filter_map(text_of).collect(),
        one => text_of(one).into_iter().collect(),
    }
}

/// The members that a value lists; the word for none lists none.
fn members_of(members: &Members, value: Option<&Value>) -> Vec<Value> {
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

/// The key that the device has a member under.
fn key_of(members: &Members, member: &Value) -> Option<String> {
    match &members.split {
        Split::Whole => text_of(member),
        Split::Field(name) => member.get(name).and_then(text_of),
        Split::HostPort(host, port) => {
            let host = member.get(host).and_then(text_of)?;
            let port = member.get(port).and_then(text_of)?;
            Some(destination::join(&host, &port))
        }
    }
}

fn put_place(body: &mut Body, place: &Place, value: &Value) {
    match place {
        Place::Field(rule) => body.put(&rule.path, field_body(rule, value)),
        Place::States(states) => {
            for (path, json) in state_fields(states, Some(value)) {
                body.put(path, json.clone().into());
            }
        }
        _ => {}
    }
}

fn state_fields<'a>(
    states: &'a IndexMap<String, Setting>,
    value: Option<&Value>,
) -> &'a [(FieldPath, Json)] {
    value
        .and_then(text_of)
        .and_then(|text| states.get(&text))
        .map(|state| state.set.as_slice())
        .unwrap_or_default()
}

/// A value as its field has it.
fn field_body(rule: &FieldRule, value: &Value) -> Body {
    if let Some(text) = text_of(value.unwrap_sensitive())
        && let Some((_, json)) = rule.map.iter().find(|(name, _)| *name == text)
    {
        return json.clone().into();
    }
    // A list of nothing but the word for "none" is an empty list.
    if let (Value::List(items), Some(absent)) = (value, &rule.absent)
        && items.as_slice() == std::slice::from_ref(absent)
    {
        return Json::Array(Vec::new()).into();
    }
    match (body_of(value), rule.codec) {
        (Body::Plain(json), Some(codec)) => codec.write(json).into(),
        (body, _) => body,
    }
}

/// A value as it is sent. Numbers are numbers only where the model says so. What holds a secret
/// becomes a tree whose secret leaves stay apart.
fn body_of(value: &Value) -> Body {
    let plain = |bodies: &[Body]| bodies.iter().all(|body| matches!(body, Body::Plain(_)));
    let json = |body: Body| match body {
        Body::Plain(json) => json,
        _ => Json::Null,
    };
    match value {
        Value::Sensitive(inner) => match text_of(inner) {
            Some(text) => Body::Secret(Text::secret(text)),
            None => body_of(&wrap_leaves(inner)),
        },
        Value::List(items) => {
            let items: Vec<Body> = items.iter().map(body_of).collect();
            if plain(&items) {
                Json::Array(items.into_iter().map(json).collect()).into()
            } else {
                Body::List(items)
            }
        }
        Value::Hash(entries) => {
            let (names, bodies): (Vec<String>, Vec<Body>) = entries
                .iter()
                .filter_map(|(key, value)| Some((text_of(key)?, body_of(value))))
                .unzip();
            if plain(&bodies) {
                Json::Object(
                    names
                        .into_iter()
                        .zip(bodies.into_iter().map(json))
                        .collect(),
                )
                .into()
            } else {
                Body::Object(names.into_iter().zip(bodies).collect())
            }
        }
        Value::Bool(truth) => Json::Bool(*truth).into(),
        Value::Integer(number) => Json::from(*number).into(),
        Value::Float(number) => Json::from(*number).into(),
        other => other.as_str().map_or(Json::Null, Json::from).into(),
    }
}

/// A secret list or hash as one of secrets.
fn wrap_leaves(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().map(wrap_leaves).collect()),
        Value::Hash(entries) => Value::Hash(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), wrap_leaves(value)))
                .collect(),
        ),
        Value::Undef | Value::Absent | Value::Default => Value::Undef,
        leaf => Value::Sensitive(Box::new(text_of(leaf).unwrap_or_default().into())),
    }
}
