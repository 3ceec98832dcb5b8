//! The undo of changes as data: the operations with their effect, and what they do not restore.

use std::collections::HashSet;
use std::sync::Arc;

use super::DeviceState;
use super::preview::Previewed;
use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::driver::configuration::has_words;
use crate::driver::side_effects::SideEffect;
use crate::driver::{OldSecrets, Undo};
use crate::operation::Action;
use crate::read::indent::Node;
use crate::read::{CONFIG, State};

/// The undo of all changes of a plan or a run, as a later run can make it.
#[derive(Clone, Debug, Default)]
pub struct PlannedUndo {
    /// The resources with their undo, last change first.
    pub resources: Vec<(Arc<str>, Undo)>,
    /// What the configuration then lacks of the one before, as a unified diff; empty for nothing.
    pub not_restored: String,
    /// Lines that the configuration had before the changes and has after them, and that the undo removes, with their
    /// blocks.
    pub removes: Vec<String>,
    /// Lines that types have added before their own, such as `feature vpc`: an undo leaves them, since others can
    /// need them.
    pub stays: Vec<String>,
}

/// The undo of changes with the state after it.
struct PredictedUndo {
    /// Last change first.
    resources: Vec<(Arc<str>, Undo)>,
    /// Other instances that cannot be restored, with the reasons.
    failed: Vec<(Arc<str>, Undo)>,
    state: State,
}

