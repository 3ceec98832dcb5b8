//! Reads all instances of a type before its first resource (`docs/reference/transaction.md`, section 8).

use std::sync::Arc;

use switchtender_devices::change::Desired;

use crate::catalog::Level;
use crate::catalog::node::NodeId;
use crate::compat::Deviation;
use crate::graph::VertexId;

use super::run::Transaction;

impl Transaction<'_> {
    /// Prefetches the type of a resource, once.
    pub(super) async fn prefetch_if_needed(&mut self, id: VertexId, node: NodeId) {
        let Some(resource) = self.resources.resource(node) else {
            return;
        };
        let model = Arc::clone(resource.model());
        if self.progress.disconnected.is_some()
            || self.progress.prefetched.contains_key(&model.name)
            || resource.ty.behavior.is_providerless()
            || !self.provider.supports_prefetch(&model)
        {
            return;
        }
        // Reading for skipped resources costs time on the device.
        if (self.is_never_applied(node) || self.is_deselected(id))
            && self.deviations.has(Deviation::PrefetchOnlyApplied)
        {
            return;
        }
        let desired: Vec<Arc<Desired>> = self
            .resources
            .added()
            .filter_map(|id| Some((id, self.resources.resource(id)?)))
            .filter(|(_, resource)| resource.model().name == model.name)
            .map(|(id, resource)| self.progress.desired.get(id, resource))
            .collect();
        let desired: Vec<&Desired> = desired.iter().map(Arc::as_ref).collect();
        let result = self.provider.prefetch(&model, &desired).await;
        if let Err(error) = &result {
            let message = format!(
                "Could not prefetch {} provider '{}': {error}",
                model.name,
                self.provider.name()
            );
            self.log(Level::Err, message);
        }
        self.progress
            .prefetched
            .insert(model.name.clone(), result.is_ok());
    }
}
