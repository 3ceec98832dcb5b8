//! A resource with its type: attributes assigned, relations read, names known.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;
use switchtender_devices::change::Wanted;
use switchtender_devices::diagnostic::Place;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::{AttributeModel, RunsOn, TypeModel};
use switchtender_devices::value::{Attributes, Name, Value};

use super::resource_ref::ResourceRef;
use super::types::{ResourceType, ValueStyle};

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
pub struct CatalogNode {
    pub reference: ResourceRef,
    pub place: Option<Place>,
    /// Lower-case, complete.
    pub tags: Tags,
    meta: Option<Box<Metaparameters>>,
    /// In the order of [`Relation::ALL`], then as given. Those of the catalog lead somewhere.
    pub relations: SmallVec<[(Relation, NodeId); 2]>,
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

impl CatalogNode {
    /// A node of no container, without tags and path.
    pub(super) fn new(reference: ResourceRef, place: Option<Place>) -> Self {
        Self {
            reference,
            place,
            tags: Tags::default(),
            meta: None,
            relations: SmallVec::new(),
            resource: None,
            container: None,
            is_default: false,
            path: Arc::default(),
            cut_path: false,
        }
    }

    pub(super) fn with_meta(self, meta: Metaparameters) -> Self {
        let meta = (meta != Metaparameters::NONE).then(|| Box::new(meta));
        Self { meta, ..self }
    }

    /// The metaparameters, but for relationships.
    pub fn meta(&self) -> &Metaparameters {
        static NONE: Metaparameters = Metaparameters::NONE;
        self.meta.as_deref().unwrap_or(&NONE)
    }

    /// The source of messages about it: its path, or what Puppet cut of it.
    pub fn source(&self) -> String {
        if self.cut_path {
            format!("/{}", self.reference)
        } else {
            self.full_path()
        }
    }

    /// `/Stage[main]/Main/Dev_vlan[10]`.
    pub fn full_path(&self) -> String {
        let length = self.path.iter().map(|step| step.len() + 1).sum();
        let mut text = String::with_capacity(length);
        for step in self.path.iter() {
            text.push('/');
            text.push_str(step);
        }
        text
    }
}

/// What containers can have too, and every resource; most have nothing of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metaparameters {
    pub noop: Option<bool>,
    pub schedule: Option<String>,
    pub level: Option<super::Level>,
    /// Attributes to audit, in the order given.
    pub audit: Vec<Name>,
    pub aliases: Vec<String>,
    pub tags: Vec<String>,
}

impl Metaparameters {
    const NONE: Self = Self {
        noop: None,
        schedule: None,
        level: None,
        audit: Vec::new(),
        aliases: Vec::new(),
        tags: Vec::new(),
    };
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
    held: ResourceValues,
    /// The namevar's value; of several, the values in the order of their names. Empty where the
    /// title is the one name.
    pub(crate) names: Vec<String>,
    /// Made by a purging resource.
    pub(crate) purged: bool,
    /// The catalog's own reference and title, for [`Wanted`].
    pub(crate) reference: ResourceRef,
}

/// The values of a resource.
#[derive(Clone, Debug)]
enum ResourceValues {
    /// As providers get them too, so that they are there once. In definition order.
    Canonical {
        wanted: Arc<Wanted>,
        /// Properties that have no value.
        audited: Vec<Name>,
    },
    /// As Puppet's own types keep them. Large catalogs have few of these.
    Assigned(Box<Assigned>),
}

#[derive(Clone, Debug, Default)]
struct Assigned {
    /// Namevars and parameters that have a value.
    parameters: Attributes,
    /// Properties that are given, defaulted, or only audited.
    properties: IndexMap<Name, AssignedProperty>,
}

/// The wanted values of a property, `None` when it is only audited.
#[derive(Clone, Debug, Default)]
struct AssignedProperty {
    wanted: Option<Vec<Value>>,
    sensitive: bool,
}

/// A property of a resource.
#[derive(Clone, Copy, Debug)]
pub struct Property<'a> {
    /// Wanted values; `None` when the property is only audited. Types with canonical values and
    /// Resource API types have exactly one.
    pub wanted: Option<&'a [Value]>,
    pub sensitive: bool,
}

impl<'a> Property<'a> {
    const AUDITED: Property<'static> = Property {
        wanted: None,
        sensitive: false,
    };

    fn canonical(value: &'a Value) -> Self {
        Self {
            wanted: Some(std::slice::from_ref(value)),
            sensitive: matches!(value, Value::Sensitive(_)),
        }
    }

    fn assigned(assigned: &'a AssignedProperty) -> Self {
        Self {
            wanted: assigned.wanted.as_deref(),
            sensitive: assigned.sensitive,
        }
    }
}

