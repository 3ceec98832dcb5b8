//! Resources as providers see them, made once and shared by announcing, prefetching and applying.

use std::sync::Arc;

use switchtender_devices::change::Wanted;

use crate::catalog::resource::{NodeId, Resource};

/// By node: the resource as it is wanted, from its first need until its turn is over; but for those
/// that keep themselves in that form.
#[derive(Default)]
pub(super) struct WantedOnce(Vec<Option<Arc<Wanted>>>);

impl WantedOnce {
    pub fn of(&mut self, node: NodeId, resource: &Resource) -> Arc<Wanted> {
        if let Some(kept) = resource.kept_wanted() {
            return Arc::clone(kept);
        }
        if self.0.len() <= node.index() {
            self.0.resize(node.index() + 1, None);
        }
        let known = self.0[node.index()].get_or_insert_with(|| resource.to_wanted(false));
        Arc::clone(known)
    }

    pub fn forget(&mut self, node: NodeId) {
        if let Some(known) = self.0.get_mut(node.index()) {
            *known = None;
        }
    }
}
