//! From JSON answers to instances: what to ask for, and what the answers say.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::canonical::canonical;
use super::codec::Surroundings;
use super::definition::{
    Definition, EntriesRule, FieldRule, Members, Place, Setting, SharedArray, Split,
};
use super::json::alike;
use super::template::Template;
use crate::change::{Instance, Wanted};
use crate::model::TypeModel;
use crate::read::{Parsed, ReadError, ReadRequest, State};
use crate::value::{Attributes, Value};

/// The collection that says which route domain is the default of a partition.
const PARTITIONS: &str = "/mgmt/tm/auth/partition";

/// The name of the read of a path.
pub fn name_of(path: &str) -> String {
    format!("GET {path}")
}

/// Fills a template in which only `{kind}` stands.
fn with_kind(template: &Template, kind: &str) -> String {
    template
        .fill(|_| Some(kind.to_owned()))
        .unwrap_or_else(|_| template.to_string())
}

/// The collections of a type, each with the name of its kind if kinds have their own.
pub fn collections(definition: &Definition) -> Vec<(String, Option<&str>)> {
    let collection = &definition.instance.collection;
    let by_kind: Vec<_> = definition
        .kinds
        .iter()
        .flat_map(|kinds| &kinds.kinds)
        .filter_map(|(name, kind)| {
            let path = kind.path.as_ref()?;
            Some((with_kind(collection, path), Some(name.as_str())))
        })
        .collect();
    if by_kind.is_empty() {
        vec![(collection.to_string(), None)]
    } else {
        by_kind
    }
}

/// What to ask for, to know everything about these resources; for `None`, about all there is.
pub fn requests(
    definition: &Definition,
    model: &TypeModel,
    wanted: Option<&[&Wanted]>,
) -> Vec<ReadRequest> {
    let named = |kind: &str| {
        wanted.is_none_or(|wanted| {
            wanted.iter().any(|resource| {
                definition
                    .kind_of(&resource.attributes)
                    .is_none_or(|(name, _)| name == kind)
            })
        })
    };
    let mut requests = Vec::new();
    let mut ask = |path: String, query: &str, optional: bool| {
        let request = ReadRequest {
            name: name_of(&path),
            command: format!("{path}{query}"),
            optional,
        };
        if !requests.contains(&request) {
            requests.push(request);
        }
    };
    let query: Vec<String> = definition
        .instance
        .query
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{}", query.join("&"))
    };
    for (path, kind) in collections(definition) {
        if kind.is_none_or(named) {
            // Boxes without a module lack its kinds.
            ask(path, &query, kind.is_some());
        }
    }
    for path in &definition.instance.lookups {
        ask(path.clone(), "", false);
    }
    for (shared, kinds) in entry_kinds(definition, model, wanted) {
        for kind in kinds {
            ask(with_kind(&shared.kinds, &kind), "", true);
        }
    }
    requests
}

/// The kinds of entries that must be told apart, for each shared array.
fn entry_kinds<'a>(
    definition: &'a Definition,
    model: &TypeModel,
    wanted: Option<&[&Wanted]>,
) -> Vec<(&'a SharedArray, BTreeSet<String>)> {
    let mentioned = |name: &str| {
        wanted.is_none_or(|wanted| {
            wanted
                .iter()
                .any(|resource| resource.attributes.contains_key(name))
        })
    };
    definition
        .shared
        .iter()
        .map(|(of, shared)| {
            let mut needed = BTreeSet::new();
            for (name, rule) in &definition.attributes {
                let Place::Entries(rule) = &rule.place else {
                    continue;
                };
                if rule.of != *of || !model.attributes.contains_key(name) {
                    continue;
                }
                if mentioned(name) {
                    needed.extend(rule.kinds.iter().cloned());
                }
                let defaults = rule.otherwise.iter().flat_map(|otherwise| {
                    wanted
                        .unwrap_or_default()
                        .iter()
                        .filter(|resource| {
                            !resource.absent() && otherwise.holds(&resource.attributes)
                        })
                        .filter_map(|resource| otherwise.kind(&resource.attributes))
                });
                needed.extend(defaults);
            }
            let marks = definition
                .kinds
                .iter()
                .flat_map(|kinds| kinds.kinds.values());
            for kind in marks {
                if let Some((name, entry)) = &kind.entry
                    && name == of
                {
                    needed.insert(entry.clone());
                }
            }
            (shared, needed)
        })
        .collect()
}

/// The partition of a full path.
pub fn partition(name: &str) -> String {
    let mut parts = name.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(""), Some(partition), Some(_)) => partition.to_owned(),
        _ => String::new(),
    }
}

/// What the answers say beside the objects themselves.
#[derive(Debug, Default)]
pub struct Surveyed {
    /// Default route domain by partition.
    domains: BTreeMap<String, u32>,
    /// Paths of what is of a kind, by the path of the kind's collection.
    of_kind: BTreeMap<String, BTreeSet<String>>,
}

