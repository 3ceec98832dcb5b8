//! A resource with its type, attributes and relationships.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;
use switchtender_devices::change::Desired;
use switchtender_devices::diagnostic::ManifestPosition;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::{AttributeModel, RunsOn, TypeModel};
use switchtender_devices::value::{Attributes, Name, Value};

use super::resource_ref::ResourceRef;
use super::types::{ResourceType, ValueStyle};

/// Index of a node in [`super::Resources`], in the order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The tags of a resource, shared with its messages and events.
pub(crate) type Tags = Arc<[Arc<str>]>;

/// An entry of the catalog: a resource or a container.
#[derive(Clone, Debug)]
pub(crate) struct CatalogNode {
    pub(crate) reference: ResourceRef,
    pub(crate) position: Option<ManifestPosition>,
    /// All tags, in lower case.
    pub(crate) tags: Tags,
    meta: Option<Box<Metaparameters>>,
    /// In the order of [`Relation::ALL`], then as declared. The targets exist.
    pub(crate) relations: SmallVec<[(Relation, NodeId); 2]>,
    /// `None` for stages, classes and instances of defined types.
    pub(crate) resource: Option<Arc<Resource>>,
    pub(crate) container: Option<NodeId>,
    /// A default resource, not from the catalog.
    pub(crate) is_default: bool,
    /// Declared and not realized: skipped.
    pub(crate) is_virtual: bool,
    /// Why the resource fails when it is evaluated, found before the run.
    pub(crate) refusal: Option<Arc<str>>,
    /// References from the outermost container to the node. A class has only its title.
    pub(crate) path: Arc<[Arc<str>]>,
    /// Messages name the node without its containers.
    pub(crate) cut_path: bool,
}

impl CatalogNode {
    /// A node without container, tags and path.
    pub(super) fn new(reference: ResourceRef, position: Option<ManifestPosition>) -> Self {
        Self {
            reference,
            position,
            tags: Tags::default(),
            meta: None,
            relations: SmallVec::new(),
            resource: None,
            container: None,
            is_default: false,
            is_virtual: false,
            refusal: None,
            path: Arc::default(),
            cut_path: false,
        }
    }

    /// Removes `noop => false`.
    pub(super) fn enforce_noop(&mut self) {
        if let Some(meta) = &mut self.meta
            && meta.noop == Some(false)
        {
            meta.noop = None;
        }
    }

    pub(super) fn with_meta(self, meta: Metaparameters) -> Self {
        let meta = (meta != Metaparameters::NONE).then(|| Box::new(meta));
        Self { meta, ..self }
    }

    /// The metaparameters except relationships.
    pub(crate) fn meta(&self) -> &Metaparameters {
        static NONE: Metaparameters = Metaparameters::NONE;
        self.meta.as_deref().unwrap_or(&NONE)
    }

    /// The source of messages about the node: its path, or the part that Puppet uses.
    pub(crate) fn source(&self) -> String {
        if self.cut_path {
            format!("/{}", self.reference)
        } else {
            self.full_path()
        }
    }

    /// `/Stage[main]/Main/Dev_vlan[10]`.
    pub(crate) fn full_path(&self) -> String {
        let length = self.path.iter().map(|step| step.len() + 1).sum();
        let mut text = String::with_capacity(length);
        for step in self.path.iter() {
            text.push('/');
            text.push_str(step);
        }
        text
    }
}

/// Metaparameters of resources and containers. Most nodes have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Metaparameters {
    pub(crate) noop: Option<bool>,
    pub(crate) schedule: Option<String>,
    pub(crate) level: Option<super::Level>,
    /// The attributes to audit, in the order of declaration.
    pub(crate) audit: Vec<Name>,
    pub(crate) aliases: Vec<String>,
    pub(crate) tags: Vec<String>,
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
pub(crate) enum Relation {
    Require,
    Subscribe,
    Before,
    Notify,
}

impl Relation {
    pub(crate) const ALL: [Relation; 4] = [
        Relation::Require,
        Relation::Subscribe,
        Relation::Before,
        Relation::Notify,
    ];

