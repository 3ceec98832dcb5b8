//! Changes of a configuration with inactive lines.

use super::tree::insert;
use crate::driver::cli::CliType;
use crate::operation::Operation;
use crate::read::State;
use crate::read::indent::inactive::{InactiveLines, is_inactive, is_under};
use crate::secret::Text;

impl CliType {
    /// Applies operations one by one: each may activate lines, or remove some that are inactive.
    pub(super) fn apply_beside_inactive(
        &self,
        state: &mut State,
        operations: &[Operation],
        rule: &InactiveLines,
    ) {
        for operation in operations {
            let Some(line) = operation.line() else {
                continue;
            };
            let text = line.text.as_ref().filter(|_| line.mode.is_empty());
            let text = text.map(Text::reveal).unwrap_or_default();
            let activated = rule.activated(&text);
            if activated.is_none() {
                self.apply_active(state, std::slice::from_ref(operation));
            }
            let Some(tree) = state.tree_mut(&self.instance.from) else {
                continue;
            };
            if let Some(activated) = &activated {
                let is_mark = |text: &str| rule.marked(text).as_ref() == Some(activated);
                tree.inactive_mut().retain(|node| !is_mark(&node.text));
            }
            if let Some(removed) = self.negation.positive(&text) {
                tree.inactive_mut().retain(|node| {
                    let marked = rule.marked(&node.text);
                    !is_under(marked.as_deref().unwrap_or(&node.text), &removed)
                });
            }
            tree.separate_inactive(rule);
            let marks = tree.marks(rule);
            let is_active = |text: &str| !is_inactive(text, &marks, rule);
            let inactive = tree.inactive_mut();
            let active = inactive.extract_if(.., |node| is_active(&node.text));
            for node in active.collect::<Vec<_>>() {
                insert(tree, node);
            }
        }
    }
}
