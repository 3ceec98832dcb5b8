//! The typed resources of a catalog: index, containment and order.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use switchtender_devices::diagnostic::ManifestPosition;
use switchtender_devices::model::TypeModel;
use switchtender_devices::value::{Attributes, Name, Value};

use super::Level;
use super::compiled::{Catalog, CatalogResource, ConfigVersion, manifest_position};
use super::index::ResourceIndex;
use super::load::alias_collision;
use super::metaparameters::Relations;
use super::node::{CatalogNode, Metaparameters, NodeId, Relation};
use super::resource::Resource;
use super::resource_ref::ResourceRef;

/// A catalog that can be applied.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    pub(crate) nodes: Vec<CatalogNode>,
    /// The order of the catalog, with generated resources next to their generators.
    order: Vec<NodeId>,
    contents: HashMap<NodeId, Vec<NodeId>>,
    /// Names of the catalog's resources exist before the resources are added.
    names: ResourceIndex,
    /// Relationships without a target so far.
    unrelated: Vec<(NodeId, Relation, ResourceRef)>,
    /// Types with title patterns.
    patterned: HashMap<String, Arc<TypeModel>>,
    tags: HashSet<Arc<str>>,
    /// Messages from loading, in order.
    pub(crate) messages: Vec<(Level, NodeId, String)>,
    pub(crate) version: Option<ConfigVersion>,
    pub(crate) environment: Option<String>,
    pub(crate) code_id: Option<String>,
    pub(crate) catalog_uuid: Option<String>,
    pub(crate) classes: Vec<String>,
    /// Only relations of the catalog order the resources, not those that types add.
    pub(crate) is_order_fixed: bool,
}

/// Two resources with one name, in Puppet's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Collision {
    pub(crate) message: String,
    pub(crate) duplicate: bool,
}

impl Resources {
    /// Removes `noop => false`: nothing opts out of a noop run.
    pub(crate) fn enforce_noop(&mut self) {
        self.nodes.iter_mut().for_each(CatalogNode::enforce_noop);
    }

