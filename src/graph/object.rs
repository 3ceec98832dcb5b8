//! Objects of the device that resources are or are parts of, by the name that values use.

use std::collections::HashMap;

use switchtender_devices::names::TypeName;

use crate::catalog::Resources;
use crate::catalog::node::NodeId;

/// Finds the resources of an object: the one with its name, or all of its entries.
pub(crate) struct ObjectIndex<'a> {
    resources: &'a Resources,
    /// For types whose instances are parts of objects, by type and name.
    parts: HashMap<(&'a str, String), Vec<NodeId>>,
}

impl<'a> ObjectIndex<'a> {
    pub(crate) fn new(resources: &'a Resources) -> Self {
        let mut parts: HashMap<_, Vec<NodeId>> = HashMap::new();
        for id in resources.order() {
            let Some(resource) = resources.resource(*id) else {
                continue;
            };
            let model = &**resource.model();
            if model.object.is_some()
                && let Some(desired) = resource.canonical_desired()
                && let Some(name) = model.object_name(&desired.attributes)
            {
                let parts: &mut Vec<NodeId> = parts.entry((model.name.as_str(), name)).or_default();
                parts.push(*id);
            }
        }
        Self { resources, parts }
    }

    /// The resources of an object of a type, in the order of the catalog.
    pub(crate) fn find(&self, target: &TypeName, name: &str) -> Vec<NodeId> {
        match self.parts.get(&(target.as_str(), name.to_owned())) {
            Some(parts) => parts.clone(),
            None => self
                .resources
                .find_by_name(target, name)
                .into_iter()
                .collect(),
        }
    }
}
