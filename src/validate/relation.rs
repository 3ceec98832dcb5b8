//! The relationship metaparameters of a catalog, and the index of its references.
//!
//! Source: `docs/reference/transaction.md`, sections 1 (*Relationship metaparameters*) and 14.

use foldhash::HashMap;
use switchtender_devices::value::Value;

use crate::catalog::{Catalog, ResourceRef, Segment};

/// A relationship metaparameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelationKind {
    Require,
    Subscribe,
    Before,
    Notify,
}

impl RelationKind {
    /// In the order of Puppet's checks.
    pub(crate) const ALL: [RelationKind; 4] = [
        RelationKind::Require,
        RelationKind::Subscribe,
        RelationKind::Before,
        RelationKind::Notify,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            RelationKind::Require => "require",
            RelationKind::Subscribe => "subscribe",
            RelationKind::Before => "before",
            RelationKind::Notify => "notify",
        }
    }

    /// As a verb between two references.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            RelationKind::Require => "requires",
            RelationKind::Subscribe => "subscribes to",
            RelationKind::Before => "comes before",
            RelationKind::Notify => "notifies",
        }
    }

    /// Whether the other resource comes first.
    pub(crate) fn is_reverse(self) -> bool {
        matches!(self, RelationKind::Require | RelationKind::Subscribe)
    }

    pub(crate) fn has_refresh(self) -> bool {
        matches!(self, RelationKind::Subscribe | RelationKind::Notify)
    }
}

/// A relation that a resource declares.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredRelation {
    /// Index of the resource that has the metaparameter.
    pub(crate) from: usize,
    pub(crate) kind: RelationKind,
    /// The reference as written.
    pub(crate) text: String,
    /// Path inside the metaparameter: the index in a list.
    pub(crate) inside: Vec<Segment>,
    pub(crate) target: RelationTarget,
}

/// The other resource of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RelationTarget {
    Found(usize),
    Missing(ResourceRef),
    /// The text is not a reference.
    Invalid,
}

/// Finds resources by title, namevar value, alias and object.
#[derive(Debug, Default)]
pub(crate) struct ReferenceIndex {
    by_reference: HashMap<ResourceRef, usize>,
    /// The parts of objects, such as the entries of a list, under the name of the object.
    parts: HashMap<ResourceRef, Vec<usize>>,
}

impl ReferenceIndex {
    /// Indexes all titles first: they take precedence over other names.
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let mut names = Self::default();
        for (index, resource) in catalog.resources.iter().enumerate() {
            names.add(resource.reference.clone(), index);
        }
        for (index, resource) in catalog.resources.iter().enumerate() {
            for parameter in ["alias", "name"] {
                if let Some(value) = resource.parameters.get(parameter) {
                    for name in strings(value) {
                        let reference = ResourceRef::new(resource.reference.type_name(), name);
                        names.add(reference, index);
                    }
                }
            }
        }
        names
    }

    /// Adds another name of a resource, unless another resource has it.
    pub(crate) fn add(&mut self, reference: ResourceRef, index: usize) {
        self.by_reference.entry(reference).or_insert(index);
    }

    /// Adds a part of an object.
    pub(crate) fn add_part(&mut self, object: ResourceRef, index: usize) {
        self.parts.entry(object).or_default().push(index);
    }

    /// The resources of an object: the one with its name, or its parts.
    pub(crate) fn of_object(&self, object: &ResourceRef) -> Vec<usize> {
        match self.parts.get(object) {
            Some(parts) => parts.clone(),
            None => self.find(object).into_iter().collect(),
        }
    }

    pub(crate) fn find(&self, reference: &ResourceRef) -> Option<usize> {
        self.by_reference.get(reference).copied()
    }

    /// The titles of a type, for suggestions.
    pub(crate) fn titles_of<'a>(&'a self, type_name: &'a str) -> impl Iterator<Item = &'a str> {
        self.by_reference
            .keys()
            .filter(move |reference| reference.type_name() == type_name)
            .map(ResourceRef::title)
    }
}

/// The strings of a string or list.
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::List(items) => items.iter().flat_map(strings).collect(),
        other => other.as_str().into_iter().collect(),
    }
}

/// All declared relations, in the order of the catalog.
pub(crate) fn relations(catalog: &Catalog, names: &ReferenceIndex) -> Vec<DeclaredRelation> {
    let mut found = Vec::new();
    for (from, resource) in catalog.resources.iter().enumerate() {
        for kind in RelationKind::ALL {
            let Some(value) = resource.parameters.get(kind.name()) else {
                continue;
            };
            let mut add = |value: &Value, inside: Vec<Segment>| {
                let text = match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => value.inspect(),
                };
                let target = match ResourceRef::parse(&text) {
                    Err(_) => RelationTarget::Invalid,
                    Ok(reference) => match names.find(&reference) {
                        Some(index) => RelationTarget::Found(index),
                        None => RelationTarget::Missing(reference),
                    },
                };
                found.push(DeclaredRelation {
                    from,
                    kind,
                    text,
                    inside,
                    target,
                });
            };
            match value {
                Value::List(items) => {
                    for (index, item) in items.iter().enumerate() {
                        add(item, vec![index.into()]);
                    }
                }
                Value::Undef => {}
                one => add(one, Vec::new()),
            }
        }
    }
    found
}
