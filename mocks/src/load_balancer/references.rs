//! References between objects. All referenced objects must exist.

use serde_json::Value;

use super::normalize::monitors;
use super::path::host_and_port;
use super::schema::{self, FieldType, ObjectKind};
use super::tree::{Object, Tree};

/// A reference to a missing object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingReference {
    /// Kind of the object with the reference.
    pub from_title: String,
    /// The object with the reference.
    pub from: String,
    /// Kind of the missing object, optionally with a wildcard.
    pub family: String,
    /// The missing object.
    pub to: String,
}

impl MissingReference {
    /// Name of the missing object's kind in messages.
    pub(super) fn title(&self) -> String {
        let first = match self.family.strip_suffix("/*") {
            Some(prefix) => schema::family(prefix)
                .and_then(|names| names.first())
                .map(|name| format!("{prefix}/{name}")),
            None => Some(self.family.clone()),
        };
        match first.as_deref().and_then(schema::kind) {
            Some(kind) => kind.title.clone(),
            None => "folder".to_owned(),
        }
    }
}

/// The first reference to a missing object.
pub(super) fn dangling(tree: &Tree) -> Option<MissingReference> {
    for (kind, object) in tree.all() {
        let from = || (kind.title.clone(), object.path.text());
        let partition = &object.path.partition;
        if !kind.flat && tree.object("auth/partition", partition).is_none() {
            let (from_title, from) = from();
            return Some(MissingReference {
                from_title,
                from,
                family: "folder".to_owned(),
                to: format!("/{partition}"),
            });
        }
        for (family, to) in named(kind, object) {
            if !tree.has(&family, &to) {
                let (from_title, from) = from();
                return Some(MissingReference {
                    from_title,
                    from,
                    family,
                    to,
                });
            }
        }
    }
    None
}

/// The references of an object: kind and full path.
fn named(kind: &ObjectKind, object: &Object) -> Vec<(String, String)> {
    let mut found = fields(kind, object);
    for (name, children) in &object.subs {
        for child in children.values() {
            match (kind.path.as_str(), name.as_str()) {
                ("ltm/pool", "members") => {
                    found.push(("ltm/node".to_owned(), node_of(child)));
                    found.extend(fields(&kind.subs[name], child));
                }
                ("ltm/virtual", "profiles") => {
                    found.push(("ltm/profile/*".to_owned(), child.path.text()))
                }
                ("cm/device-group", "devices") => {
                    found.push(("cm/device".to_owned(), child.path.text()))
                }
                ("net/vlan", "interfaces") => {
                    found.push(("net/interface".to_owned(), child.path.name.clone()))
                }
                _ => {}
            }
        }
    }
    if kind.path == "ltm/virtual" {
        let persist = object
            .fields
            .get("persist")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        found.extend(persist.filter_map(|entry| {
            let (partition, name) = (
                entry.get("partition")?.as_str()?,
                entry.get("name")?.as_str()?,
            );
            Some((
                "ltm/persistence/*".to_owned(),
                format!("/{partition}/{name}"),
            ))
        }));
        let translation = object
            .fields
            .get("sourceAddressTranslation")
            .and_then(|value| value.get("pool"));
        found.extend(
            translation
                .and_then(Value::as_str)
                .map(|pool| ("ltm/snatpool".to_owned(), pool.to_owned())),
        );
    }
    found
}

fn fields(kind: &ObjectKind, object: &Object) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, field) in &kind.fields {
        let Some(value) = object.fields.get(name) else {
            continue;
        };
        match &field.field_type {
            FieldType::Reference(family) => {
                found.extend(value.as_str().map(|path| (family.clone(), path.to_owned())))
            }
            FieldType::References(family) => {
                let paths = value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                found.extend(paths.map(|path| (family.clone(), path.to_owned())));
            }
            FieldType::Monitor => {
                let text = value.as_str().unwrap_or_default();
                found.extend(
                    monitors(text)
                        .into_iter()
                        .map(|path| ("ltm/monitor/*".to_owned(), path)),
                );
            }
            _ => {}
        }
    }
    found
}

/// The node of a pool member: its name without the port.
pub(super) fn node_of(member: &Object) -> String {
    let path = member.path.text();
    host_and_port(&path).map_or(path.clone(), |(node, _)| node.to_owned())
}
