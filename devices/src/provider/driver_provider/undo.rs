//! The undo of a run: by a later one, or at once after a failure.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use super::{DriverProvider, Inspection, PlannedUndo};
use crate::change::{Change, Desired};
use crate::driver::{ConfigurationChange, OldSecrets};
use crate::operation::{Operation, OperationResult};
use crate::provider::{CommitResult, Provider, ProviderError, ProviderErrorKind};
use crate::read::State;
use crate::value::Attributes;

/// What a run has left of the resources that are undone.
pub trait LeftState: Send + Sync {
    /// Compares the attributes of an instance with what the run has left. `is_in_reads`: whether the reads of the
    /// run have an attribute.
    ///
    /// # Errors
    /// What changed since, one text for each attribute.
    fn check(
        &self,
        reference: &str,
        now: Option<&Attributes>,
        is_in_reads: &dyn Fn(&str) -> bool,
    ) -> Result<(), Vec<String>>;

    /// The names of the reads at the end of the run.
    fn reads(&self) -> &[String];

    /// Whether the device did not have the instance before the run.
    fn was_absent(&self, reference: &str) -> bool;
}

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
    pub fn undo_of(mut self, left: Box<dyn LeftState>) -> Self {
        self.left = Some(left);
        self
    }

    /// Whether something of a change was sent.
    pub fn has_committed(&self) -> bool {
        !self.committed.is_empty()
    }

    /// The lines of the configuration that the run has changed.
    pub fn run_change(&self) -> ConfigurationChange {
        if self.committed.is_empty() {
            return ConfigurationChange::default();
        }
        let before = self.read.shared_with(&self.state);
        self.driver.changed_lines(&before, &self.state)
    }

    /// The lines that the previewed undo of a run removes, with their blocks: those in the reads that the run had at its
    /// end. Pure.
    pub fn removed_by_undo(&self) -> Vec<String> {
        let previewed = self.previewed.lock();
        let previewed = previewed.unwrap_or_else(PoisonError::into_inner);
        let (Some(left), Some(previewed)) = (&self.left, previewed.as_ref()) else {
            return Vec::new();
        };
        let is_of_run = |name: &str| left.reads().iter().any(|read| read == name);
        let states = [&self.read, &previewed.state];
        let [before, after] = states.map(|state| state.restricted_to(is_of_run));
        self.driver.changed_lines(&before, &after).removed
    }

    /// The names of the last reads.
    pub fn last_reads(&self) -> Vec<String> {
        self.state.iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Whether the device had the instance of a resource when the run began.
    pub fn was_present(&self, desired: &Desired) -> bool {
        self.attributes_in(desired, &self.read).is_some()
    }

    /// The lines of the configuration in which the device differs from the state before the run, with `-` or `+`. Reads
    /// that the run did not repeat are left out.
    pub fn remaining_lines(&self) -> Vec<String> {
        let before = self.read.shared_with(&self.state);
        let remaining = PlannedUndo {
            not_restored: self.driver.content_diff(&before, &self.state),
            ..PlannedUndo::default()
        };
        let lines = remaining.lost_lines().into_iter();
        lines.map(str::to_owned).collect()
    }

    /// Whether the absence of an instance is what an undo restores: a later change has removed the block
    /// around it.
    pub(super) fn is_restored_absence(&self, desired: &Desired, inspection: &Inspection) -> bool {
        let was_absent = match &self.left {
            Some(left) => left.was_absent(&desired.reference),
            None => self.undoes_run && !self.was_present(desired),
        };
        was_absent && inspection.current.is_none()
    }

    /// The attributes of a resource in the last state that was read. Values of sensitive ones are marked
    /// as such. `None`: the device has no such instance.
    pub fn attributes_now(&self, desired: &Desired) -> Option<Attributes> {
        self.attributes_in(desired, &self.state)
    }

    fn attributes_in(&self, desired: &Desired, state: &State) -> Option<Attributes> {
        let state = self.driver.with_empty_answers(&desired.model, state);
        let instance = self.driver.instance(desired, &state).ok().flatten();
        instance.map(|instance| instance.with_secrets_marked(&desired.model))
    }

    /// Refuses to undo what changed since.
    pub(super) async fn check_left(
        &mut self,
        desired: &Desired,
        inspection: &Inspection,
    ) -> Result<(), ProviderError> {
        if self.left.is_none() || inspection.differs.is_empty() {
            return Ok(());
        }
        let Err(mut changed) = self.compare_with_left(desired) else {
            return Ok(());
        };
        // A removal needs fewer answers than the values that the run has left.
        let all = self.driver.reads(&[&desired.model]).into_iter();
        let missing = all.filter(|request| !self.sent_reads.contains_key(&request.name));
        self.read_into_state(missing.collect()).await?;
        let remaining = self.compare_with_left(desired).err().unwrap_or_default();
        changed.retain(|reason| remaining.contains(reason));
        match changed.into_iter().next() {
            None => Ok(()),
            Some(reason) => {
                let message = format!("cannot undo it: {reason}");
                Err(ProviderError::new(ProviderErrorKind::Refused, message))
            }
        }
    }

    /// Compares with what the run that is undone has left. Earlier changes of this run are not those of
    /// others.
    fn compare_with_left(&self, desired: &Desired) -> Result<(), Vec<String>> {
        let Some(left) = &self.left else {
            return Ok(());
        };
        let before = self.attributes_in(desired, &self.read);
        // The undo can have more reads than the run had at its end.
        let of_run = OnceCell::new();
        let is_in_reads = |name: &str| {
            let attributes = of_run.get_or_init(|| {
                let reads = left.reads();
                let is_of_run = |name: &str| reads.iter().any(|read| read == name);
                self.attributes_in(desired, &self.read.restricted_to(is_of_run))
            });
            let attributes = attributes.as_ref();
            attributes.is_none_or(|attributes| attributes.contains_key(name))
        };
        left.check(&desired.reference, before.as_ref(), &is_in_reads)
    }

    /// Undoes all changes of this run, the last one first, and reads their resources again. Nothing is sent if
    /// this would remove lines that the run did not change. `is_stopped`: nothing more is sent.
    pub async fn undo_run(
        &mut self,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Vec<UndoneResource> {
        let planned = self.undo_committed(OldSecrets::Used);
        let reason = planned
            .removes
            .first()
            .map(|line| format!("the undo would remove `{line}`, which the run did not change"));
        let committed = self.committed.clone();
        self.applied.clear();
        self.undoes_run = true;
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
        self.committed = committed;
        undone
    }

    /// Restores a state, or stages that.
    async fn restore(&mut self, desired: Arc<Desired>) -> Restoring {
        let current = self.driver.instance(&desired, &self.state).ok().flatten();
        let differs = self
            .driver
            .differs(&desired, current.as_ref(), &*self.memory);
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
