//! The names under which resources are found (`docs/reference/transaction.md`, section 14): references,
//! explicit aliases, and the values of namevars in place of the title.

use switchtender_devices::map::{IndexMap, with_room};

use super::resource_ref::{ReferenceText, ResourceRef};

/// Resources by name, as their places in the catalog.
#[derive(Clone, Debug, Default)]
pub struct ResourceIndex(IndexMap<ResourceRef, usize>);

impl ResourceIndex {
    pub fn with_capacity(count: usize) -> Self {
        Self(with_room(count))
    }

    /// Whether a resource has its reference for a name.
    pub fn has(&self, reference: &ResourceRef, place: usize) -> bool {
        // Without aliases references stand in the order of the resources.
        let found = self.0.get_index(place);
        found.is_some_and(|(name, at)| *at == place && name.is_same(reference))
            || self.get(reference) == Some(place)
    }

    pub fn get(&self, reference: &ResourceRef) -> Option<usize> {
        self.0.get(reference).copied()
    }

    /// The resource that a text refers to.
    pub fn find(&self, text: &str) -> Option<usize> {
        match ReferenceText::of(text) {
            Some(written) => self.0.get(&written).copied(),
            None => self.get(&ResourceRef::parse(text).ok()?),
        }
    }

    /// Gives a resource a name, which no other has from then on.
    pub fn insert(&mut self, name: ResourceRef, place: usize) {
        self.0.insert(name, place);
    }

    /// Gives a resource a name that no other has.
    ///
    /// # Errors
    /// With the resource that has it.
    pub fn claim(&mut self, name: ResourceRef, place: usize) -> Result<(), usize> {
        match *self.0.entry(name).or_insert(place) {
            known if known == place => Ok(()),
            other => Err(other),
        }
    }
}
