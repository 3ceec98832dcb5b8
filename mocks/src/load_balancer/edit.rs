//! Making, changing, replacing and removing objects. Each change is checked as a whole before it counts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::path::{FullPath, host_and_port};
use super::references::{dangling, node_of};
use super::refusal::Refusal;
use super::rewrite;
use super::schema::{Field, Kind, Takes, kind};
use super::tree::{Fields, Object, Tree};

/// Fields that every answer has; in a request they are passed over.
const BOOKKEEPING: [&str; 4] = ["kind", "selfLink", "generation", "fullPath"];

/// Whether fields that a request leaves out keep their values or go back to their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// `PATCH`
    Keep,
    /// `PUT`
    Default,
}

/// Makes an object; gives its full path.
pub fn create(tree: &mut Tree, kind: &'static Kind, body: &Fields) -> Result<String, Refusal> {
    if kind.fixed {
        return Err(Refusal::method("POST", &kind.path));
    }
    let object = build(tree, kind, body)?;
    let path = object.path.text();
    if tree.object(&kind.path, &path).is_some() {
        return Err(Refusal::exists(&kind.title, &path, &object.path.partition));
    }
    if let Some(address) = object
        .fields
        .get("address")
        .filter(|_| kind.path == "ltm/node")
        && let Some(other) = tree
            .collection("ltm/node")
            .find(|other| other.fields.get("address") == Some(address))
    {
        return Err(Refusal::exists(
            &kind.title,
            &other.path.text(),
            &other.path.partition,
        ));
    }
    tree.insert(&kind.path, object);
    settle(tree, kind, &path)?;
    Ok(path)
}

fn build(tree: &mut Tree, kind: &'static Kind, body: &Fields) -> Result<Object, Refusal> {
    let mut object = Object::new(name_of(kind, body)?);
    let given = checked(kind, body, None)?;
    let parent = parent_of(kind, &object, &given);
    let inherited = parent
        .as_ref()
        .and_then(|parent| tree.object(&kind.path, parent))
        .map(|parent| parent.fields.clone());
    for (name, field) in &kind.fields {
        let value = match given.get(name) {
            Some(value) => value.clone(),
            None => inherited
                .as_ref()
                .and_then(|fields| fields.get(name).cloned())
                .filter(|_| name != "description" && name != "defaultsFrom")
                .or_else(|| field.default.clone()),
        };
        if let Some(value) = value {
            object.fields.insert(name.clone(), value);
        } else if field.required {
            return Err(Refusal::missing(name));
        }
    }
    if let Some(parent) = parent {
        object
            .fields
            .insert("defaultsFrom".to_owned(), json!(parent));
    }
    if kind.path == "net/vlan" && !object.fields.contains_key("tag") {
        let taken: Vec<u64> = tree
            .collection("net/vlan")
            .filter_map(|vlan| vlan.fields.get("tag")?.as_u64())
            .collect();
        let tag = (1..=4094)
            .rev()
            .find(|tag| !taken.contains(tag))
            .unwrap_or(4094);
        object.fields.insert("tag".to_owned(), json!(tag));
    }
    replace_subs(tree, kind, &mut object, body)?;
    rewrite::object(&kind.path, &mut object, &plain(kind, &given))?;
    Ok(object)
}

/// The object that a monitor, profile or persistence takes its defaults from.
fn parent_of(
    kind: &Kind,
    object: &Object,
    given: &BTreeMap<String, Option<Value>>,
) -> Option<String> {
    kind.fields.get("defaultsFrom")?;
    let named = given
        .get("defaultsFrom")
        .cloned()
        .flatten()
        .and_then(|value| value.as_str().map(str::to_owned));
    let base = super::factory::base_name(&kind.path);
    let parent = named.unwrap_or_else(|| format!("/Common/{base}"));
    (parent != object.path.text()).then_some(parent)
}

fn name_of(kind: &Kind, body: &Fields) -> Result<FullPath, Refusal> {
    let name = body
        .get("name")
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Refusal::missing("name"))?;
    if kind.flat {
        let name = name.rsplit('/').next().unwrap_or(name).to_owned();
        return Ok(FullPath {
            partition: String::new(),
            sub_path: None,
            name,
        });
    }
    let partition = body
        .get("partition")
        .and_then(Value::as_str)
        .unwrap_or("Common");
    let mut path = FullPath::parse(name, partition);
    if let Some(sub) = body.get("subPath").and_then(Value::as_str) {
        path.sub_path = Some(sub.to_owned());
    }
    Ok(path)
}