    /// The name of the metaparameter.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Relation::Require => "require",
            Relation::Subscribe => "subscribe",
            Relation::Before => "before",
            Relation::Notify => "notify",
        }
    }

    /// Whether the other resource comes first.
    pub(crate) fn is_inward(self) -> bool {
        matches!(self, Relation::Require | Relation::Subscribe)
    }

    /// Whether it delivers events.
    pub(crate) fn refreshes(self) -> bool {
        matches!(self, Relation::Subscribe | Relation::Notify)
    }
}

/// A typed resource and its desired state.
#[derive(Clone, Debug)]
pub struct Resource {
    pub(crate) ty: ResourceType,
    held: ResourceValues,
    /// The value of the namevar, or the values of several namevars in the order of their names.
    /// Empty if the title is the only name.
    pub(crate) names: Vec<String>,
    /// Generated by a purging resource.
    pub(crate) purged: bool,
    /// The reference in the catalog, for [`Desired`].
    pub(crate) reference: ResourceRef,
}

/// The attribute values of a resource.
#[derive(Clone, Debug)]
enum ResourceValues {
    /// Shared with providers. In the order of definition.
    Canonical {
        desired: Arc<Desired>,
        /// Properties without a value.
        audited: Vec<Name>,
    },
    /// Values of Puppet's own types.
    Assigned(Box<Assigned>),
}

#[derive(Clone, Debug, Default)]
struct Assigned {
    /// Namevars and parameters with a value.
    parameters: Attributes,
    /// Properties that are declared, defaulted or audited.
    properties: IndexMap<Name, AssignedProperty>,
}

/// The desired values of a property. `None` if it is only audited.
#[derive(Clone, Debug, Default)]
struct AssignedProperty {
    desired: Option<Vec<Value>>,
    sensitive: bool,
}

/// A property of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Property<'a> {
    /// The desired values. `None` if the property is only audited. Canonical types and Resource API
    /// types have exactly one.
    pub(crate) desired: Option<&'a [Value]>,
    pub(crate) sensitive: bool,
}

impl<'a> Property<'a> {
    const AUDITED: Property<'static> = Property {
        desired: None,
        sensitive: false,
    };

    fn canonical(value: &'a Value) -> Self {
        Self {
            desired: Some(std::slice::from_ref(value)),
            sensitive: matches!(value, Value::Sensitive(_)),
        }
    }

    fn assigned(assigned: &'a AssignedProperty) -> Self {
        Self {
            desired: assigned.desired.as_deref(),
            sensitive: assigned.sensitive,
        }
    }
}

impl Resource {
    /// A resource with canonical values.
    pub(super) fn canonical(
        ty: ResourceType,
        reference: ResourceRef,
        mut attributes: Attributes,
    ) -> Self {
        let mut defined = ty.model.attributes.keys();
        if !attributes.keys().all(|name| defined.any(|key| key == name)) {
            let position = |name: &Name| ty.model.attributes.get_index_of(name.as_str());
            attributes.sort_by_key(|name| position(name).unwrap_or(usize::MAX));
        }
        let desired = Desired {
            reference: reference.shared(),
            model: Arc::clone(&ty.model),
            attributes,
        };
        let held = ResourceValues::Canonical {
            desired: Arc::new(desired),
            audited: Vec::new(),
        };
        Self::holding(ty, reference, held)
    }

    /// A resource without values. The caller assigns them one by one.
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

    pub(super) fn assign_property(&mut self, name: Name, desired: Vec<Value>, sensitive: bool) {
        let property = AssignedProperty {
            desired: Some(desired),
            sensitive,
        };
        self.assigned().properties.insert(name, property);
    }

    /// Marks the values of a property as sensitive. Returns whether it has any.
    pub(super) fn mark_sensitive(&mut self, name: &str) -> bool {
        self.assigned()
            .properties
            .get_mut(name)
            .filter(|property| property.desired.is_some())
            .map(|property| property.sensitive = true)
            .is_some()
    }

    /// Sorts the assigned properties into the order of definition.
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

