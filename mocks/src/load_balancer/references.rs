//! Which objects need which: nothing may be left that names something missing.

use serde_json::Value;

use super::path::host_and_port;
use super::rewrite::monitors;
use super::schema::{self, Kind, Takes};
use super::tree::{Object, Tree};

/// A name that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    /// What kind of object has the name.
    pub from_title: String,
    /// Which one.
    pub from: String,
    /// Kind of the missing object, perhaps with a star.
    pub family: String,
    /// What is missing.
    pub to: String,
}

impl Dangling {
    /// Name of the missing object's kind in messages.
    pub fn title(&self) -> String {
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

/// The first name that leads nowhere.
pub fn dangling(tree: &Tree) -> Option<Dangling> {
    for (kind, object) in tree.all() {
        let from = || (kind.title.clone(), object.path.text());
        let partition = &object.path.partition;
        if !kind.flat && tree.object("auth/partition", partition).is_none() {
            let (from_title, from) = from();
            return Some(Dangling {
                from_title,
                from,
                family: "folder".to_owned(),
                to: format!("/{partition}"),
            });
        }
        for (family, to) in named(kind, object) {
            if !tree.has(&family, &to) {
                let (from_title, from) = from();
                return Some(Dangling {
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

/// What an object names: kind and full path.
fn named(kind: &Kind, object: &Object) -> Vec<(String, String)> {
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

fn fields(kind: &Kind, object: &Object) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, field) in &kind.fields {
        let Some(value) = object.fields.get(name) else {
            continue;
        };
        match &field.takes {
            Takes::Reference(family) => {
                found.extend(value.as_str().map(|path| (family.clone(), path.to_owned())))
            }
            Takes::References(family) => {
                let paths = value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                found.extend(paths.map(|path| (family.clone(), path.to_owned())));
            }
            Takes::Monitor => {
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
pub fn node_of(member: &Object) -> String {
    let path = member.path.text();
    host_and_port(&path).map_or(path.clone(), |(node, _)| node.to_owned())
}