impl Resource {
    /// A resource with values that model and platform have brought to their canonical form.
    pub(super) fn canonical(
        ty: ResourceType,
        reference: ResourceRef,
        mut attributes: Attributes,
    ) -> Self {
        let mut defined = ty.model.attributes.keys();
        if !attributes
            .keys()
            .all(|name| defined.any(|known| known == name))
        {
            let position = |name: &Name| ty.model.attributes.get_index_of(name.as_str());
            attributes.sort_by_key(|name| position(name).unwrap_or(usize::MAX));
        }
        let wanted = Wanted {
            reference: reference.shared(),
            model: Arc::clone(&ty.model),
            attributes,
        };
        let held = ResourceValues::Canonical {
            wanted: Arc::new(wanted),
            audited: Vec::new(),
        };
        Self::holding(ty, reference, held)
    }

    /// A resource without values, which are assigned one by one.
    pub(super) fn unassigned(ty: ResourceType, reference: ResourceRef) -> Self {
        Self::holding(ty, reference, ResourceValues::Assigned(Box::default()))
    }

    fn holding(ty: ResourceType, reference: ResourceRef, held: ResourceValues) -> Self {
        Self {
            ty,
            held,
            names: Vec::new(),
            purged: false,
            reference,
        }
    }

    fn assigned(&mut self) -> &mut Assigned {
        match &mut self.held {
            ResourceValues::Assigned(assigned) => assigned,
            ResourceValues::Canonical { .. } => {
                unreachable!("canonical values are there from the start")
            }
        }
    }

    pub(super) fn assign_parameter(&mut self, name: Name, value: Value) {
        self.assigned().parameters.insert(name, value);
    }

    pub(super) fn assign_property(&mut self, name: Name, wanted: Vec<Value>, sensitive: bool) {
        let property = AssignedProperty {
            wanted: Some(wanted),
            sensitive,
        };
        self.assigned().properties.insert(name, property);
    }

    /// Marks the values of a property as sensitive; whether it has any.
    pub(super) fn mark_sensitive(&mut self, name: &str) -> bool {
        let property = self.assigned().properties.get_mut(name);
        let property = property.filter(|property| property.wanted.is_some());
        property.map(|property| property.sensitive = true).is_some()
    }

    /// Puts the properties that were assigned into definition order.
    pub(super) fn sort(&mut self) {
        let model = Arc::clone(&self.ty.model);
        let position = |name: &Name| model.attributes.get_index_of(name.as_str());
        if let ResourceValues::Assigned(assigned) = &mut self.held
            && !assigned.properties.keys().is_sorted_by_key(position)
        {
            let properties = &mut assigned.properties;
            properties.sort_by_cached_key(|name, _| position(name));
        }
    }

    /// Adds a property to be audited, unless it is there.
    pub(crate) fn audit(&mut self, name: &str) {
        let known = self.property(name).is_some();
        match &mut self.held {
            _ if known => {}
            ResourceValues::Canonical { audited, .. } => audited.push(name.into()),
            ResourceValues::Assigned(assigned) => {
                let property = AssignedProperty::default();
                assigned.properties.insert(name.into(), property);
                self.sort();
            }
        }
    }

    pub fn model(&self) -> &Arc<TypeModel> {
        &self.ty.model
    }

    pub fn runs_on(&self) -> RunsOn {
        self.ty.model.runs_on
    }

    /// The name on the device: the namevar's value, the first of several.
    pub fn name(&self) -> &str {
        let first = self.names.first();
        first.map_or(self.reference.title(), String::as_str)
    }