impl PredictedUndo {
    /// The result, with the difference that it leaves.
    fn into_planned(mut self, not_restored: String, removes: Vec<String>) -> PlannedUndo {
        if !not_restored.is_empty() {
            self.resources.append(&mut self.failed);
        }
        PlannedUndo {
            resources: self.resources,
            not_restored,
            removes,
            stays: Vec::new(),
        }
    }
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
    /// line has some of the words of the line before. What [`stays`](Self::stays) is not lost.
    pub fn lost_lines(&self) -> Vec<&str> {
        let lines = || self.not_restored.lines();
        let completes = |old: &str, sent: &str| {
            old.starts_with('-') && sent.starts_with('+') && has_words(&old[1..], &sent[1..])
        };
        let stays = |line: &str| {
            let added = line.strip_prefix('+');
            added.is_some_and(|added| self.stays.iter().any(|own| own == added))
        };
        let is_lost = |line: &&str| {
            line.starts_with(['+', '-'])
                && !stays(line)
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

impl DeviceState {
    /// The undo of all previewed changes. Pure.
    pub fn planned_undo(&self) -> PlannedUndo {
        match &self.previewed {
            Some(Previewed { changes, state }) => {
                self.undo_changes(changes, OldSecrets::Unknown, &self.before, state)
            }
            None => PlannedUndo::default(),
        }
    }

    /// The undo of all changes of the run by a later run. Pure.
    pub fn run_undo(&self) -> PlannedUndo {
        self.undo_committed(OldSecrets::Unknown)
    }

    pub(in crate::provider) fn undo_committed(&self, secrets: OldSecrets) -> PlannedUndo {
        let compared = self.before.shared_with(&self.now);
        // Types without a change in the run need answers that were not read again.
        let mut state = self.now.clone();
        state.add_missing(&self.before);
        self.undo_changes(&self.committed.changes, secrets, &compared, &state)
    }

    /// The undo of changes. If it leaves a difference of the configuration, it restores other instances, too:
    /// those that the device removed with others, or changed by itself. `compared`: the configuration before the
    /// changes, in those reads that the state has after them.
    fn undo_changes(
        &self,
        changes: &[(Change, Vec<Instance>)],
        secrets: OldSecrets,
        compared: &State,
        state: &State,
    ) -> PlannedUndo {
        if changes.is_empty() {
            return PlannedUndo::default();
        }
        let first = self.undo_with(changes, Vec::new(), secrets, state);
        let difference = self.difference_after(&first, compared);
        if difference.is_empty() {
            return first.into_planned(difference, Vec::new());
        }
        let is_own = |effect: &SideEffect| changes.iter().any(|(change, _)| effect.is_of(change));
        let models = changes.iter().map(|(change, _)| &*change.desired.model);
        let states = (&self.before, &first.state);
        let seen = self.driver.without_needed_lines(models, states);
        let stays = self.driver.changed_lines(&seen, &first.state).added;
        let mut effects = self.driver.side_effects(&self.before, &seen);
        // What a resource leaves that cannot be undone is not removed through another type.
        let is_incomplete = first
            .resources
            .iter()
            .any(|(_, undo)| !undo.not_restored.is_empty());
        effects.retain(|effect| !is_own(effect) && (!is_incomplete || effect.is_missing()));
        let mut undone = if effects.is_empty() {
            first
        } else {
            let mut state = state.clone();
            for effect in &effects {
                let model = &effect.resource().model;
                state = self.driver.with_empty_answers(model, &state).into_owned();
            }
            self.undo_with(changes, effects, secrets, &state)
        };
        self.remove_emptied(&mut undone, compared);
        let difference = self.difference_after(&undone, compared);
        if difference.is_empty() {
            return undone.into_planned(difference, Vec::new());
        }
        let gone = self
            .driver
            .changed_lines(compared, &state.shared_with(compared))
            .removed;
        let after = undone.state.shared_with(compared);
        let mut removes = self.driver.changed_lines(compared, &after).removed;
        removes.retain(|line| !gone.contains(line));
        PlannedUndo {
            stays,
            ..undone.into_planned(difference, removes)
        }
    }

    /// The undo of changes and of side effects. What requires a restored instance follows it at once.
    fn undo_with(
        &self,
        changes: &[(Change, Vec<Instance>)],
        mut effects: Vec<SideEffect>,
        secrets: OldSecrets,
        state: &State,
    ) -> PredictedUndo {
        let mut predicted = PredictedUndo {
            resources: Vec::new(),
            failed: Vec::new(),
            state: state.clone(),
        };
        let undo_effects = |effects: Vec<SideEffect>, predicted: &mut PredictedUndo| {
            for effect in effects {
                let state = &mut predicted.state;
                let undo = self.driver.undo_side_effect(&effect, secrets, state);
                let reference = Arc::clone(&effect.resource().reference);
                if !undo.not_restored.is_empty() {
                    predicted.failed.push((reference, undo));
                } else if !undo.restored.is_empty() {
                    predicted.resources.push((reference, undo));
                }
            }
        };
        for (change, displaced) in changes.iter().rev() {
            let state = &mut predicted.state;
            let undo = self.driver.undo(change, displaced, secrets, state);
            let desired = &change.desired;
            predicted
                .resources
                .push((Arc::clone(&desired.reference), undo));
            if change.kind == ChangeKind::Remove {
                undo_effects(take_dependents(desired, &mut effects), &mut predicted);
            }
        }
        undo_effects(effects, &mut predicted);
        predicted
    }

    /// What the configuration after an undo lacks of the one before, and the reverse.
    fn difference_after(&self, undone: &PredictedUndo, compared: &State) -> String {
        let mut elsewhere = HashSet::new();
        for (_, undo) in &undone.resources {
            if let Some(restored) = undo.restored.first() {
                let model = &restored.model;
                elsewhere.extend(self.driver.lines_read_elsewhere(model, &undo.operations));
            }
        }
        let (mut before, mut after) = (compared.clone(), undone.state.shared_with(compared));
        for state in [&mut before, &mut after] {
            if !elsewhere.is_empty()
                && let Some(tree) = state.tree_mut(CONFIG)
            {
                tree.nodes.retain(|node| !elsewhere.contains(&node.text));
            }
        }
        self.driver.content_diff(&before, &after)
    }

    /// Removes blocks from the predicted configuration that the undo has emptied, and that no line removes: they
    /// stay, and have no effect.
    fn remove_emptied(&self, undone: &mut PredictedUndo, compared: &State) {
        let mut blocks = HashSet::new();
        for operation in undone
            .resources
            .iter()
            .flat_map(|(_, undo)| &undo.operations)
        {
            if let Action::Line(line) = &operation.action {
                blocks.extend(line.mode.iter().map(|block| block.reveal().to_lowercase()));
            }
        }
        if let (Some(before), Some(tree)) = (compared.tree(CONFIG), undone.state.tree_mut(CONFIG)) {
            remove_emptied(&mut tree.nodes, &before.nodes, &blocks);
        }
    }
}

/// Takes the instances that require one, and those that require them.
fn take_dependents(restored: &Desired, effects: &mut Vec<SideEffect>) -> Vec<SideEffect> {
    let is_dependent = |effect: &mut SideEffect| effect.requires(restored);
    let mut found = Vec::new();
    for dependent in effects.extract_if(.., is_dependent).collect::<Vec<_>>() {
        let further = take_dependents(dependent.resource(), effects);
        found.push(dependent);
        found.extend(further);
    }
    found
}

/// Removes those of the blocks that have no lines, and that another tree does not have.
fn remove_emptied(nodes: &mut Vec<Node>, others: &[Node], blocks: &HashSet<String>) {
    nodes.retain_mut(|node| {
        if !blocks.contains(&node.text.to_lowercase()) {
            return true;
        }
        let other = others.iter().find(|other| other.text == node.text);
        let inner = other.map_or(&[][..], |other| &other.children.nodes);
        remove_emptied(&mut node.children.nodes, inner, blocks);
        other.is_some() || !node.children.nodes.is_empty() || node.body.is_some()
    });
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