impl Surveyed {
    pub fn new(definition: &Definition, state: &State) -> Self {
        let mut surveyed = Self::default();
        if let Some(answer) = answer(state, PARTITIONS) {
            for item in items(answer) {
                let name = item.get("name").and_then(Json::as_str);
                let domain = item.get("defaultRouteDomain").and_then(Json::as_u64);
                if let (Some(name), Some(domain)) = (name, domain) {
                    let domain = u32::try_from(domain).unwrap_or_default();
                    surveyed.domains.insert(name.to_owned(), domain);
                }
            }
        }
        for shared in definition.shared.values() {
            let (before, after) = around_kind(shared);
            for (name, parsed) in state.iter() {
                let Some(path) = name.strip_prefix("GET ") else {
                    continue;
                };
                if path.starts_with(&before)
                    && path.ends_with(&after)
                    && path.len() > before.len() + after.len()
                    && let Parsed::Json(answer) = parsed
                    && !answer.is_null()
                {
                    let paths = items(answer)
                        .iter()
                        .filter_map(|item| item.get("fullPath")?.as_str())
                        .map(str::to_owned)
                        .collect();
                    surveyed.of_kind.insert(path.to_owned(), paths);
                }
            }
        }
        surveyed
    }

    pub fn domain(&self, partition: &str) -> u32 {
        self.domains.get(partition).copied().unwrap_or_default()
    }

    /// Whether the device has something of the kind at the path.
    pub fn has(&self, shared: &SharedArray, kind: &str, path: &str) -> bool {
        self.of_kind
            .get(&with_kind(&shared.kinds, kind))
            .is_some_and(|paths| paths.contains(path))
    }

    /// Whether an entry of a shared array is of one of the kinds: by the lists of the kinds, or by
    /// the link to its own address that newer releases give.
    pub fn is_of(&self, shared: &SharedArray, kinds: &[String], entry: &Json) -> bool {
        let path = entry_path(entry).unwrap_or_default();
        let link = entry
            .get("nameReference")
            .and_then(|reference| reference.get("link"))
            .and_then(Json::as_str)
            .unwrap_or_default();
        kinds.iter().any(|kind| {
            self.has(shared, kind, &path)
                || link.contains(&format!("{}/", with_kind(&shared.kinds, kind)))
        })
    }
}

fn around_kind(shared: &SharedArray) -> (String, String) {
    let text = shared.kinds.to_string();
    match text.split_once("{kind}") {
        Some((before, after)) => (before.to_owned(), after.to_owned()),
        None => (text, String::new()),
    }
}

/// Full path of an entry, given by path or by name and partition.
pub fn entry_path(entry: &Json) -> Option<String> {
    let field = |name: &str| entry.get(name).and_then(Json::as_str);
    if let Some(path) = entry.as_str().or_else(|| field("fullPath")) {
        return Some(path.to_owned());
    }
    let name = field("name")?;
    Some(match (field("partition"), field("subPath")) {
        _ if name.starts_with('/') => name.to_owned(),
        (Some(partition), Some(folder)) => format!("/{partition}/{folder}/{name}"),
        (Some(partition), None) => format!("/{partition}/{name}"),
        (None, _) => name.to_owned(),
    })
}

/// The answer to a read; `None` when it was not made.
pub fn answer<'a>(state: &'a State, path: &str) -> Option<&'a Json> {
    match state.get(&name_of(path)) {
        Some(Parsed::Json(json)) => Some(json),
        _ => None,
    }
}

/// The objects of a collection. A collection without objects has no `items` at all.
pub fn items(answer: &Json) -> &[Json] {
    answer
        .get("items")
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}

/// An object of a type, among the answers.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its kind, if kinds have collections of their own.
    pub kind: Option<&'a str>,
    pub name: &'a str,
    pub object: &'a Json,
}

/// The objects of the type, each with its kind if kinds have collections of their own.
///
/// # Errors
/// An answer is something else than a collection, or has an object without a name.
fn objects<'a>(definition: &'a Definition, state: &'a State) -> Result<Vec<Found<'a>>, ReadError> {
    let rule = &definition.instance;
    let mut objects = Vec::new();
    for (path, kind) in collections(definition) {
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
            objects.push(Found {
                kind,
                name,
                object: answer,
            });
            continue;
        }
        if answer.get("items").is_some_and(|items| !items.is_array()) {
            return Err(error("`items` is not a list"));
        }
        for object in items(answer) {
            let (_, key) = &rule.key;
            let name = key.get(object).and_then(Json::as_str);
            let name = name.ok_or_else(|| error("an object without a name"))?;
            objects.push(Found { kind, name, object });
        }
    }
    Ok(objects)
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
    let surveyed = Surveyed::new(definition, state);
    let objects = objects(definition, state)?;
    Ok(objects
        .into_iter()
        .map(|found| instance(definition, model, &surveyed, found))
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
    Ok(found.map(|found| instance(definition, model, &Surveyed::new(definition, state), found)))
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
    Ok(objects(definition, state)?.into_iter().find(|found| {
        let same = wanted.and_then(Value::as_str) == Some(found.name);
        same || wanted == Some(&canonical(definition, model, key, &found.name.into(), 0))
    }))
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
    let around = Surroundings {
        partition: &partition,
        domain: surveyed.domain(&partition),
    };
    let mut attributes = Attributes::new();
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
    Instance { attributes }
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

/// A scalar or a list, as the attribute value of the same shape.
pub fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Undef,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => number
            .as_i64()
            .map_or_else(|| number.to_string().into(), Value::Integer),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::List(items.iter().map(value_of).collect()),
        Json::Object(fields) => Value::Hash(
            fields
                .iter()
                .map(|(key, value)| (key.as_str().into(), value_of(value)))
                .collect(),
        ),
    }
}

