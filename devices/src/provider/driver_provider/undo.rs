//! The undo of a run: by a later one, or at once after a failure.

use std::collections::HashSet;
use std::sync::Arc;

use super::DriverProvider;
use crate::change::{Change, Desired};
use crate::driver::OldSecrets;
use crate::operation::{Operation, OperationResult};
use crate::provider::state::{Inspection, LeftState, Undoing};
use crate::provider::{CommitResult, Provider, ProviderError, ProviderErrorKind};

/// A resource whose changes were undone in the run that made them.
#[derive(Clone, Debug, Default)]
pub struct UndoneResource {
    /// The resource.
    pub reference: String,
    /// What was sent, with its results.
    pub operations: Vec<(Operation, OperationResult)>,
    /// What was not restored, with reasons.
    pub not_restored: Vec<String>,
}

impl DriverProvider {
    /// Refuses changes of resources that another run has changed since the one that is undone.
    #[must_use]
    pub fn undo_of(mut self, left: LeftState) -> Self {
        self.state.undoing = Undoing::Run(left);
        self
    }

    /// Refuses to undo what changed since.
    pub(super) async fn check_left(
        &mut self,
        desired: &Desired,
        inspection: &Inspection,
    ) -> Result<(), ProviderError> {
        if inspection.differs.is_empty() {
            return Ok(());
        }
        let mut changed = self.state.changes_since_undone(desired);
        if changed.is_empty() {
            return Ok(());
        }
        // A removal needs fewer answers than the values that the run has left.
        let all = self.state.driver.reads(&[&desired.model]);
        self.read_missing(all).await?;
        let remaining = self.state.changes_since_undone(desired);
        changed.retain(|reason| remaining.contains(reason));
        match changed.into_iter().next() {
            None => Ok(()),
            Some(reason) => {
                let message = format!("cannot undo it: {reason}");
                Err(ProviderError::new(ProviderErrorKind::Refused, message))
            }
        }
    }

    /// Undoes all changes of this run, the last one first, and reads their resources again. Nothing is sent if
    /// this would remove lines that the run did not change. `is_stopped`: nothing more is sent.
    pub async fn undo_run(
        &mut self,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Vec<UndoneResource> {
        let planned = self.state.undo_committed(OldSecrets::Used);
        let reason = planned
            .removes
            .first()
            .map(|line| format!("the undo would remove `{line}`, which the run did not change"));
        let committed = self.state.committed.changes.clone();
        self.state.committed.applied.clear();
        if let Undoing::Nothing = self.state.undoing {
            self.state.undoing = Undoing::OwnRun;
        }
        let mut undone = Vec::new();
        let mut staged: Vec<usize> = Vec::new();
        for (reference, undo) in planned.resources {
            let mut resource = UndoneResource {
                reference: reference.to_string(),
                not_restored: undo.not_restored,
                ..UndoneResource::default()
            };
            if let Some(reason) = &reason {
                resource.not_restored.push(reason.clone());
                undone.push(resource);
                continue;
            }
            for desired in undo.restored {
                if is_stopped() {
                    let reason = "the run was stopped".to_owned();
                    resource.not_restored.push(reason);
                    break;
                }
                match self.restore(desired).await {
                    Restoring::Staged => staged.push(undone.len()),
                    Restoring::Ended(result) => resource.add(result),
                }
            }
            undone.push(resource);
        }
        for (index, result) in staged.into_iter().zip(self.commit_staged_changes().await) {
            undone[index].add(result);
        }
        self.verify_undo(&mut undone).await;
        // What was restored does not differ, and needs no undo.
        self.state.committed.changes = committed;
        undone
    }

    /// Restores a state, or stages that.
    async fn restore(&mut self, desired: Arc<Desired>) -> Restoring {
        let current = self
            .state
            .driver
            .instance(&desired, &self.state.now)
            .ok()
            .flatten();
        let differs = self
            .state
            .driver
            .differs(&desired, current.as_ref(), &*self.state.memory);
        if differs.is_empty() {
            return Restoring::Ended(CommitResult::default());
        }
        let change = Change::new(desired, current, differs);
        match self.stage_change(&change) {
            Ok(true) => Restoring::Staged,
            Ok(false) => Restoring::Ended(self.commit_change(&change).await),
            Err(error) => Restoring::Ended(CommitResult {
                failure: Some(error),
                ..CommitResult::default()
            }),
        }
    }

    /// Reads what was restored, and adds what differs.
    async fn verify_undo(&mut self, undone: &mut [UndoneResource]) {
        let differences = match self.verify().await {
            Ok(differences) => differences,
            Err(error) => {
                for resource in undone {
                    let reason = format!("it was not read again: {error}");
                    resource.not_restored.push(reason);
                }
                return;
            }
        };
        let mut found = HashSet::new();
        for difference in differences {
            let mut resources = undone.iter_mut();
            let resource = resources.find(|one| *one.reference == *difference.reference);
            if let Some(resource) = resource
                && found.insert((difference.reference, difference.attribute.clone()))
            {
                let reason = format!("{}: the device keeps another value", difference.attribute);
                resource.not_restored.push(reason);
            }
        }
    }
}

/// The restoring of a state.
enum Restoring {
    /// It is sent with others.
    Staged,
    /// It was sent, or nothing is to be sent.
    Ended(CommitResult),
}

impl UndoneResource {
    fn add(&mut self, result: CommitResult) {
        let outcomes = result.attributes.into_iter();
        let errors = outcomes.filter_map(|(name, outcome)| {
            let error = outcome.err()?;
            Some(format!("{name}: {error}"))
        });
        self.not_restored.extend(errors);
        let failure = result.failure.map(|error| error.to_string());
        self.not_restored.extend(failure);
        self.operations.extend(result.operations);
    }
}
