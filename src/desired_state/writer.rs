//! Writes desired state as compact YAML: the inverse of reading a file and expanding it.
//!
//! Titles that differ in numbers and have equal attributes are a range, the types of a view stand below one title,
//! and what fits is in one line. The writer only forms: what a file has to say is decided before.

mod layout;
mod scalar;
mod title_ranges;

use std::sync::Arc;

use switchtender_devices::map::IndexMap;
use switchtender_devices::model::TypeModel;
use switchtender_devices::model::view::USE;
use switchtender_devices::names::TypeName;
use switchtender_devices::value::{Name, Value};

use super::declared::{
    DeclaredAttributes, DeclaredCompletion, DeclaredFile, DeclaredValue, ProfileBody,
};
use super::template::literal;
use crate::catalog::rich_data;
use layout::{LayoutNode, write_entry};
use title_ranges::TitledBody;

/// The longest line of an entry with several attributes.
pub(super) const WIDTH: usize = 100;

/// Writes files of desired state for devices that have certain types.
pub(crate) struct StateWriter {
    /// Types with a place in a view, and types whose instances are parts of a list.
    models: IndexMap<TypeName, Arc<TypeModel>>,
}

/// The types of a view: the flat one, then those of sections by key.
struct WrittenView<'a> {
    name: &'a str,
    flat: &'a TypeName,
    sections: Vec<(&'a str, &'a TypeName)>,
}

