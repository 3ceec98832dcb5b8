//! The position of a session in the blocks of a configuration.

use super::command_grammar::{CONFIG, ModeIndex};

/// The blocks that lines go to. Several blocks are at the same depth.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BlockPosition {
    modes: Vec<ModeIndex>,
    /// The text of each mode in the prompt.
    prompts: Vec<String>,
    /// Keys of the blocks, outermost first; empty: outside of blocks.
    targets: Vec<Vec<String>>,
}

impl BlockPosition {
    pub(super) fn depth(&self) -> usize {
        self.modes.len()
    }

    /// The mode at a depth.
    pub(super) fn mode(&self, depth: usize) -> ModeIndex {
        depth
            .checked_sub(1)
            .map_or(CONFIG, |index| self.modes[index])
    }

    /// Leaves the blocks below a depth.
    pub(super) fn truncate(&mut self, depth: usize) {
        self.modes.truncate(depth);
        self.prompts.truncate(depth);
        for target in &mut self.targets {
            target.truncate(depth);
        }
        self.targets.dedup();
    }

    /// The text of the innermost mode in the prompt.
    pub(super) fn prompt(&self) -> &str {
        self.prompts.last().map_or("", String::as_str)
    }

    /// The keys of the blocks.
    pub(super) fn targets(&self) -> Vec<Vec<String>> {
        if self.targets.is_empty() {
            vec![Vec::new()]
        } else {
            self.targets.clone()
        }
    }

    /// Enters blocks of a mode.
    pub(super) fn enter(&mut self, mode: ModeIndex, prompt: String, targets: Vec<Vec<String>>) {
        self.modes.push(mode);
        self.prompts.push(prompt);
        self.targets = targets;
    }
}
