//! Lines of the top level that a type needs before its own.

use super::tree::insert;
use crate::driver::cli::CliType;
use crate::driver::cli::rules::CONFIG;
use crate::operation::Operation;
use crate::read::State;
use crate::read::indent::Node;

impl CliType {
    /// Adds the lines at the beginning of operations that the type needs. Returns the others.
    pub(super) fn apply_needed_lines<'o>(
        &self,
        state: &mut State,
        operations: &'o [Operation],
    ) -> &'o [Operation] {
        let needed = |operation: &Operation| {
            let line = operation.line()?;
            let text = line.text.as_ref().filter(|_| line.mode.is_empty())?;
            let text = text.reveal();
            let mut needed = self.needed_lines();
            needed.any(|line| line.text == text).then_some(text)
        };
        let lines: Vec<String> = operations.iter().map_while(needed).collect();
        if !lines.is_empty()
            && let Some(tree) = state.tree_mut(CONFIG)
        {
            for line in &lines {
                insert(tree, Node::new(line));
            }
        }
        &operations[lines.len()..]
    }
}
