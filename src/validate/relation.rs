//! The relationship metaparameters of a catalog, and the index of its references.
//!
//! Source: `docs/reference/transaction.md`, sections 1 (*Relationship metaparameters*) and 14.

use foldhash::HashMap;
use switchtender_devices::value::Value;

use crate::catalog::{Catalog, ResourceRef, Segment};

/// A relationship metaparameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    Require,
    Subscribe,
    Before,
    Notify,
}

impl RelationKind {
    /// In the order of Puppet's checks.
    pub const ALL: [RelationKind; 4] = [
        RelationKind::Require,
        RelationKind::Subscribe,
        RelationKind::Before,
        RelationKind::Notify,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RelationKind::Require => "require",
            RelationKind::Subscribe => "subscribe",
            RelationKind::Before => "before",
            RelationKind::Notify => "notify",
        }
    }

    /// As a verb between two references.
    pub fn verb(self) -> &'static str {
        match self {
            RelationKind::Require => "requires",
            RelationKind::Subscribe => "subscribes to",
            RelationKind::Before => "comes before",
            RelationKind::Notify => "notifies",
        }
    }

    /// Whether the other resource comes first.
    pub fn is_reverse(self) -> bool {
        matches!(self, RelationKind::Require | RelationKind::Subscribe)
    }

    pub fn has_refresh(self) -> bool {
        matches!(self, RelationKind::Subscribe | RelationKind::Notify)
    }
}

/// A relation that a resource declares.
#[derive(Clone, Debug)]
pub struct DeclaredRelation {
    /// Index of the resource that has the metaparameter.
    pub from: usize,
    pub kind: RelationKind,
    /// The reference as written.
    pub text: String,
    /// Path inside the metaparameter: the index in a list.
    pub inside: Vec<Segment>,
    pub target: RelationTarget,
}

/// The other resource of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelationTarget {
    Found(usize),
    Missing(ResourceRef),
    /// The text is not a reference.
    Invalid,
}

/// Finds resources by title, namevar value and alias.
#[derive(Debug, Default)]
pub struct ReferenceIndex {
    by_reference: HashMap<ResourceRef, usize>,
}

impl ReferenceIndex {
    /// Indexes all titles first: they take precedence over other names.
    pub fn new(catalog: &Catalog) -> Self {
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
    pub fn add(&mut self, reference: ResourceRef, index: usize) {
        self.by_reference.entry(reference).or_insert(index);
    }

    pub fn find(&self, reference: &ResourceRef) -> Option<usize> {
        self.by_reference.get(reference).copied()
    }

    /// The titles of a type, for suggestions.
    pub fn titles_of<'a>(&'a self, type_name: &'a str) -> impl Iterator<Item = &'a str> {
        self.by_reference
            .keys()
            .filter(move |reference| reference.type_name() == type_name)
            .map(ResourceRef::title)
    }
}

/// The strings of a string or list.
pub fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::List(items) => items.iter().flat_map(strings).collect(),
        other => other.as_str().into_iter().collect(),
    }
}

/// All declared relations, in the order of the catalog.
pub fn relations(catalog: &Catalog, names: &ReferenceIndex) -> Vec<DeclaredRelation> {
    let mut found = Vec::new();
    for (from, resource) in catalog.resources.iter().enumerate() {
        for kind in RelationKind::ALL {
            let Some(value) = resource.parameters.get(kind.name()) else {
                continue;
            };
            let mut add = |value: &Value, inside: Vec<Segment>| {
                let text = match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => format!("{value:?}"),
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
