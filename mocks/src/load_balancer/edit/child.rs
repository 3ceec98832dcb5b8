//! Subcollections: members of a pool, profiles of a virtual server, interfaces of a VLAN.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::dependents::update_dependents;
use super::field::checked;
use super::{OmittedFields, apply, create, name_of};
use crate::load_balancer::normalize;
use crate::load_balancer::path::{host_and_port, port};
use crate::load_balancer::references::node_of;
use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::schema::{ObjectKind, kind};
use crate::load_balancer::tree::{Fields, Object, Tree};

/// Adds to a subcollection; returns the full path of the child.
pub(crate) fn create_child(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    path: &str,
    collection: &str,
    body: &Fields,
) -> Result<String, Refusal> {
    let sub = &kind.subs[collection];
    changed(tree, kind, path, |tree, object| {
        add_sub(tree, sub, object, collection, body)
    })
}

/// Changes a subcollection of an object.
fn changed<T>(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    path: &str,
    change: impl FnOnce(&mut Tree, &mut Object) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let object = tree.object(&kind.path, path).cloned();
    let mut object = object.ok_or_else(|| Refusal::not_found(&kind.title, path))?;
    let result = change(tree, &mut object)?;
    normalize::object(tree, &kind.path, &mut object, &Fields::new())?;
    tree.insert(&kind.path, object);
    update_dependents(tree, kind, path)?;
    Ok(result)
}

/// Changes a child.
pub(crate) fn change_child(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    path: &str,
    (collection, child): (&str, &str),
    body: &Fields,
    missing: OmittedFields,
) -> Result<(), Refusal> {
    let sub = &kind.subs[collection];
    changed(tree, kind, path, |tree, object| {
        let children = object.subs.get_mut(collection);
        let found = children.and_then(|children| children.get_mut(child));
        let found = found.ok_or_else(|| Refusal::not_found(&sub.title, child))?;
        apply(sub, found, body, missing)?;
        found.generation = tree.generation + 1;
        Ok(())
    })
}

/// Removes a child.
pub(crate) fn remove_child(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    path: &str,
    (collection, child): (&str, &str),
) -> Result<(), Refusal> {
    let sub = &kind.subs[collection];
    changed(tree, kind, path, |_, object| {
        let children = object.subs.get_mut(collection);
        let removed = children.and_then(|children| children.remove(child));
        removed
            .map(drop)
            .ok_or_else(|| Refusal::not_found(&sub.title, child))
    })
}

/// Replaces a subcollection by an array of the request.
pub(super) fn replace_subs(
    tree: &mut Tree,
    kind: &'static ObjectKind,
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
    sub: &'static ObjectKind,
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
    let supplied = checked(sub, &body, None)?;
    for (name, field) in &sub.fields {
        // The default context depends on the profile and is set later.
        let default = field.default.clone().filter(|_| name != "context");
        let value = supplied.get(name).cloned().unwrap_or(default);
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

/// A member requires its node. A node is created if the member has an address.
fn member(tree: &mut Tree, child: &mut Object) -> Result<(), Refusal> {
    let name = child.path.name.clone();
    let (host, service) =
        host_and_port(&name).ok_or_else(|| Refusal::invalid_value("members", &json!(name)))?;
    if port(service).is_none() {
        return Err(Refusal::invalid_value("members", &json!(name)));
    }
    let node = node_of(child);
    let supplied = child
        .fields
        .get("address")
        .and_then(Value::as_str)
        .map(str::to_owned);
    match tree.object("ltm/node", &node) {
        Some(existing) => {
            let address = existing.text("address").to_owned();
            if supplied.is_some_and(|supplied| supplied != address) {
                return Err(Refusal::configuration(&format!(
                    "The address of Node ({node}) is {address}."
                )));
            }
            child.fields.insert("address".to_owned(), json!(address));
        }
        None => {
            let address = supplied.or_else(|| {
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