    /// Adds an audited property, if it is missing.
    pub(crate) fn audit(&mut self, name: &str) {
        let has_property = self.property(name).is_some();
        match &mut self.held {
            _ if has_property => {}
            ResourceValues::Canonical { audited, .. } => audited.push(name.into()),
            ResourceValues::Assigned(assigned) => {
                let property = AssignedProperty::default();
                assigned.properties.insert(name.into(), property);
                self.sort();
            }
        }
    }

    pub(crate) fn model(&self) -> &Arc<TypeModel> {
        &self.ty.model
    }

    pub(crate) fn runs_on(&self) -> RunsOn {
        self.ty.model.runs_on
    }

    /// The name on the device: the value of the first namevar.
    pub fn name(&self) -> &str {
        let first = self.names.first();
        first.map_or(self.reference.title(), String::as_str)
    }

    /// The value of a namevar or parameter.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        let value = match &self.held {
            ResourceValues::Canonical { .. } if self.is_property(name) => None,
            ResourceValues::Canonical { desired, .. } => desired.attributes.get(name),
            ResourceValues::Assigned(assigned) => assigned.parameters.get(name),
        };
        value.map(Value::unwrap_sensitive)
    }

    pub(crate) fn property(&self, name: &str) -> Option<Property<'_>> {
        match &self.held {
            ResourceValues::Canonical { desired, audited } => match desired.attributes.get(name) {
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

    /// The declared, defaulted or audited properties, in the order of definition.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&Name, Property<'_>)> {
        let (canonical, assigned) = match &self.held {
            ResourceValues::Canonical { desired, audited } => {
                (Some(self.canonical_properties(desired, audited)), None)
            }
            ResourceValues::Assigned(assigned) => {
                let properties = assigned.properties.iter();
                (
                    None,
                    Some(properties.map(|(name, property)| (name, Property::assigned(property)))),
                )
            }
        };
        let assigned = assigned.into_iter().flatten();
        canonical.into_iter().flatten().chain(assigned)
    }

    fn canonical_properties<'a>(
        &'a self,
        desired: &'a Desired,
        audited: &'a [Name],
    ) -> impl Iterator<Item = (&'a Name, Property<'a>)> {
        // Both have the order of definition, so no lookup is necessary.
        let mut values = desired.attributes.iter().peekable();
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

    /// Whether all desired values apply, instead of any of them.
    pub(crate) fn wants_all(&self, property: &str) -> bool {
        self.ty.behavior.values() == ValueStyle::Classic
            && self
                .ty
                .model
                .attributes
                .get(property)
                .is_some_and(|attribute| attribute.array.is_some())
    }

    /// The value to set and to show: of several alternatives the first.
    pub fn desired(&self, property: &str) -> Option<Cow<'_, Value>> {
        self.of_alternatives(property, self.property(property)?.desired?)
    }

    fn of_alternatives<'a>(&self, property: &str, values: &'a [Value]) -> Option<Cow<'a, Value>> {
        if self.wants_all(property) {
            Some(Cow::Owned(Value::List(values.to_vec())))
        } else {
            values.first().map(Cow::Borrowed)
        }
    }

    /// The desired value of a property, or the value of a parameter.
    pub(crate) fn value(&self, attribute: &str) -> Option<Cow<'_, Value>> {
        match self.parameter(attribute) {
            Some(value) => Some(Cow::Borrowed(value)),
            None => self.desired(attribute),
        }
    }

    /// The form for providers, if the resource stores it.
    pub(crate) fn canonical_desired(&self) -> Option<&Arc<Desired>> {
        match &self.held {
            ResourceValues::Canonical { desired, .. } => Some(desired),
            ResourceValues::Assigned(_) => None,
        }
    }

    /// The form for providers. `audited_as_undef` adds properties of Resource API types that are
    /// only audited.
    pub(crate) fn to_desired(&self, audited_as_undef: bool) -> Arc<Desired> {
        let assigned = match &self.held {
            ResourceValues::Canonical { desired, .. } => return Arc::clone(desired),
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
                let value = match (&property.desired, self.ty.behavior.values()) {
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
        Arc::new(Desired {
            reference: self.reference.shared(),
            model: Arc::clone(&self.ty.model),
            attributes,
        })
    }
}
