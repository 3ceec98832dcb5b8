//! The undo of the changes of a run: as data for a later run, or at once after a failure.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use super::{DriverProvider, Inspection, Previewed};
use crate::change::{Change, Desired, Instance};
use crate::driver::{OldSecrets, Undo};
use crate::operation::{Operation, OperationResult};
use crate::provider::{CommitResult, Provider, ProviderError, ProviderErrorKind};
use crate::read::{CONFIG, State};
use crate::value::Attributes;

/// The undo of all changes of a plan or a run, as a later run can make it.
#[derive(Clone, Debug, Default)]
pub struct PlannedUndo {
    /// The resources with their undo, last change first.
    pub resources: Vec<(Arc<str>, Undo)>,
    /// What the configuration then lacks of the one before, as a unified diff; empty for nothing.
    pub not_restored: String,
}

impl PlannedUndo {
    /// What cannot be restored, without the operations.
    #[must_use]
    pub fn without_operations(mut self) -> Self {
        let lines = self.lost_lines().into_iter();
        self.not_restored = lines.map(|line| format!("{line}\n")).collect();
        for (_, undo) in &mut self.resources {
            undo.operations.clear();
        }
        self.resources
            .retain(|(_, undo)| !undo.not_restored.is_empty());
        self
    }

    /// The lines of [`not_restored`](Self::not_restored) without those that the device completes: a sent
    /// line has some of the words of the line before.
    pub fn lost_lines(&self) -> Vec<&str> {
        let lines = || self.not_restored.lines();
        let completes = |old: &str, sent: &str| {
            old.starts_with('-') && sent.starts_with('+') && has_words(&old[1..], &sent[1..])
        };
        let is_lost = |line: &&str| {
            line.starts_with(['+', '-'])
                && !lines().any(|other| completes(line, other) || completes(other, line))
        };
        lines().filter(is_lost).collect()
    }

    /// Whether it has operations.
    pub fn has_operations(&self) -> bool {
        let mut resources = self.resources.iter();
        resources.any(|(_, undo)| !undo.operations.is_empty())
    }
}

/// Whether a line has these words in this order, in any case. Releases of IOS differ in the hyphens: `ip domain-lookup`
/// is `ip domain lookup`.
fn has_words(line: &str, words: &str) -> bool {
    let parts = |text: &str| text.to_ascii_lowercase().replace('-', " ");
    if parts(line)
        .split_whitespace()
        .eq(parts(words).split_whitespace())
    {
        return true;
    }
    let mut all = line.split_whitespace();
    let mut words = words.split_whitespace();
    words.all(|word| all.any(|other| other.eq_ignore_ascii_case(word)))
}

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

    /// The undo of all previewed changes. Pure.
    pub fn planned_undo(&self) -> PlannedUndo {
        let previewed = self.previewed.lock();
        let previewed = previewed.unwrap_or_else(PoisonError::into_inner);
        match previewed.as_ref() {
            Some(Previewed { changes, state }) => {
                self.undo_changes(changes, &self.read, state.clone())
            }
            None => PlannedUndo::default(),
        }
    }

    /// The undo of all changes of the run. Pure.
    pub fn run_undo(&self) -> PlannedUndo {
        let before = self.read.shared_with(&self.state);
        self.undo_changes(&self.committed, &before, self.state.clone())
    }

    fn undo_changes(
        &self,
        changes: &[(Change, Vec<Instance>)],
        before: &State,
        mut state: State,
    ) -> PlannedUndo {
        if changes.is_empty() {
            return PlannedUndo::default();
        }
        let mut elsewhere = HashSet::new();
        let resources = changes.iter().rev().map(|(change, displaced)| {
            let secrets = OldSecrets::Unknown;
            let undo = self.driver.undo(change, displaced, secrets, &mut state);
            let Desired {
                model, reference, ..
            } = &*change.desired;
            elsewhere.extend(self.driver.lines_read_elsewhere(model, &undo.operations));
            (Arc::clone(reference), undo)
        });
        let resources = resources.collect();
        let mut before = before.clone();
        for state in [&mut before, &mut state] {
            if !elsewhere.is_empty()
                && let Some(tree) = state.tree_mut(CONFIG)
            {
                tree.nodes.retain(|node| !elsewhere.contains(&node.text));
            }
        }
        PlannedUndo {
            resources,
            not_restored: self.driver.content_diff(&before, &state),
        }
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
            resources: Vec::new(),
            not_restored: self.driver.content_diff(&before, &self.state),
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
        let instance = self.driver.instance(desired, state).ok().flatten();
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

    /// Undoes all changes of this run, the last one first, and reads their resources again. `is_stopped`:
    /// nothing more is sent.
    pub async fn undo_run(
        &mut self,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Vec<UndoneResource> {
        let committed = self.committed.clone();
        self.applied.clear();
        self.undoes_run = true;
        let mut undone = Vec::new();
        let mut staged: Vec<usize> = Vec::new();
        for (change, displaced) in committed.iter().rev() {
            let mut state = self.state.clone();
            let secrets = OldSecrets::Used;
            let undo = self.driver.undo(change, displaced, secrets, &mut state);
            let mut resource = UndoneResource {
                reference: change.desired.reference.to_string(),
                not_restored: undo.not_restored,
                ..UndoneResource::default()
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_lines_are_without_other_spellings() {
        let not_restored = "-no ip domain-lookup\n+no ip domain lookup\n\
                            -ntp server 192.0.2.1 prefer\n+ntp server 192.0.2.1\n\
                            -ip host a-b 192.0.2.9\n+ip host a 192.0.2.8\n";
        let undo = PlannedUndo {
            not_restored: not_restored.to_owned(),
            ..PlannedUndo::default()
        };
        assert_eq!(
            undo.lost_lines(),
            ["-ip host a-b 192.0.2.9", "+ip host a 192.0.2.8"]
        );
    }
}
