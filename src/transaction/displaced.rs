//! Instances of other resources that a change removes, because the device refuses both.
//!
//! A change may remove only what the catalog removes or changes in the same run.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_devices::change::{Change, Instance};
use switchtender_devices::provider::{ProviderError, ProviderErrorKind};
use switchtender_devices::value::{Attributes, Name};

use crate::catalog::node::NodeId;
use crate::graph::VertexId;

use super::evaluate::{Evaluation, managed_properties};
use super::run::Transaction;
use super::schedule::ScheduleState;

impl Transaction<'_> {
    /// Refuses a change that removes an instance that stays in this run.
    pub(super) async fn check_displaced(
        &mut self,
        evaluation: &Evaluation,
        change: &Change,
    ) -> Result<(), ProviderError> {
        let model = evaluation.resource.model();
        for instance in self.provider.displaced(change) {
            let value = |name| Some((name, instance.attributes.get(name)?.ruby_to_s()));
            let (name, value) = model.namevars().last().and_then(value).unwrap_or_default();
            let reason = match self.owner(evaluation, &instance) {
                None => "; declare it, or remove it".to_owned(),
                Some(owner) => match self.reason_to_stay(evaluation.node, owner).await {
                    None => continue,
                    Some(reason) => {
                        let owner = &self.resources.node(owner).reference;
                        format!(", and {owner} {reason}")
                    }
                },
            };
            return Err(ProviderError::new(
                ProviderErrorKind::Refused,
                format!("cannot change it: {name} {value} has the same text{reason}"),
            ));
        }
        Ok(())
    }

    /// The resource of an instance of the same type.
    fn owner(&self, evaluation: &Evaluation, instance: &Instance) -> Option<NodeId> {
        let model = evaluation.resource.model();
        let names = model.namevars();
        let names: Attributes = names
            .filter_map(|name| Some((Name::from(name), instance.attributes.get(name)?.clone())))
            .collect();
        self.resources.find_instance(&model.name, &names)
    }

    /// The reason why the instance of another resource stays as it is in this run.
    async fn reason_to_stay(&mut self, node: NodeId, other: NodeId) -> Option<&'static str> {
        let noop = |node: NodeId| self.resources.node(node).meta().noop;
        let is_noop = |node: NodeId| noop(node).unwrap_or(self.noop);
        // In a noop run, the result is that of a run without the setting.
        let is_marked = |node: NodeId| noop(node) == Some(true);
        if (is_noop(other) && !is_noop(node)) || (is_marked(other) && !is_marked(node)) {
            return Some("is noop");
        }
        let is_noop = is_noop(node);
        let Some((id, _)) = self.graph.ends(other) else {
            return Some("is skipped");
        };
        if !is_noop && self.failures_prevent(id) {
            return Some("has failed");
        }
        if self.is_deselected(id) || self.is_never_applied(other) || self.is_unscheduled(id, other)
        {
            return Some("is skipped");
        }
        // An evaluated resource has its final state; in a noop run, unless it would change.
        if let Some(status) = self.progress.evaluated.status(other) {
            return (!is_noop || !status.out_of_sync).then_some("keeps it");
        }
        let Some(resource) = self.resources.node(other).resource.clone() else {
            return Some("keeps it");
        };
        let desired = self.desired(other, &resource);
        let properties = managed_properties(&resource);
        let names: Vec<&Name> = properties.iter().map(|(name, _)| *name).collect();
        let Ok(current) = self.retrieve(&resource, &desired, &names).await else {
            return Some("fails");
        };
        let evaluation = Evaluation {
            id,
            node: other,
            resource: Arc::clone(&resource),
            desired,
            current,
            forms: Attributes::default(),
            recorded: BTreeMap::new(),
        };
        let mut differing = names
            .iter()
            .filter_map(|name| self.out_of_sync(&evaluation, name));
        differing.next().is_none().then_some("keeps it")
    }

    fn failures_prevent(&self, id: VertexId) -> bool {
        let failures = &self.progress.failures;
        let has_failed = |id| failures.has(id) || !failures.dependencies(id).is_empty();
        has_failed(id) || self.graph.edges.predecessors(id).any(has_failed)
    }

    fn is_unscheduled(&mut self, id: VertexId, node: NodeId) -> bool {
        let reference = self.resources.node(node).reference.shared();
        let index = self.memory.index_of(&reference);
        let own = std::mem::replace(&mut self.progress.memory_index, index);
        let state = self.schedule_state(id);
        self.progress.memory_index = own;
        !matches!(state, Ok(ScheduleState::Now))
    }
}