impl StateWriter {
    /// `models`: the types of the devices. Types of a view must be those of one platform.
    pub(crate) fn new<'a>(models: impl IntoIterator<Item = &'a Arc<TypeModel>>) -> Self {
        let models = models.into_iter();
        let is_special =
            |model: &&Arc<TypeModel>| model.location.is_some() || model.object.is_some();
        let special = models.filter(is_special);
        Self {
            models: special
                .map(|model| (model.name.clone(), Arc::clone(model)))
                .collect(),
        }
    }

    /// The text of a file. It ends with a line end.
    pub(crate) fn text(&self, file: &DeclaredFile) -> String {
        let mut text = String::new();
        for (key, node) in own_keys(file) {
            write_entry(&mut text, 0, &scalar::key(key), &node, WIDTH);
        }
        let views = self.views();
        self.write_profiles(&mut text, file, &views);
        for type_name in self.types_in_order(file) {
            let view = views.iter().find(|view| view.flat == type_name);
            if let Some(view) = view {
                self.write_view(&mut text, file, view);
            }
            self.write_type(&mut text, file, type_name, &views);
        }
        text
    }

    fn views(&self) -> Vec<WrittenView<'_>> {
        let mut views = Vec::new();
        for flat in self.models.values() {
            let Some(location) = flat
                .location
                .as_ref()
                .filter(|location| location.section.is_none())
            else {
                continue;
            };
            let sections = self.models.values().filter_map(|model| {
                let own = model
                    .location
                    .as_ref()
                    .filter(|own| own.view == location.view)?;
                Some((own.section.as_ref()?.as_str(), &model.name))
            });
            views.push(WrittenView {
                name: &location.view,
                flat: &flat.name,
                sections: sections.collect(),
            });
        }
        views
    }

    /// The types that the file names, in its order.
    fn types_in_order<'f>(&self, file: &'f DeclaredFile) -> Vec<&'f TypeName> {
        let mut types: Vec<&TypeName> = file.state.types.keys().collect();
        for type_name in file.removed.keys() {
            if !types.contains(&type_name) {
                types.push(type_name);
            }
        }
        types
    }

    /// The longest line of a resource: an entry of a list is always in one.
    fn width(&self, type_name: &str) -> usize {
        /// Longer entries have very long texts.
        const ENTRY: usize = 400;
        let is_entry = |model: &Arc<TypeModel>| model.object.is_some();
        if self.models.get(type_name).is_some_and(is_entry) {
            ENTRY
        } else {
            WIDTH
        }
    }

    fn write_view(&self, text: &mut String, file: &DeclaredFile, view: &WrittenView<'_>) {
        self.write_resources(text, view.name, view_bodies(file, view));
    }

    fn write_type(
        &self,
        text: &mut String,
        file: &DeclaredFile,
        type_name: &TypeName,
        views: &[WrittenView<'_>],
    ) {
        self.write_resources(text, type_name, type_bodies(file, type_name, views));
    }

    fn write_resources(&self, text: &mut String, key: &str, bodies: Vec<TitledBody>) {
        if bodies.is_empty() {
            return;
        }
        text.push_str(&scalar::key(key));
        text.push_str(":\n");
        for TitledBody { title, node } in title_ranges::joined(bodies) {
            write_entry(text, 2, &title, &node, self.width(key));
        }
    }

    fn write_profiles(&self, text: &mut String, file: &DeclaredFile, views: &[WrittenView<'_>]) {
        let groups = file
            .profiles
            .iter()
            .filter(|(_, profiles)| !profiles.is_empty());
        for (number, (group, profiles)) in groups.enumerate() {
            if number == 0 {
                text.push_str("profiles:\n");
            }
            text.push_str(&format!("  {}:\n", scalar::key(group)));
            let view = views.iter().find(|view| view.name == group.as_str());
            for (name, body) in profiles {
                let node = profile_node(body, view);
                write_entry(text, 4, &scalar::key(name), &node, WIDTH);
            }
        }
    }
}

/// The keys of a file that are no resources.
fn own_keys(file: &DeclaredFile) -> Vec<(&'static str, LayoutNode)> {
    let mut keys = Vec::new();
    if let Some(complete) = &file.complete {
        keys.push(("complete", completion_node(complete)));
    }
    let texts = |items: Vec<&str>| LayoutNode::List(items.into_iter().map(text_node).collect());
    if !file.unmanaged.is_empty() {
        let items = file.unmanaged.iter().map(String::as_str);
        keys.push(("unmanaged", texts(items.collect())));
    }
    if !file.purge.is_empty() {
        let items = file.purge.iter().map(TypeName::as_str);
        keys.push(("purge", texts(items.collect())));
    }
    keys
}

fn completion_node(complete: &DeclaredCompletion) -> LayoutNode {
    let types = complete.types.iter();
    let types = LayoutNode::List(types.map(|name| text_node(name)).collect());
    match &complete.version {
        None => types,
        Some(version) => LayoutNode::Map(vec![
            (scalar::key("version"), text_node(version)),
            (scalar::key("types"), types),
        ]),
    }
}

/// The resources of a view: titles of the flat type, with those of sections.
fn view_bodies(file: &DeclaredFile, view: &WrittenView<'_>) -> Vec<TitledBody> {
    let flat = file.state.types.get(view.flat);
    let mut bodies = Vec::new();
    for (title, attributes) in flat.into_iter().flatten() {
        let uses = file.uses.get(view.name).and_then(|uses| uses.get(title));
        let mut entries = resource_entries(uses, attributes);
        for (section, type_name) in &view.sections {
            let key = scalar::key(section);
            let own = file.state.types.get(*type_name);
            let removed = file.removed.get(*type_name);
            if let Some(attributes) = own.and_then(|resources| resources.get(title)) {
                let uses = file.uses.get(type_name.as_str());
                let uses = uses.and_then(|uses| uses.get(title));
                let node = LayoutNode::Map(resource_entries(uses, attributes));
                entries.push((key, node));
            } else if removed.is_some_and(|titles| titles.contains(title)) {
                entries.push((key, LayoutNode::null()));
            }
        }
        let node = LayoutNode::Map(entries);
        bodies.push(TitledBody {
            title: title.clone(),
            node,
        });
    }
    let removed = file.removed.get(view.flat).into_iter().flatten();
    bodies.extend(removed.map(|title| TitledBody::removed(title)));
    bodies
}

/// The resources of a type that no view has.
fn type_bodies(file: &DeclaredFile, type_name: &str, views: &[WrittenView<'_>]) -> Vec<TitledBody> {
    if views.iter().any(|view| *view.flat == *type_name) {
        return Vec::new();
    }
    let is_section =
        |view: &&WrittenView<'_>| view.sections.iter().any(|(_, name)| **name == *type_name);
    let flat = views.iter().find(is_section).map(|view| view.flat);
    let is_in_view = |title: &str| {
        let flat = flat.and_then(|flat| file.state.types.get(flat));
        flat.is_some_and(|resources| resources.contains_key(title))
    };
    let is_removed_with_view = |title: &str| {
        let removed = flat.and_then(|flat| file.removed.get(flat));
        removed.is_some_and(|titles| titles.contains(title))
    };
    let mut bodies = Vec::new();
    let resources = file.state.types.get(type_name).into_iter().flatten();
    for (title, attributes) in resources.filter(|(title, _)| !is_in_view(title)) {
        let uses = file.uses.get(type_name).and_then(|uses| uses.get(title));
        let node = LayoutNode::Map(resource_entries(uses, attributes));
        bodies.push(TitledBody {
            title: title.clone(),
            node,
        });
    }
    let removed = file.removed.get(type_name).into_iter().flatten();
    let own = removed.filter(|title| !is_in_view(title) && !is_removed_with_view(title));
    bodies.extend(own.map(|title| TitledBody::removed(title)));
    bodies
}

fn profile_node(body: &ProfileBody, view: Option<&WrittenView<'_>>) -> LayoutNode {
    let mut entries = Vec::new();
    for (type_name, attributes) in body {
        let sections = view
            .map(|view| view.sections.as_slice())
            .unwrap_or_default();
        let section = sections.iter().find(|(_, name)| *name == type_name);
        let own = resource_entries(None, attributes);
        match section {
            Some((section, _)) => entries.push((scalar::key(section), LayoutNode::Map(own))),
            // The attributes of the flat type come before the sections.
            None => drop(entries.splice(0..0, own)),
        }
    }
    LayoutNode::Map(entries)
}

/// The entries of a resource: its profiles, its description, then the others in their order.
fn resource_entries(
    uses: Option<&Vec<String>>,
    attributes: &DeclaredAttributes,
) -> Vec<(String, LayoutNode)> {
    const FIRST: &str = "description";
    let uses = uses.map(|names| match names.as_slice() {
        [] => LayoutNode::null(),
        [one] => text_node(one),
        several => LayoutNode::List(several.iter().map(|name| text_node(name)).collect()),
    });
    let mut entries: Vec<(String, LayoutNode)> = Vec::new();
    entries.extend(uses.map(|node| (scalar::key(USE), node)));
    let own = |is_first: bool| {
        let attributes = attributes.iter();
        attributes.filter(move |(name, _)| (**name == *FIRST) == is_first)
    };
    let entry = |(name, value): (&Name, &Option<DeclaredValue>)| {
        (scalar::key(name), declared_node(value.as_ref()))
    };
    entries.extend(own(true).chain(own(false)).map(entry));
    entries
}

fn declared_node(value: Option<&DeclaredValue>) -> LayoutNode {
    let source = |kind: &str, name: &str| {
        let source = LayoutNode::Map(vec![(scalar::key(kind), text_node(name))]);
        LayoutNode::Map(vec![(scalar::key("secret"), source)])
    };
    match value {
        None => LayoutNode::null(),
        Some(DeclaredValue::Value(value)) => value_node(value),
        Some(DeclaredValue::Template(text)) => LayoutNode::Text(text.clone()),
        Some(DeclaredValue::SecretVariable(name)) => source("env", name),
        Some(DeclaredValue::SecretFile(path)) => source("file", path),
    }
}

fn value_node(value: &Value) -> LayoutNode {
    match value {
        Value::Sensitive(secret) => value_node(secret),
        Value::Undef => LayoutNode::null(),
        Value::Bool(truth) => LayoutNode::Plain(truth.to_string()),
        Value::Integer(number) => LayoutNode::Plain(number.to_string()),
        Value::Float(number) => LayoutNode::Plain(format!("{number:?}")),
        Value::String(text) | Value::Symbol(text) => text_node(text),
        Value::List(items) => LayoutNode::List(items.iter().map(value_node).collect()),
        Value::Hash(entries) => LayoutNode::Map(
            entries
                .iter()
                .map(|(key, value)| (scalar::key(&key.ruby_to_s()), value_node(value)))
                .collect(),
        ),
        other => match rich_data::write_plain(other).as_str() {
            Some(text) => text_node(text),
            None => text_node(&other.ruby_to_s()),
        },
    }
}

/// A text that is no template.
fn text_node(text: &str) -> LayoutNode {
    LayoutNode::Text(literal(text).into_owned())
}

#[cfg(test)]
pub(crate) mod tests;
