//! Objects to which the device still refers, because a resource that should have changed failed.

use switchtender_devices::change::{Change, ChangeKind};
use switchtender_devices::names::TypeName;
use switchtender_devices::provider::{ProviderError, ProviderErrorKind};

use crate::graph::Vertex;

use super::evaluate::Evaluation;
use super::run::Transaction;

impl Transaction<'_> {
    /// Refuses to remove an object while an instance of a type with a failed resource refers to it.
    pub(super) async fn check_bound(
        &mut self,
        evaluation: &Evaluation,
        change: &Change,
    ) -> Result<(), ProviderError> {
        if change.kind != ChangeKind::Remove || self.progress.failures.is_empty() {
            return Ok(());
        }
        let target = evaluation.resource.model();
        let Some(name) = target.object_name(&evaluation.desired.attributes) else {
            return Ok(());
        };
        for failed in self.failed_types() {
            let Some(model) = self.types.find(&failed).map(|found| found.model) else {
                continue;
            };
            let references = model.references();
            let references = references.filter(|reference| reference.target == target.name);
            let references: Vec<_> = references.collect();
            if model.name == target.name || references.is_empty() {
                continue;
            }
            for instance in self.provider.instances(&model).await? {
                let refers = references.iter().find(|reference| {
                    let names = model.referenced_names(reference, &instance.attributes);
                    names.contains(&name)
                });
                if let Some(reference) = refers {
                    let user = model.object_name(&instance.attributes).unwrap_or_default();
                    let message = format!(
                        "cannot remove it: {} {user} has failed, and its `{}` still refers to {name}",
                        model.name, reference.attribute
                    );
                    return Err(ProviderError::new(ProviderErrorKind::Refused, message));
                }
            }
        }
        Ok(())
    }

    /// The types of resources that failed or were skipped for failures.
    fn failed_types(&self) -> Vec<TypeName> {
        let mut types = Vec::new();
        for id in self.graph.ids() {
            let Vertex::Resource(node) = self.graph.vertex(id) else {
                continue;
            };
            let failures = &self.progress.failures;
            if !failures.has(id) && failures.dependencies(id).is_empty() {
                continue;
            }
            let name = TypeName::from(self.resources.node(node).reference.model_name().as_str());
            if !types.contains(&name) {
                types.push(name);
            }
        }
        types
    }
}