    /// The value of a namevar or parameter.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        let value = match &self.held {
            ResourceValues::Canonical { .. } if self.is_property(name) => None,
            ResourceValues::Canonical { wanted, .. } => wanted.attributes.get(name),
            ResourceValues::Assigned(assigned) => assigned.parameters.get(name),
        };
        value.map(Value::unwrap_sensitive)
    }

    pub fn property(&self, name: &str) -> Option<Property<'_>> {
        match &self.held {
            ResourceValues::Canonical { wanted, audited } => match wanted.attributes.get(name) {
                Some(value) => self.is_property(name).then(|| Property::canonical(value)),
                None => audited
                    .iter()
                    .any(|one| one == name)
                    .then_some(Property::AUDITED),
            },
            ResourceValues::Assigned(assigned) => {
                assigned.properties.get(name).map(Property::assigned)
            }
        }
    }

    fn is_property(&self, name: &str) -> bool {
        let attribute = self.ty.model.attributes.get(name);
        attribute.is_some_and(AttributeModel::is_property)
    }

    /// The properties that are given, defaulted, or only audited, in definition order.
    pub fn properties(&self) -> impl Iterator<Item = (&Name, Property<'_>)> {
        let (canonical, assigned) = match &self.held {
            ResourceValues::Canonical { wanted, audited } => {
                (Some(self.canonical_properties(wanted, audited)), None)
            }
            ResourceValues::Assigned(assigned) => {
                let properties = assigned.properties.iter();
                let properties =
                    properties.map(|(name, property)| (name, Property::assigned(property)));
                (None, Some(properties))
            }
        };
        let canonical = canonical.into_iter().flatten();
        canonical.chain(assigned.into_iter().flatten())
    }

    fn canonical_properties<'a>(
        &'a self,
        wanted: &'a Wanted,
        audited: &'a [Name],
    ) -> impl Iterator<Item = (&'a Name, Property<'a>)> {
        // Both are in definition order, so that nothing needs to be looked up.
        let mut values = wanted.attributes.iter().peekable();
        self.ty
            .model
            .attributes
            .values()
            .filter_map(move |attribute| {
                let value = values.next_if(|(name, _)| **name == attribute.name);
                let property = match value {
                    _ if !attribute.is_property() => None,
                    Some((_, value)) => Some(Property::canonical(value)),
                    None => audited
                        .contains(&attribute.name)
                        .then_some(Property::AUDITED),
                };
                property.map(|property| (&attribute.name, property))
            })
    }

    /// Whether all wanted values count, or any of them does.
    pub(crate) fn wants_all(&self, property: &str) -> bool {
        self.ty.behavior.values() == ValueStyle::Classic
            && self
                .ty
                .model
                .attributes
                .get(property)
                .is_some_and(|attribute| attribute.array.is_some())
    }

    /// The value that a property is set to and shown as: of several alternatives the first.
    pub fn wanted(&self, property: &str) -> Option<Cow<'_, Value>> {
        self.of_alternatives(property, self.property(property)?.wanted?)
    }

    fn of_alternatives<'a>(&self, property: &str, values: &'a [Value]) -> Option<Cow<'a, Value>> {
        if self.wants_all(property) {
            Some(Cow::Owned(Value::List(values.to_vec())))
        } else {
            values.first().map(Cow::Borrowed)
        }
    }

    /// The wanted value of a property, or the value of a parameter.
    pub fn value(&self, attribute: &str) -> Option<Cow<'_, Value>> {
        match self.parameter(attribute) {
            Some(value) => Some(Cow::Borrowed(value)),
            None => self.wanted(attribute),
        }
    }

    /// The resource as providers see it, where it is kept in that form.
    pub(crate) fn canonical_wanted(&self) -> Option<&Arc<Wanted>> {
        match &self.held {
            ResourceValues::Canonical { wanted, .. } => Some(wanted),
            ResourceValues::Assigned(_) => None,
        }
    }

    /// The resource as providers see it. `audited_as_undef` adds properties of Resource API types
    /// that are only audited.
    pub(crate) fn to_wanted(&self, audited_as_undef: bool) -> Arc<Wanted> {
        let assigned = match &self.held {
            ResourceValues::Canonical { wanted, .. } => return Arc::clone(wanted),
            ResourceValues::Assigned(assigned) => assigned,
        };
        let Assigned {
            parameters,
            properties,
        } = &**assigned;
        let mut attributes = Attributes::default();
        for name in self.ty.model.attributes.keys() {
            if let Some(value) = parameters.get(name) {
                attributes.insert(name.clone(), value.clone());
            } else if let Some(property) = properties.get(name.as_str()) {
                let value = match (&property.wanted, self.ty.behavior.values()) {
                    (Some(values), _) => self.of_alternatives(name, values).map(Cow::into_owned),
                    (None, ValueStyle::ResourceApi) if audited_as_undef => Some(Value::Undef),
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
        for (name, value) in parameters {
            if !attributes.contains_key(name) {
                attributes.insert(name.clone(), value.clone());
            }
        }
        Arc::new(Wanted {
            reference: self.reference.shared(),
            model: Arc::clone(&self.ty.model),
            attributes,
        })
    }
}