/// Changes an object.
pub fn change(
    tree: &mut Tree,
    kind: &'static Kind,
    path: &str,
    body: &Fields,
    missing: Missing,
) -> Result<(), Refusal> {
    let Some(before) = tree.object(&kind.path, path).cloned() else {
        return Err(Refusal::not_found(&kind.title, path));
    };
    let mut object = before.clone();
    apply(kind, &mut object, body, missing)?;
    replace_subs(tree, kind, &mut object, body)?;
    let given = checked(kind, body, Some(&before))?;
    rewrite::object(&kind.path, &mut object, &plain(kind, &given))?;
    tree.insert(&kind.path, object);
    settle(tree, kind, path)
}

fn apply(kind: &Kind, object: &mut Object, body: &Fields, missing: Missing) -> Result<(), Refusal> {
    for name in ["name", "partition", "subPath"] {
        let same = match (name, body.get(name).and_then(Value::as_str)) {
            (_, None) => true,
            ("name", Some(name)) => name == object.path.name || name == object.path.text(),
            ("partition", Some(partition)) => partition == object.path.partition,
            (_, sub) => sub == object.path.sub_path.as_deref(),
        };
        if !same {
            return Err(Refusal::configuration(&format!(
                "The {name} of {} cannot be changed.",
                object.path.text()
            )));
        }
    }
    let given = checked(kind, body, Some(object))?;
    for (name, field) in &kind.fields {
        match given.get(name) {
            Some(Some(value)) => {
                object.fields.insert(name.clone(), value.clone());
            }
            Some(None) => {
                object.fields.remove(name);
            }
            None if missing == Missing::Default && !field.fixed && !field.required => {
                match &field.default {
                    Some(default) => {
                        object.fields.insert(name.clone(), default.clone());
                    }
                    None => {
                        object.fields.remove(name);
                    }
                }
            }
            None => {}
        }
    }
    Ok(())
}

/// The fields of a request, each checked and written as the box does; `None` clears a field.
fn checked(
    kind: &Kind,
    body: &Fields,
    before: Option<&Object>,
) -> Result<BTreeMap<String, Option<Value>>, Refusal> {
    let mut given = BTreeMap::new();
    for (key, value) in body {
        let name = camel(key);
        let known = ["name", "partition", "subPath"].contains(&name.as_str())
            || kind.subs.contains_key(&name);
        if known || BOOKKEEPING.contains(&name.as_str()) {
            continue;
        }
        let field = kind
            .fields
            .get(&name)
            .ok_or_else(|| Refusal::unknown_property(key))?;
        let old = before.and_then(|object| object.fields.get(&name));
        let value = accept(&name, field, value, old)?;
        if let (true, Some(object)) = (field.fixed, before)
            && value.as_ref() != object.fields.get(&name)
        {
            return Err(Refusal::configuration(&format!(
                "The {name} of {} ({}) cannot be changed.",
                kind.title,
                object.path.text()
            )));
        }
        given.insert(name, value);
    }
    Ok(given)
}

/// Only the set fields, for rewriting rules that ask what was given.
fn plain(kind: &Kind, given: &BTreeMap<String, Option<Value>>) -> Fields {
    let set = given.iter().map(|(name, value)| {
        let is_flag = kind
            .fields
            .get(name)
            .is_some_and(|field| field.takes == Takes::Bool);
        // A flag that is cleared was given as false.
        let value = value
            .clone()
            .unwrap_or(if is_flag { json!(false) } else { Value::Null });
        (name.clone(), value)
    });
    set.collect()
}

