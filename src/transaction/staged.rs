//! Resources whose changes a device applies together, such as in one transaction or one candidate
//! configuration.
//!
//! The events of a staged change wait for the commit. A resource that depends on it is compared with
//! its effect, and fails with it.

use switchtender_devices::change::Change;
use switchtender_devices::provider::{CommitResult, ProviderError};

use crate::graph::VertexId;

use super::evaluate::Evaluation;
use super::event::ResourceStatus;
use super::history::MemoryIndex;
use super::property_event::OutOfSync;
use super::run::Transaction;
use super::sync::SyncStep;

/// The staged resources of a run.
#[derive(Default)]
pub(super) struct StagedResources {
    /// In the order of evaluation.
    resources: Vec<StagedResource>,
    /// The last one, until its evaluation ends.
    last: Option<(Evaluation, Vec<OutOfSync>)>,
}

struct StagedResource {
    evaluation: Evaluation,
    properties: Vec<OutOfSync>,
    status: ResourceStatus,
    memory_index: MemoryIndex,
}

impl StagedResources {
    /// Adds the resource under evaluation.
    pub(super) fn add(&mut self, evaluation: Evaluation, properties: Vec<OutOfSync>) {
        self.last = Some((evaluation, properties));
    }
}

impl Transaction<'_> {
    /// Emits the events of a change that cannot be sent.
    pub(super) fn reject(
        &mut self,
        evaluation: &Evaluation,
        properties: &[OutOfSync],
        error: ProviderError,
    ) -> SyncStep {
        let attributes = properties.iter();
        let attributes = attributes.map(|property| (property.name.clone(), Err(error.clone())));
        let mut committed = CommitResult {
            attributes: attributes.collect(),
            ..CommitResult::default()
        };
        if evaluation.resource.ty.is_resource_api() {
            self.hide_outcomes_as_resource_api(&mut committed);
        }
        SyncStep::Ended(self.emit_outcomes(evaluation, properties, committed))
    }

    /// Keeps the status of the resource under evaluation until the commit. Returns false if its
    /// change is not staged.
    pub(super) fn hold_staged(&mut self) -> bool {
        let Some((evaluation, properties)) = self.progress.staged.last.take() else {
            return false;
        };
        let Some((_, status)) = self.progress.status.take() else {
            return false;
        };
        self.progress.staged.resources.push(StagedResource {
            evaluation,
            properties,
            status,
            memory_index: self.progress.memory_index,
        });
        true
    }

    /// Adds the change of the resource under evaluation to the staged ones, if the device applies it
    /// with them. A resource that is refreshed is changed alone, before its refresh.
    pub(super) async fn stage(
        &mut self,
        evaluation: &Evaluation,
        change: &Change,
    ) -> Result<bool, ProviderError> {
        let is_staged = !self.is_refreshed(evaluation.id) && self.provider.stage(change)?;
        if !is_staged {
            self.commit_staged().await;
        }
        Ok(is_staged)
    }

    /// Whether a vertex may get events of staged resources.
    pub(super) fn needs_events(&self, id: VertexId) -> bool {
        self.progress.has_refreshes
            && !self.progress.staged.resources.is_empty()
            && self.refreshes(id)
    }

    /// Commits the staged changes, and emits the events and statuses of their resources.
    pub(super) async fn commit_staged(&mut self) {
        let staged = std::mem::take(&mut self.progress.staged.resources);
        if staged.is_empty() {
            return;
        }
        let results = self.provider.commit_staged().await;
        // The resource under evaluation is another one.
        let (status, index) = (self.progress.status.take(), self.progress.memory_index);
        for (one, committed) in staged.into_iter().zip(results) {
            let evaluation = &one.evaluation;
            self.progress.status = Some((evaluation.node, one.status));
            self.progress.memory_index = one.memory_index;
            let committed = self.report_operations(evaluation, committed);
            let result = self.emit_outcomes(evaluation, &one.properties, committed);
            if let Err(error) = self.complete(evaluation, result) {
                self.fail_evaluation(evaluation.id, error.to_string());
            }
            self.end_evaluation(evaluation.id);
            self.end_status(evaluation.id);
        }
        self.progress.status = status;
        self.progress.memory_index = index;
    }
}
