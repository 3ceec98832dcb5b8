//! Changes of objects that depend on a changed object.

use serde_json::{Value, json};

use crate::load_balancer::path::{FullPath, host_and_port};
use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::schema::{ObjectKind, kind};
use crate::load_balancer::tree::{Object, Tree};

/// Updates the objects that depend on a changed object.
pub(super) fn update_dependents(
    tree: &mut Tree,
    kind: &'static ObjectKind,
    path: &str,
) -> Result<(), Refusal> {
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

/// Creates and removes virtual addresses with the virtual servers that use them.
pub(super) fn addresses(tree: &mut Tree) {
    let mut desired: Vec<(String, Value)> = Vec::new();
    for server in tree.collection("ltm/virtual") {
        if let Some((address, _)) = host_and_port(server.text("destination")) {
            desired.push((
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
        object.text("autoDelete") == "false" || desired.iter().any(|(desired, _)| desired == path)
    });
    let kind = kind("ltm/virtual-address").expect("virtual addresses are in the table");
    for (path, mask) in desired {
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
