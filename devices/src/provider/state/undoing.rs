//! The undo of a run as far as it needs no device: what the run has left, and what its undo restores.

use std::cell::OnceCell;

use super::DeviceState;
use super::inspection::Inspection;
use super::left_state::LeftState;
use super::planned_undo::PlannedUndo;
use crate::change::Desired;
use crate::driver::ConfigurationChange;
use crate::read::State;
use crate::value::Attributes;

/// What the changes of the run undo.
#[derive(Default)]
pub(in crate::provider) enum Undoing {
    #[default]
    Nothing,
    /// An earlier run, which has left this.
    Run(LeftState),
    /// The changes of this run.
    OwnRun,
}

impl DeviceState {
    /// The lines of the configuration that the run has changed.
    pub fn run_change(&self) -> ConfigurationChange {
        if self.committed.changes.is_empty() {
            return ConfigurationChange::default();
        }
        let before = self.before.shared_with(&self.now);
        self.driver.changed_lines(&before, &self.now)
    }

    /// The lines that the previewed undo of a run removes, with their blocks: those in the reads that the run had at its
    /// end. Pure.
    pub fn removed_by_undo(&self) -> Vec<String> {
        let (Undoing::Run(left), Some(previewed)) = (&self.undoing, &self.previewed) else {
            return Vec::new();
        };
        let states = [&self.before, &previewed.state];
        let [before, after] =
            states.map(|state| state.restricted_to(|name: &str| left.has_read(name)));
        self.driver.changed_lines(&before, &after).removed
    }

    /// Which of these lines, each with its blocks, the configuration has.
    pub fn present_lines<'l>(&self, lines: impl IntoIterator<Item = &'l str>) -> Vec<&'l str> {
        let lines = lines.into_iter();
        lines
            .filter(|line| self.driver.has_line(&self.now, line))
            .collect()
    }

    /// The names of the last reads.
    pub fn last_reads(&self) -> Vec<String> {
        self.now.iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Whether the device had the instance of a resource when the run began.
    pub fn was_present(&self, desired: &Desired) -> bool {
        self.attributes_in(desired, &self.before).is_some()
    }

    /// The lines of the configuration in which the device differs from the state before the run, with `-` or `+`. Reads
    /// that the run did not repeat are left out.
    pub fn remaining_lines(&self) -> Vec<String> {
        let before = self.before.shared_with(&self.now);
        let remaining = PlannedUndo {
            not_restored: self.driver.content_diff(&before, &self.now),
            ..PlannedUndo::default()
        };
        let lines = remaining.lost_lines().into_iter();
        lines.map(str::to_owned).collect()
    }

    /// Whether the absence of an instance is what an undo restores: a later change has removed the block
    /// around it.
    pub(in crate::provider) fn is_restored_absence(
        &self,
        desired: &Desired,
        inspection: &Inspection,
    ) -> bool {
        let was_absent = match &self.undoing {
            Undoing::Nothing => false,
            Undoing::Run(left) => left.was_absent(&desired.reference),
            Undoing::OwnRun => !self.was_present(desired),
        };
        was_absent && inspection.current.is_none()
    }

    /// The attributes of a resource in the last state that was read. Values of sensitive ones are marked
    /// as such. `None`: the device has no such instance.
    pub fn attributes_now(&self, desired: &Desired) -> Option<Attributes> {
        self.attributes_in(desired, &self.now)
    }

    fn attributes_in(&self, desired: &Desired, state: &State) -> Option<Attributes> {
        let state = self.driver.with_empty_answers(&desired.model, state);
        let instance = self.driver.instance(desired, &state).ok().flatten();
        instance.map(|instance| instance.with_secrets_marked(&desired.model))
    }

    /// What changed since the run that is undone. Earlier changes of this run are not those of others.
    pub(in crate::provider) fn changes_since_undone(&self, desired: &Desired) -> Vec<String> {
        let Undoing::Run(left) = &self.undoing else {
            return Vec::new();
        };
        let before = self.attributes_in(desired, &self.before);
        // The undo can have more reads than the run had at its end.
        let of_run = OnceCell::new();
        let is_in_reads = |name: &str| {
            let attributes: &Option<Attributes> = of_run.get_or_init(|| {
                let state = self.before.restricted_to(|name: &str| left.has_read(name));
                self.attributes_in(desired, &state)
            });
            let attributes = attributes.as_ref();
            attributes.is_none_or(|attributes| attributes.contains_key(name))
        };
        left.changes_since(&desired.reference, before.as_ref(), &is_in_reads)
    }
}