fn camel(key: &str) -> String {
    let mut parts = key.split('-');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

fn accept(
    name: &str,
    field: &Field,
    value: &Value,
    old: Option<&Value>,
) -> Result<Option<Value>, Refusal> {
    let bad = || Refusal::invalid_value(name, value);
    let text = value.as_str();
    Ok(match &field.takes {
        Takes::Text => match value {
            Value::String(text)
                if text.is_empty() || (text == "none" && field.default.is_none()) =>
            {
                None
            }
            Value::String(text) => Some(json!(text)),
            Value::Number(number) => Some(json!(number.to_string())),
            _ => return Err(bad()),
        },
        Takes::Secret => Some(json!(rewrite::encrypted(text.ok_or_else(bad)?))),
        Takes::Bool => match (value.as_bool(), text) {
            (Some(true), _) | (_, Some("true" | "yes" | "enabled")) => Some(json!(true)),
            (Some(false), _) | (_, Some("false" | "no" | "disabled")) => None,
            _ => return Err(bad()),
        },
        Takes::Integer(low, high) => {
            let number = value
                .as_u64()
                .or_else(|| text?.parse().ok())
                .ok_or_else(bad)?;
            if !(*low..=*high).contains(&number) {
                return Err(bad());
            }
            Some(json!(number))
        }
        Takes::OneOf(words) => {
            let word = match value {
                Value::Bool(flag) => flag.to_string(),
                _ => text.ok_or_else(bad)?.to_owned(),
            };
            if !words.contains(&word) {
                return Err(bad());
            }
            Some(json!(word))
        }
        Takes::Monitor => rewrite::monitor(text.ok_or_else(bad)?)?.map(|text| json!(text)),
        Takes::Reference(_) => rewrite::reference(text.ok_or_else(bad)?).map(|path| json!(path)),
        Takes::References(_) => match value {
            Value::Array(paths) => {
                let paths: Option<Vec<String>> = paths
                    .iter()
                    .map(|path| path.as_str().and_then(rewrite::reference))
                    .collect();
                let paths = paths.ok_or_else(bad)?;
                (!paths.is_empty()).then(|| json!(paths))
            }
            Value::String(text) => rewrite::reference(text).map(|path| json!([path])),
            _ => return Err(bad()),
        },
        Takes::List => match value {
            Value::Array(items) => (!items.is_empty()).then(|| value.clone()),
            Value::String(text) => (!text.is_empty() && text != "none").then(|| json!([text])),
            _ => return Err(bad()),
        },
        Takes::Object => Some(rewrite::merged(
            old.or(field.default.as_ref()),
            value.as_object().ok_or_else(bad)?,
        )),
    })
}

/// An array in a request replaces the whole subcollection.
fn replace_subs(
    tree: &mut Tree,
    kind: &'static Kind,
    object: &mut Object,
    body: &Fields,
) -> Result<(), Refusal> {
    for (name, sub) in &kind.subs {
        let Some(value) = body.get(name) else {
            continue;
        };
        let items = match value {
            Value::Array(items) => items.clone(),
            Value::Object(wrapped) => wrapped
                .get("items")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            Value::String(word) if word == "none" => Vec::new(),
            other => return Err(Refusal::invalid_value(name, other)),
        };
        object.subs.insert(name.clone(), BTreeMap::new());
        for item in items {
            let fields = match item {
                Value::String(name) => Fields::from_iter([("name".to_owned(), json!(name))]),
                Value::Object(fields) => fields,
                other => return Err(Refusal::invalid_value(name, &other)),
            };
            add_sub(tree, sub, object, name, &fields)?;
        }
    }
    Ok(())
}

fn add_sub(
    tree: &mut Tree,
    sub: &'static Kind,
    object: &mut Object,
    collection: &str,
    body: &Fields,
) -> Result<String, Refusal> {
    let mut body = body.clone();
    let default = if sub.path == "ltm/pool/members" {
        object.path.partition.as_str()
    } else {
        "Common"
    };
    body.entry("partition").or_insert_with(|| json!(default));
    let mut path = name_of(sub, &body)?;
    if sub.path == "net/vlan/interfaces" {
        path.partition.clear();
    }
    let mut child = Object::new(path);
    let given = checked(sub, &body, None)?;
    for (name, field) in &sub.fields {
        // The context of a profile depends on the profile, so its default is set later.
        let default = field.default.clone().filter(|_| name != "context");
        let value = given.get(name).cloned().unwrap_or(default);
        if let Some(value) = value {
            child.fields.insert(name.clone(), value);
        }
    }
    if sub.path == "ltm/pool/members" {
        member(tree, &mut child)?;
    }
    let text = child.path.text();
    let children = object.subs.entry(collection.to_owned()).or_default();
    if children.contains_key(&text) {
        return Err(Refusal::exists(&sub.title, &text, &child.path.partition));
    }
    child.generation = tree.generation + 1;
    children.insert(text.clone(), child);
    Ok(text)
}

/// A member needs its node; one whose address is given is made on the way.
fn member(tree: &mut Tree, child: &mut Object) -> Result<(), Refusal> {
    let name = child.path.name.clone();
    let (host, service) =
        host_and_port(&name).ok_or_else(|| Refusal::invalid_value("members", &json!(name)))?;
    if super::path::port(service).is_none() {
        return Err(Refusal::invalid_value("members", &json!(name)));
    }
    let node = node_of(child);
    let given = child
        .fields
        .get("address")
        .and_then(Value::as_str)
        .map(str::to_owned);
    match tree.object("ltm/node", &node) {
        Some(existing) => {
            let address = existing.text("address").to_owned();
            if given.is_some_and(|given| given != address) {
                return Err(Refusal::configuration(&format!(
                    "The address of Node ({node}) is {address}."
                )));
            }
            child.fields.insert("address".to_owned(), json!(address));
        }
        None => {
            let address = given.or_else(|| {
                host.parse::<std::net::IpAddr>()
                    .ok()
                    .map(|ip| ip.to_string())
            });
            let address = address.ok_or_else(|| Refusal::dangling("Node", &node))?;
            let body = json!({"name": node, "address": address});
            let kind = kind("ltm/node").expect("nodes are in the table");
            create(
                tree,
                kind,
                body.as_object().expect("it was written as an object"),
            )?;
            child.fields.insert("address".to_owned(), json!(address));
        }
    }
    Ok(())
}

/// Adds to a subcollection; gives the child's full path.
pub fn create_child(
    tree: &mut Tree,
    kind: &'static Kind,
    path: &str,
    collection: &str,
    body: &Fields,
) -> Result<String, Refusal> {
    let mut object = tree
        .object(&kind.path, path)
        .cloned()
        .ok_or_else(|| Refusal::not_found(&kind.title, path))?;
    let sub = &kind.subs[collection];
    let child = add_sub(tree, sub, &mut object, collection, body)?;
    rewrite::object(&kind.path, &mut object, &Fields::new())?;
    tree.insert(&kind.path, object);
    settle(tree, kind, path)?;
    Ok(child)
}

/// Changes a child.
pub fn change_child(
    tree: &mut Tree,
    kind: &'static Kind,
    path: &str,
    (collection, child): (&str, &str),
    body: &Fields,
    missing: Missing,
) -> Result<(), Refusal> {
    let mut object = tree
        .object(&kind.path, path)
        .cloned()
        .ok_or_else(|| Refusal::not_found(&kind.title, path))?;
    let sub = &kind.subs[collection];
    let found = object
        .subs
        .get_mut(collection)
        .and_then(|children| children.get_mut(child));
    let found = found.ok_or_else(|| Refusal::not_found(&sub.title, child))?;
    apply(sub, found, body, missing)?;
    found.generation = tree.generation + 1;
    rewrite::object(&kind.path, &mut object, &Fields::new())?;
    tree.insert(&kind.path, object);
    settle(tree, kind, path)
}

/// Removes a child.
pub fn remove_child(
    tree: &mut Tree,
    kind: &'static Kind,
    path: &str,
    (collection, child): (&str, &str),
) -> Result<(), Refusal> {
    let mut object = tree
        .object(&kind.path, path)
        .cloned()
        .ok_or_else(|| Refusal::not_found(&kind.title, path))?;
    let sub = &kind.subs[collection];
    let removed = object
        .subs
        .get_mut(collection)
        .and_then(|children| children.remove(child));
    removed.ok_or_else(|| Refusal::not_found(&sub.title, child))?;
    rewrite::object(&kind.path, &mut object, &Fields::new())?;
    tree.insert(&kind.path, object);
    settle(tree, kind, path)
}

/// Removes an object that nothing needs.
pub fn remove(tree: &mut Tree, kind: &'static Kind, path: &str) -> Result<(), Refusal> {
    if kind.fixed {
        return Err(Refusal::method("DELETE", &kind.path));
    }
    let objects = tree.objects.get_mut(&kind.path);
    let removed = objects.and_then(|objects| objects.remove(path));
    removed.ok_or_else(|| Refusal::not_found(&kind.title, path))?;
    if path.starts_with("/Common/") && super::factory::is_system(kind, path) {
        return Err(Refusal::configuration(&format!(
            "The system {} ({path}) cannot be deleted.",
            kind.title
        )));
    }
    tree.generation += 1;
    if kind.path == "ltm/virtual" {
        addresses(tree);
    }
    Ok(())
}

/// What follows from a change of one object to others.
fn settle(tree: &mut Tree, kind: &'static Kind, path: &str) -> Result<(), Refusal> {
    match kind.path.as_str() {
        "ltm/virtual" => {
            clash(tree, path)?;
            addresses(tree);
        }
        "net/vlan" => {
            let tag = tree
                .object("net/vlan", path)
                .and_then(|vlan| vlan.fields.get("tag").cloned());
            let other = tree
                .collection("net/vlan")
                .find(|vlan| vlan.path.text() != path && vlan.fields.get("tag") == tag.as_ref());
            if let (Some(other), Some(tag)) = (other, tag) {
                return Err(Refusal::configuration(&format!(
                    "The tag {tag} is already used by VLAN {}.",
                    other.path.text()
                )));
            }
        }
        _ => {}
    }
    Ok(())
}

fn clash(tree: &Tree, path: &str) -> Result<(), Refusal> {
    let Some(object) = tree.object("ltm/virtual", path) else {
        return Ok(());
    };
    let same = |other: &&Object| {
        other.path.text() != path
            && ["destination", "source", "ipProtocol", "vlans"]
                .iter()
                .all(|name| other.fields.get(*name) == object.fields.get(*name))
    };
    match tree.collection("ltm/virtual").find(same) {
        None => Ok(()),
        Some(other) => Err(Refusal::coded(format!(
            "01070333:3: Virtual Server {path} illegally shares destination address, source address, service port, ip-protocol, and vlan with Virtual Server {}.",
            other.path.text()
        ))),
    }
}

/// Virtual addresses come and go with the servers that listen on them.
fn addresses(tree: &mut Tree) {
    let mut wanted: Vec<(String, Value)> = Vec::new();
    for server in tree.collection("ltm/virtual") {
        if let Some((address, _)) = host_and_port(server.text("destination")) {
            wanted.push((
                address.to_owned(),
                server.fields.get("mask").cloned().unwrap_or_default(),
            ));
        }
    }
    let existing = tree
        .objects
        .entry("ltm/virtual-address".to_owned())
        .or_default();
    existing.retain(|path, object| {
        object.text("autoDelete") == "false" || wanted.iter().any(|(wanted, _)| wanted == path)
    });
    let kind = kind("ltm/virtual-address").expect("virtual addresses are in the table");
    for (path, mask) in wanted {
        if tree.object(&kind.path, &path).is_none() {
            let mut object = Object::new(FullPath::parse(&path, "Common"));
            let defaults = kind
                .fields
                .iter()
                .filter_map(|(name, field)| Some((name.clone(), field.default.clone()?)));
            object.fields.extend(defaults);
            object
                .fields
                .insert("address".to_owned(), json!(object.path.name));
            object.fields.insert("mask".to_owned(), mask);
            tree.insert(&kind.path, object);
        }
    }
}

/// Refuses a tree in which something is missing. `removed` is what the request took away, if it did.
pub fn check(tree: &Tree, removed: Option<(&Kind, &str)>) -> Result<(), Refusal> {
    let Some(found) = dangling(tree) else {
        return Ok(());
    };
    match removed {
        Some((kind, path)) if kind.path == "auth/partition" => Err(Refusal::not_empty(path)),
        Some((kind, path)) if found.to == path => Err(Refusal::in_use(
            &kind.title,
            path,
            &found.from_title,
            &found.from,
        )),
        _ => Err(Refusal::dangling(&found.title(), &found.to)),
    }
}