fn field_value(rule: &FieldRule, object: &Json) -> Option<Value> {
    let found = rule.path.get(object).filter(|json| match json {
        Json::String(text) => !text.trim().is_empty(),
        Json::Array(items) => !items.is_empty(),
        _ => true,
    });
    let Some(json) = found else {
        return rule.absent.clone();
    };
    if let Some((value, _)) = rule.map.iter().find(|(_, mapped)| alike(mapped, json)) {
        return Some(value.as_str().into());
    }
    let json = rule
        .codec
        .map_or_else(|| json.clone(), |codec| codec.read(json));
    Some(match value_of(&json) {
        // Several text fields come back with trailing blanks.
        Value::String(text) => text.trim_end().into(),
        other => other,
    })
}

fn state_value(states: &indexmap::IndexMap<String, Setting>, object: &Json) -> Option<Value> {
    let fits = |state: &Setting| {
        state.when.as_ref().is_some_and(|when| {
            when.iter().all(|(path, any)| {
                path.get(object)
                    .is_some_and(|field| any.iter().any(|json| alike(field, json)))
            })
        })
    };
    states
        .iter()
        .find(|(_, state)| fits(state))
        .map(|(name, _)| name.as_str().into())
}

fn members_value(members: &Members, object: &Json) -> Value {
    let list = members.read.get(object).and_then(Json::as_array);
    let values: Vec<Value> = list
        .iter()
        .flat_map(|list| list.iter())
        .filter_map(|item| member_value(members, item))
        .collect();
    match (&members.none, values.is_empty()) {
        (Some(none), true) => none.clone(),
        _ => Value::List(values),
    }
}

/// The key of a member on the device.
pub fn member_key(members: &Members, item: &Json) -> Option<String> {
    members
        .key
        .get(item)
        .and_then(Json::as_str)
        .map(str::to_owned)
}

fn member_value(members: &Members, item: &Json) -> Option<Value> {
    let key = member_key(members, item)?;
    let mut fields: Vec<(Value, Value)> = match &members.split {
        Split::Whole => return Some(key.into()),
        Split::Field(name) => vec![(name.as_str().into(), key.into())],
        Split::HostPort(host, port) => {
            let (host_text, port_text) = split_member(&key);
            vec![
                (host.as_str().into(), host_text.into()),
                (port.as_str().into(), port_text.into()),
            ]
        }
    };
    for (name, place) in &members.fields {
        let value = match place {
            Place::Field(rule) => field_value(rule, item),
            Place::States(states) => state_value(states, item),
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

/// Whether an entry is for the side that an attribute is about.
pub fn is_for(rule: &EntriesRule, entry: &Json) -> bool {
    let context = entry.get("context").and_then(Json::as_str);
    match (&rule.context, context) {
        (None, _) | (_, None | Some("all")) => true,
        (Some(side), Some(context)) => side == context,
    }
}

fn entries_value(
    rule: &EntriesRule,
    shared: &SharedArray,
    surveyed: &Surveyed,
    object: &Json,
    is_array: bool,
) -> Option<Value> {
    let mut paths: Vec<String> = shared
        .read
        .get(object)
        .and_then(Json::as_array)
        .iter()
        .flat_map(|entries| entries.iter())
        .filter(|entry| is_for(rule, entry) && surveyed.is_of(shared, &rule.kinds, entry))
        .filter_map(entry_path)
        .collect();
    paths.sort();
    if paths.is_empty() {
        // Nothing is told when the kinds were not asked for.
        let asked = rule.kinds.iter().any(|kind| {
            surveyed
                .of_kind
                .contains_key(&with_kind(&shared.kinds, kind))
        });
        return if asked { rule.absent.clone() } else { None };
    }
    if is_array {
        return Some(paths.into());
    }
    paths.into_iter().next().map(Value::from)
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
        .flat_map(|found| fields.iter().filter_map(|path| path.get(found.object)))
        .filter_map(Json::as_str)
        .map(str::to_owned)
        .collect()
}
