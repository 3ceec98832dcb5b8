//! The lists of a type in a NETCONF configuration: for a mock.

use switchtender_outline::{ElementList, NetconfInterface};

use super::definition::RestDefinition;
use super::element_path::steps;
use crate::model::TypeModel;
use crate::read::field_path::FieldPath;

impl RestDefinition {
    /// Adds the lists of the type to a configuration.
    pub(super) fn add_elements(&self, model: &TypeModel, interface: &mut NetconfInterface) {
        let mut path = Vec::new();
        let mut add = |list: ElementList| {
            if !interface.lists.contains(&list) {
                interface.lists.push(list);
            }
        };
        let object = self.instance.object.to_string();
        for (name, keys) in steps(&object) {
            path.push(local(&name));
            let is_last = steps(&object).len() == path.len();
            if !keys.is_empty() {
                add(ElementList {
                    path: path.clone(),
                    keys: keys.keys().map(|key| local(key)).collect(),
                    required: if is_last { self.required() } else { Vec::new() },
                });
            }
        }
        for (name, field) in self.fields() {
            let attribute = model.attributes.get(name);
            if attribute.is_some_and(|attribute| attribute.array.is_some()) {
                let names = field.path.names().into_iter().map(|name| local(&name));
                let keys = field.each.iter().flat_map(FieldPath::names);
                add(ElementList {
                    path: path.iter().cloned().chain(names).collect(),
                    keys: keys.map(|key| local(&key)).collect(),
                    required: Vec::new(),
                });
            }
        }
    }

    /// The elements that a new one must have.
    fn required(&self) -> Vec<String> {
        let create = self.instance.create.iter();
        let needs = create.flat_map(|create| &create.needs);
        let elements = needs.filter_map(|name| {
            let fields = self.attributes.get(name.as_str())?.location.fields();
            let [field] = fields.as_slice() else {
                return None;
            };
            match field.path.names().as_slice() {
                [name] => Some(local(name)),
                _ => None,
            }
        });
        elements.collect()
    }
}

/// The name of an element without its prefix.
fn local(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).to_owned()
}
