//! Resources in the form that providers get, built once for announcing, prefetching and applying.

use std::sync::Arc;

use switchtender_devices::change::Desired;

use crate::catalog::node::NodeId;
use crate::catalog::resource::Resource;

/// Desired resources by node, from the first use until the node is evaluated. Resources that
/// contain this form already have no entry.
#[derive(Default)]
pub(super) struct DesiredCache(Vec<Option<Arc<Desired>>>);

impl DesiredCache {
    pub(crate) fn get(&mut self, node: NodeId, resource: &Resource) -> Arc<Desired> {
        if let Some(desired) = resource.canonical_desired() {
            return Arc::clone(desired);
        }
        if self.0.len() <= node.index() {
            self.0.resize(node.index() + 1, None);
        }
        let entry = self.0[node.index()].get_or_insert_with(|| resource.to_desired(false));
        Arc::clone(entry)
    }

    pub(crate) fn remove(&mut self, node: NodeId) {
        if let Some(entry) = self.0.get_mut(node.index()) {
            *entry = None;
        }
    }
}
