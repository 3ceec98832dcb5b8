//! Warnings of a plan about values that name objects which neither the catalog nor the device has.

use std::collections::{BTreeMap, BTreeSet};

use switchtender_devices::model::Reference;
use switchtender_devices::names::TypeName;

use crate::catalog::node::NodeId;
use crate::catalog::{Level, ResourceRef};
use crate::graph::{ObjectIndex, Vertex, VertexId};

use super::run::Transaction;

/// A name in a value, of an object that the catalog does not create.
pub(super) struct NamedObject {
    vertex: VertexId,
    attribute: String,
    /// The object is of one of these types.
    types: Vec<TypeName>,
    name: String,
    /// Whether the catalog removes it.
    is_removed: bool,
}

impl Transaction<'_> {
    /// The objects that values name and the catalog does not create, each once. Only in a noop run.
    pub(super) fn named_objects(&self) -> Vec<NamedObject> {
        if !self.noop {
            return Vec::new();
        }
        let objects = ObjectIndex::new(&self.resources);
        let mut seen = BTreeSet::new();
        let mut named = Vec::new();
        for id in self.graph.ids() {
            let Vertex::Resource(node) = self.graph.vertex(id) else {
                continue;
            };
            if self.is_deselected(id) || self.is_never_applied(node) {
                continue;
            }
            let resource = self.resources.resource(node);
            let Some(desired) = resource.and_then(|resource| resource.canonical_desired()) else {
                continue;
            };
            let references: Vec<&Reference> = desired.model.references().collect();
            for (number, reference) in references.iter().enumerate() {
                let is_same = |other: &&&Reference| other.is_same_value(reference);
                // A trunk may allow more VLANs than the switch has.
                if desired.is_absent()
                    || reference.is_numbers()
                    || !desired.model.needs_object(reference)
                    || references[..number].iter().any(|other| is_same(&other))
                {
                    continue;
                }
                let types = references.iter().filter(is_same);
                let types: Vec<TypeName> = types.map(|one| one.target.clone()).collect();
                for name in desired
                    .model
                    .referenced_names(reference, &desired.attributes)
                {
                    let declared = types.iter().flat_map(|target| objects.find(target, &name));
                    let declared: Vec<NodeId> = declared.collect();
                    let is_created = |node: &NodeId| self.creates(*node);
                    if declared.iter().any(is_created)
                        || !seen.insert((types.clone(), name.clone()))
                    {
                        continue;
                    }
                    named.push(NamedObject {
                        vertex: id,
                        attribute: reference.attribute.to_string(),
                        types: types.clone(),
                        name,
                        is_removed: declared.iter().any(|node| self.removes(*node)),
                    });
                }
            }
        }
        named
    }

    fn creates(&self, node: NodeId) -> bool {
        self.ensures(node, "present")
    }

    fn removes(&self, node: NodeId) -> bool {
        self.ensures(node, "absent")
    }

    fn ensures(&self, node: NodeId, state: &str) -> bool {
        let resource = self.resources.resource(node);
        let ensure = resource.and_then(|resource| resource.desired("ensure"));
        ensure.is_some_and(|ensure| ensure.as_str() == Some(state))
    }

    /// Warns about those that the device does not have. What cannot be read is not missing.
    pub(super) async fn warn_of_missing_objects(&mut self, named: Vec<NamedObject>) {
        let mut read = BTreeMap::new();
        for object in named {
            let Some(target) = self.missing_type(&object, &mut read).await else {
                continue;
            };
            let problem = if object.is_removed {
                "this run removes"
            } else {
                "neither the desired state nor the device has"
            };
            let attribute = &object.attribute;
            let other = ResourceRef::new(&target, &object.name);
            let message = format!("`{attribute}` refers to {other}, which {problem}");
            self.log_vertex(object.vertex, Level::Warning, message);
        }
    }

    /// The first type of which the device has no such object. `None`: one type has it, or that is unknown.
    async fn missing_type(
        &mut self,
        object: &NamedObject,
        read: &mut BTreeMap<TypeName, Option<BTreeSet<String>>>,
    ) -> Option<TypeName> {
        if object.is_removed {
            return object.types.first().cloned();
        }
        let mut missing = None;
        for target in &object.types {
            let Some(model) = self.types.find(target).map(|found| found.model) else {
                continue;
            };
            // Objects of types without `ensure`, such as ports, are not created by resources.
            if !model.is_ensurable() || self.provider.supports(&model).is_err() {
                continue;
            }
            if model.exists_undeclared(&object.name) {
                return None;
            }
            if !read.contains_key(target) {
                let instances = self.provider.instances(&model).await.ok();
                let names = instances.map(|instances| {
                    let names = instances
                        .iter()
                        .map(|one| model.object_name(&one.attributes));
                    names.flatten().collect()
                });
                read.insert(target.clone(), names);
            }
            match &read[target] {
                Some(names) if names.contains(&object.name) => return None,
                Some(_) => missing = missing.or_else(|| Some(target.clone())),
                None => {}
            }
        }
        missing
    }
}