    /// No resources, with capacity for some, and the metadata of the catalog.
    pub(super) fn of(catalog: Catalog, count: usize) -> Self {
        Self {
            version: catalog.version,
            environment: catalog.environment,
            code_id: catalog.code_id,
            catalog_uuid: catalog.catalog_uuid,
            classes: catalog.classes,
            nodes: Vec::with_capacity(count),
            order: Vec::with_capacity(count),
            names: catalog.names,
            ..Self::default()
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> &CatalogNode {
        &self.nodes[id.index()]
    }

    /// The resource at a node; `None` for containers.
    pub(crate) fn resource(&self, id: NodeId) -> Option<&Resource> {
        self.nodes[id.index()].resource.as_deref()
    }

    /// Drops a resource after its evaluation, so that the report of a large catalog can use its
    /// memory. Puppet's own types stay: schedules are needed throughout the run.
    pub(crate) fn release(&mut self, id: NodeId) {
        let resource = &mut self.nodes[id.index()].resource;
        resource.take_if(|resource| resource.canonical_desired().is_some());
    }

    /// Every node in the order of the resource list.
    pub(crate) fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// Every node in the order of addition.
    pub(crate) fn added(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(node_id)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn contents(&self, container: NodeId) -> &[NodeId] {
        self.contents.get(&container).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn container_of(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.index()].container
    }

    /// A resource by reference, alias or namevar value.
    pub(crate) fn find(&self, reference: &ResourceRef) -> Option<NodeId> {
        if let Some(found) = self.names.get(reference) {
            return Some(node_id(found));
        }
        // For a type with several namevars, the title is parsed into their values.
        let model = self.patterned.get(reference.type_name())?;
        let names = model.names(reference.title());
        (names.len() > 1).then(|| {
            let key = reference.sibling(&joined(&sorted_names(&names)));
            self.names.get(&key).map(node_id)
        })?
    }

    /// A resource by the lower-case type name and a title, alias or namevar value.
    pub(crate) fn find_by_name(&self, model_name: &str, name: &str) -> Option<NodeId> {
        self.find(&ResourceRef::new(model_name, name))
    }

    /// The resource of a type with these namevar values.
    pub(crate) fn find_instance(&self, model_name: &str, names: &Attributes) -> Option<NodeId> {
        let key = ResourceRef::new(model_name, "").sibling(&joined(&sorted_names(names)));
        self.names.get(&key).map(node_id)
    }

    pub(crate) fn intern_tag(&mut self, tag: &str) -> Arc<str> {
        if let Some(shared) = self.tags.get(tag) {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = tag.into();
        self.tags.insert(Arc::clone(&shared));
        shared
    }

    /// Adds a node to the end of the list and registers its names.
    pub(crate) fn add(&mut self, node: NewNode) -> Result<NodeId, Collision> {
        let id = node_id(self.nodes.len());
        let is_named = self.names.has(&node.reference, id.index());
        if !is_named
            && let Some(holder) = self.names.get(&node.reference)
            && holder < id.index()
        {
            return Err(self.duplicate(&node, node_id(holder)));
        }
        let aliases = self.alias_keys(&node, id)?;
        if !is_named {
            self.names.insert(node.reference.clone(), id.index());
        }
        for key in aliases {
            self.names.insert(key, id.index());
        }
        if let Some(resource) = &node.resource
            && !resource.model().titles.is_empty()
            && !self.patterned.contains_key(node.reference.type_name())
        {
            let type_name = node.reference.type_name().to_owned();
            self.patterned
                .insert(type_name, Arc::clone(resource.model()));
        }
        let mut new = CatalogNode::new(node.reference, node.position).with_meta(node.meta);
        new.tags = node.tags.into();
        new.resource = node.resource.map(Arc::new);
        new.is_virtual = node.is_virtual;
        self.push(new);
        for (relation, other) in node.relations {
            self.relate(id, relation, other);
        }
        Ok(id)
    }

    fn push(&mut self, node: CatalogNode) {
        self.order.push(node_id(self.nodes.len()));
        self.nodes.push(node);
    }

    /// Adds a node for an invalid resource, so that later resources keep their positions.
    pub(super) fn add_refused(&mut self, declared: &CatalogResource) {
        self.push(CatalogNode::new(
            declared.reference.clone(),
            declared.position.clone(),
        ));
    }

    /// Adds a relationship, or stores it until its target exists.
    fn relate(&mut self, id: NodeId, relation: Relation, other: ResourceRef) {
        match self.find(&other) {
            Some(other) => self.nodes[id.index()].relations.push((relation, other)),
            None => self.unrelated.push((id, relation, other)),
        }
    }

    /// Resolves the stored relationships.
    pub(crate) fn relate_all(&mut self) {
        for (id, relation, other) in std::mem::take(&mut self.unrelated) {
            self.relate(id, relation, other);
        }
    }

    /// Makes the resource at this index of the catalog fail when it is evaluated.
    pub(crate) fn refuse(&mut self, index: usize, reason: &str) {
        if let Some(node) = self.nodes.get_mut(index) {
            node.refusal.get_or_insert_with(|| reason.into());
        }
    }

    /// Relationships without a target, in the order of their resources.
    pub(super) fn unrelated(&self) -> &[(NodeId, Relation, ResourceRef)] {
        &self.unrelated
    }

    fn duplicate(&self, node: &NewNode, existing: NodeId) -> Collision {
        let at = manifest_position(self.node(existing).position.as_ref());
        let at = if at.is_empty() {
            at
        } else {
            format!(" at{at}")
        };
        Collision {
            message: format!(
                "Duplicate declaration: {} is already declared{at}; cannot redeclare{}",
                node.reference,
                manifest_position(node.position.as_ref())
            ),
            duplicate: true,
        }
    }

    /// Explicit aliases, then the values of namevars if they differ from the title.
    fn alias_keys(&self, node: &NewNode, id: NodeId) -> Result<Vec<ResourceRef>, Collision> {
        let mut keys = Vec::new();
        let mut claim = |values: &[Value], display: String| {
            let texts: Vec<String> = values.iter().map(Value::ruby_to_s).collect();
            let key = node.reference.sibling(&joined(&texts));
            match self.names.get(&key) {
                Some(existing) if existing < id.index() => Err(Collision {
                    message: alias_collision(
                        &node.reference,
                        &display,
                        values,
                        node.position.as_ref(),
                        self.nodes[existing].position.as_ref(),
                    ),
                    duplicate: false,
                }),
                _ => {
                    keys.push(key);
                    Ok(())
                }
            }
        };
        for alias in &node.meta.aliases {
            if *alias != node.reference.title() {
                let value = Value::string(alias);
                claim(std::slice::from_ref(&value), value.inspect())?;
            }
        }
        // The key of several namevars is the list of their values.
        let own: &[String] = match &node.resource {
            Some(resource) => &resource.names,
            None => node.name.as_slice(),
        };
        if own.len() > 1 || own.iter().any(|name| name != node.reference.title()) {
            let names: Vec<Value> = own.iter().map(Value::string).collect();
            claim(&names, Value::List(names.clone()).inspect())?;
        }
        Ok(keys)
    }

    /// Moves generated resources directly after their generators, in order.
    pub(crate) fn move_after_generators(&mut self, generated: &HashMap<NodeId, Vec<NodeId>>) {
        if generated.is_empty() {
            return;
        }
        let moved: HashSet<NodeId> = generated.values().flatten().copied().collect();
        let count = self.order.len();
        let before = std::mem::replace(&mut self.order, Vec::with_capacity(count));
        for id in before {
            if moved.contains(&id) {
                continue;
            }
            // Generated resources can generate others.
            let mut next = vec![id];
            while let Some(id) = next.pop() {
                self.order.push(id);
                if let Some(children) = generated.get(&id) {
                    next.extend(children.iter().rev());
                }
            }
        }
    }

    pub(crate) fn contain(&mut self, container: NodeId, content: NodeId) {
        self.contents.entry(container).or_default().push(content);
        self.nodes[content.index()]
            .container
            .get_or_insert(container);
    }

    /// Computes the path of every node. The error is a container that contains itself.
    pub(crate) fn build_paths(&mut self) -> Result<(), NodeId> {
        for id in self.added() {
            let mut chain = Vec::new();
            let mut next = Some(id);
            let mut above: Option<Arc<[Arc<str>]>> = None;
            while let Some(at) = next {
                let node = self.node(at);
                if !node.path.is_empty() {
                    above = Some(Arc::clone(&node.path));
                    break;
                }
                if chain.len() > self.nodes.len() {
                    return Err(id);
                }
                chain.push(at);
                next = node.container;
            }
            for at in chain.into_iter().rev() {
                let path = self.path_below(above.as_deref(), at);
                self.nodes[at.index()].path = Arc::clone(&path);
                above = Some(path);
            }
        }
        Ok(())
    }

    pub(crate) fn build_path(&mut self, id: NodeId) {
        let container = self.container_of(id);
        let above = container.map(|container| &*self.node(container).path);
        self.nodes[id.index()].path = self.path_below(above, id);
    }

    fn path_below(&self, above: Option<&[Arc<str>]>, id: NodeId) -> Arc<[Arc<str>]> {
        let reference = &self.node(id).reference;
        let step = if reference.is_class() {
            reference.title().into()
        } else {
            reference.shared()
        };
        let above = above.unwrap_or_default();
        above.iter().cloned().chain([step]).collect()
    }

    /// `classes.txt`: the catalog's classes, one per line.
    pub(crate) fn classes_txt(&self) -> String {
        self.classes
            .iter()
            .map(|class| format!("{class}\n"))
            .collect()
    }

    /// `resources.txt`: lower-case references of resources with a managed property.
    pub(crate) fn resources_txt(&self) -> String {
        self.order
            .iter()
            .filter(|id| {
                self.resource(**id).is_some_and(|resource| {
                    resource
                        .properties()
                        .any(|(_, property)| property.desired.is_some())
                })
            })
            .map(|id| {
                let reference = &self.node(*id).reference;
                format!(
                    "{}[{}]\n",
                    reference.model_name(),
                    reference.title().to_lowercase()
                )
            })
            .collect()
    }
}

/// A node that is not in the catalog yet.
pub(crate) struct NewNode {
    pub(crate) is_virtual: bool,
    pub(crate) reference: ResourceRef,
    pub(crate) position: Option<ManifestPosition>,
    pub(crate) tags: Vec<Arc<str>>,
    pub(crate) meta: Metaparameters,
    pub(crate) relations: Relations,
    pub(crate) resource: Option<Resource>,
    /// The parameter `name` of a container.
    pub(crate) name: Option<String>,
}

pub(crate) fn node_id(index: usize) -> NodeId {
    NodeId(u32::try_from(index).expect("a catalog has fewer than four thousand million resources"))
}

/// The values of namevars, ordered by name.
pub(crate) fn sorted_names(names: &Attributes) -> Vec<String> {
    let mut names: Vec<(&Name, &Value)> = names.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    names
        .into_iter()
        .map(|(_, value)| value.unwrap_sensitive().ruby_to_s())
        .collect()
}

fn joined(values: &[String]) -> String {
    values.join("\0")
}
