//! A resource with its type: attributes assigned, relations read, names known.

use std::sync::Arc;

use switchtender_devices::change::Wanted;
use switchtender_devices::diagnostic::Place;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::{RunsOn, TypeModel};
use switchtender_devices::value::{Attributes, Value};

use super::resource_ref::ResourceRef;
use super::types::{ResourceType, Values};

/// Index of a node in [`super::Resources`]; handed out in the order in which nodes were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The tags of a resource, shared with everything that is said about it.
pub type Tags = Arc<[Arc<str>]>;

/// An entry of the catalog: a resource, or a container of resources.
#[derive(Clone, Debug)]
pub struct Node {
    pub reference: ResourceRef,
    pub place: Option<Place>,
    /// Lower-case, complete.
    pub tags: Tags,
    pub meta: Metaparameters,
    /// `None` for stages, classes and instances of defined types.
    pub resource: Option<Arc<Resource>>,
    pub(crate) container: Option<NodeId>,
    /// Not from the catalog: every run has it.
    pub is_default: bool,
    /// References from the outermost container to the node; classes by their title alone.
    pub path: Arc<[Arc<str>]>,
    /// Messages name it without its containers.
    pub(crate) cut_path: bool,
}

impl Node {
    /// The source of messages about it: its path, or what Puppet cut of it.
    pub fn source(&self) -> String {
        if self.cut_path {
            format!("/{}", self.reference)
        } else {
            self.whole_path()
        }
    }

    /// `/Stage[main]/Main/Dev_vlan[10]`.
    pub fn whole_path(&self) -> String {
        let length = self.path.iter().map(|step| step.len() + 1).sum();
        let mut text = String::with_capacity(length);
        for step in self.path.iter() {
            text.push('/');
            text.push_str(step);
        }
        text
    }
}

/// What containers can have too, and every resource.
#[derive(Clone, Debug, Default)]
pub struct Metaparameters {
    pub noop: Option<bool>,
    pub schedule: Option<String>,
    pub level: Option<super::Level>,
    /// Attributes to audit, in the order given.
    pub audit: Vec<String>,
    /// In Puppet's order: `require`, `subscribe`, `before`, `notify`.
    pub relations: Vec<(Relation, ResourceRef)>,
    pub aliases: Vec<String>,
    pub tags: Vec<String>,
}

/// The relationship metaparameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    Require,
    Subscribe,
    Before,
    Notify,
}

impl Relation {
    pub const ALL: [(Relation, &'static str); 4] = [
        (Relation::Require, "require"),
        (Relation::Subscribe, "subscribe"),
        (Relation::Before, "before"),
        (Relation::Notify, "notify"),
    ];

    /// Whether the other resource comes first.
    pub fn inward(self) -> bool {
        matches!(self, Relation::Require | Relation::Subscribe)
    }

    /// Whether events are delivered along it.
    pub fn refreshes(self) -> bool {
        matches!(self, Relation::Subscribe | Relation::Notify)
    }
}

/// What a resource wants of its attributes.
#[derive(Clone, Debug)]
pub struct Resource {
    pub ty: ResourceType,
    /// Namevars and parameters that have a value.
    pub(crate) parameters: Attributes,
    /// Properties that are given, defaulted, or only audited, in definition order.
    pub(crate) properties: IndexMap<String, Property>,
    /// The namevar's value; of several, the values in the order of their names.
    pub(crate) names: Vec<String>,
    /// Made by a purging resource.
    pub(crate) purged: bool,
    /// The catalog's own reference and title, for [`Wanted`].
    pub(crate) reference: ResourceRef,
}

/// A property of a resource.
#[derive(Clone, Debug, Default)]
pub struct Property {
    /// Wanted values; `None` when the property is only audited. Types with canonical values and
    /// Resource API types have exactly one.
    pub wanted: Option<Vec<Value>>,
    pub sensitive: bool,
}

impl Resource {
    pub fn model(&self) -> &Arc<TypeModel> {
        &self.ty.model
    }

    pub fn runs_on(&self) -> RunsOn {
        self.ty.model.runs_on
    }

    /// The name on the device: the namevar's value, the first of several.
    pub fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// The value of a namevar or parameter.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.get(name).map(Value::unwrap_sensitive)
    }

    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.get(name)
    }

    /// The properties in definition order.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Property)> {
        self.properties
            .iter()
            .map(|(name, property)| (name.as_str(), property))
    }

    /// Whether all wanted values count, or any of them does.
    pub(crate) fn wants_all(&self, property: &str) -> bool {
        self.ty.behaviour.values() == Values::Classic
            && self
                .ty
                .model
                .attributes
                .get(property)
                .is_some_and(|attribute| attribute.array.is_some())
    }

    /// The value that a property is set to and shown as: of several alternatives the first.
    pub fn wanted(&self, property: &str) -> Option<Value> {
        let values = self.properties.get(property)?.wanted.as_ref()?;
        match self.ty.behaviour.values() {
            Values::Classic if self.wants_all(property) => Some(Value::List(values.clone())),
            _ => values.first().cloned(),
        }
    }

    /// The wanted value of a property, or the value of a parameter.
    pub fn value(&self, attribute: &str) -> Option<Value> {
        match self.parameters.get(attribute) {
            Some(value) => Some(value.unwrap_sensitive().clone()),
            None => self.wanted(attribute),
        }
    }

    /// The resource as providers see it. `audited_as_undef` adds properties that are only audited.
    pub(crate) fn to_wanted(&self, audited_as_undef: bool) -> Wanted {
        let mut attributes = switchtender_devices::map::with_room(self.parameters.len());
        for name in self.ty.model.attributes.keys() {
            if let Some(value) = self.parameters.get(name) {
                attributes.insert(name.clone(), value.clone());
            } else if let Some(property) = self.properties.get(name) {
                let value = match (&property.wanted, self.ty.behaviour.values()) {
                    (Some(_), _) => self.wanted(name),
                    (None, Values::ResourceApi) if audited_as_undef => Some(Value::Undef),
                    (None, _) => None,
                };
                if let Some(value) = value {
                    let value = match value {
                        Value::Sensitive(_) => value,
                        value if property.sensitive => Value::Sensitive(Box::new(value)),
                        value => value,
                    };
                    attributes.insert(name.clone(), value);
                }
            }
        }
        for (name, value) in &self.parameters {
            if !attributes.contains_key(name) {
                attributes.insert(name.clone(), value.clone());
            }
        }
        Wanted {
            reference: self.reference.to_string(),
            title: self.reference.title().to_owned(),
            model: Arc::clone(&self.ty.model),
            attributes,
        }
    }
}
