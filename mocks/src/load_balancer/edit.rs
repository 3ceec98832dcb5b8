//! Creates, changes, replaces and removes objects. Each change is validated before it takes effect.

mod child;
mod dependents;
mod field;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::child::replace_subs;
pub(super) use self::child::{change_child, create_child, remove_child};
use self::dependents::{addresses, update_dependents};
use self::field::{checked, set_fields};
use super::files;
use super::normalize;
use super::path::FullPath;
use super::references::dangling;
use super::refusal::Refusal;
use super::schema::ObjectKind;
use super::tree::{Fields, Object, Tree};

/// Whether fields that a request omits keep their values or return to their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OmittedFields {
    /// `PATCH`
    Keep,
    /// `PUT`
    Default,
}

/// Creates an object; returns its full path.
pub(super) fn create(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    body: &Fields,
) -> Result<String, Refusal> {
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
    update_dependents(tree, kind, &path)?;
    Ok(path)
}

fn build(tree: &mut Tree, kind: &'static ObjectKind, body: &Fields) -> Result<Object, Refusal> {
    let mut object = Object::new(name_of(kind, body)?);
    let supplied = checked(kind, body, None)?;
    let parent = parent_of(kind, &object, &supplied);
    let inherited = parent
        .as_ref()
        .and_then(|parent| tree.object(&kind.path, parent))
        .map(|parent| parent.fields.clone());
    for (name, field) in &kind.fields {
        let value = match supplied.get(name) {
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
    let set = set_fields(kind, &supplied);
    files::import(tree, &kind.path, &mut object, &set)?;
    normalize::object(tree, &kind.path, &mut object, &set)?;
    Ok(object)
}

/// The parent of a monitor, profile or persistence, from which it inherits defaults.
fn parent_of(
    kind: &ObjectKind,
    object: &Object,
    supplied: &BTreeMap<String, Option<Value>>,
) -> Option<String> {
    kind.fields.get("defaultsFrom")?;
    let named = supplied
        .get("defaultsFrom")
        .cloned()
        .flatten()
        .and_then(|value| value.as_str().map(str::to_owned));
    let base = super::factory_config::base_name(&kind.path);
    let parent = named.unwrap_or_else(|| format!("/Common/{base}"));
    (parent != object.path.text()).then_some(parent)
}

fn name_of(kind: &ObjectKind, body: &Fields) -> Result<FullPath, Refusal> {
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
    if kind.path == "sys/application/service" {
        normalize::folder(&mut path);
    }
    Ok(path)
}

/// Changes an object.
pub(super) fn change(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    path: &str,
    body: &Fields,
    missing: OmittedFields,
) -> Result<(), Refusal> {
    let Some(before) = tree.object(&kind.path, path).cloned() else {
        return Err(Refusal::not_found(&kind.title, path));
    };
    let mut object = before.clone();
    apply(kind, &mut object, body, missing)?;
    replace_subs(tree, kind, &mut object, body)?;
    let supplied = checked(kind, body, Some(&before))?;
    let set = set_fields(kind, &supplied);
    files::import(tree, &kind.path, &mut object, &set)?;
    normalize::object(tree, &kind.path, &mut object, &set)?;
    tree.insert(&kind.path, object);
    update_dependents(tree, kind, path)
}

fn apply(
    kind: &ObjectKind,
    object: &mut Object,
    body: &Fields,
    missing: OmittedFields,
) -> Result<(), Refusal> {
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
    let supplied = checked(kind, body, Some(object))?;
    for (name, field) in &kind.fields {
        match supplied.get(name) {
            Some(Some(value)) => {
                object.fields.insert(name.clone(), value.clone());
            }
            Some(None) => {
                object.fields.remove(name);
            }
            None if missing == OmittedFields::Default && !field.fixed && !field.required => {
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

/// Removes an object without references to it.
pub(super) fn remove(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    path: &str,
) -> Result<(), Refusal> {
    if kind.fixed {
        return Err(Refusal::method("DELETE", &kind.path));
    }
    let objects = tree.objects.get_mut(&kind.path);
    let removed = objects.and_then(|objects| objects.remove(path));
    let has_members = |object: &Object| object.subs.values().any(|members| !members.is_empty());
    if kind.path == "cm/device-group" && removed.as_ref().is_some_and(has_members) {
        return Err(Refusal::configuration(&format!(
            "All devices must be removed from the Device Group ({path}) before it is deleted."
        )));
    }
    removed.ok_or_else(|| Refusal::not_found(&kind.title, path))?;
    if path.starts_with("/Common/") && super::factory_config::is_system(kind, path) {
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

/// Refuses a tree with a missing reference. `removed` is the object that the request removed.
pub(super) fn check(tree: &Tree, removed: Option<(&ObjectKind, &str)>) -> Result<(), Refusal> {
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
