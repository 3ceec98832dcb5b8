//! The index of resources by name (`docs/reference/transaction.md`, section 14): references, aliases, and
//! values of namevars.

use switchtender_devices::map::{IndexMap, with_room};

use super::resource_ref::{ReferenceText, ResourceRef};

/// Positions of resources in the catalog by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResourceIndex(IndexMap<ResourceRef, usize>);

impl ResourceIndex {
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(with_room(count))
    }

    /// Whether the resource at a position has this reference.
    pub(crate) fn has(&self, reference: &ResourceRef, index: usize) -> bool {
        // Without aliases, references have the order of the resources.
        let found = self.0.get_index(index);
        found.is_some_and(|(name, at)| *at == index && name.is_same(reference))
            || self.get(reference) == Some(index)
    }

    pub(crate) fn get(&self, reference: &ResourceRef) -> Option<usize> {
        self.0.get(reference).copied()
    }

    /// The resource with the reference in a text.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        match ReferenceText::of(text) {
            Some(written) => self.0.get(&written).copied(),
            None => self.get(&ResourceRef::parse(text).ok()?),
        }
    }

    /// Adds a name of a resource. It replaces an earlier resource of that name.
    pub(crate) fn insert(&mut self, name: ResourceRef, index: usize) {
        self.0.insert(name, index);
    }

    /// Adds a name of a resource.
    ///
    /// # Errors
    /// Returns the resource that already has the name.
    pub(crate) fn claim(&mut self, name: ResourceRef, index: usize) -> Result<(), usize> {
        match *self.0.entry(name).or_insert(index) {
            owner if owner == index => Ok(()),
            owner => Err(owner),
        }
    }
}
