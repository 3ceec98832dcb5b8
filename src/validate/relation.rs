//! The relationship metaparameters of a catalog, and under which names resources are found.
//!
//! Source: `docs/reference/transaction.md`, sections 1 (*Relationship metaparameters*) and 14.

use foldhash::HashMap;
use switchtender_devices::value::Value;

use crate::catalog::{Catalog, ResourceRef, Segment};

/// The direction of a relation and whether it refreshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    Require,
    Subscribe,
    Before,
    Notify,
}

impl RelationKind {
    /// In the order in which Puppet checks them.
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

    /// Whether the other comes first.
    pub fn is_reverse(self) -> bool {
        matches!(self, RelationKind::Require | RelationKind::Subscribe)
    }

    pub fn has_refresh(self) -> bool {
        matches!(self, RelationKind::Subscribe | RelationKind::Notify)
    }
}

/// What a resource says about another.
#[derive(Clone, Debug)]
pub struct DeclaredRelation {
    /// Index of the resource that has the metaparameter.
    pub from: usize,
    pub kind: RelationKind,
    /// As written.
    pub text: String,
    /// Place inside the metaparameter: the index in a list.
    pub inside: Vec<Segment>,
    pub target: RelationTarget,
}

/// Where a relation leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelationTarget {
    Found(usize),
    Missing(ResourceRef),
    /// The text is no reference.
    Invalid,
}

/// ReferenceIndex of resources: references, namevar values, aliases.
#[derive(Debug, Default)]
pub struct ReferenceIndex {
    by_reference: HashMap<ResourceRef, usize>,
}

impl ReferenceIndex {
    /// Titles of all resources first: they win over other names.
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

    /// Adds another name of a resource, unless it is taken.
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

/// The strings of a value that is one or a list of them.
pub fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::List(items) => items.iter().flat_map(strings).collect(),
        other => other.as_str().into_iter().collect(),
    }
}

/// All relations that resources state, in the order of the catalog.
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
