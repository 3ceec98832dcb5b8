//! The index of instances that are blocks of the top level, after a change that adds or removes blocks.
//!
//! Only the headers of new blocks are read with templates. The others are found by their text.

use std::sync::Arc;

use super::tree::position;
use crate::driver::cli::CliType;
use crate::driver::cli::instances::Instances;
use crate::operation::Operation;
use crate::read::State;
use crate::read::indent::Tree;
use crate::secret::Text;

/// The index before a change, and the number of lines of the top level.
pub(super) struct BlockIndex {
    instances: Arc<Instances>,
    lines: usize,
}

impl CliType {
    /// `None` if instances are not blocks of the top level, or have an order.
    pub(super) fn index_of_top_level_blocks(&self, state: &State) -> Option<BlockIndex> {
        let paths = self.instance.kind.blocks()?;
        let mut rules = self.attributes.values();
        if paths.iter().any(|path| path.levels().len() != 1)
            || rules.any(|rule| rule.order().is_some())
        {
            return None;
        }
        let lines = state.tree(&self.instance.from)?.nodes.len();
        Some(BlockIndex {
            instances: self.indexed_instances(state),
            lines,
        })
    }

    /// Keeps an index after operations that may have added and removed blocks.
    pub(super) fn keep_block_index(
        &self,
        state: &mut State,
        before: BlockIndex,
        operations: &[Operation],
    ) {
        let Some(tree) = state.tree(&self.instance.from) else {
            return;
        };
        let BlockIndex {
            mut instances,
            lines,
        } = before;
        let index = Arc::make_mut(&mut instances);
        index.move_blocks(&|header, old| moved(tree, lines, header, old));
        for header in self.entered_headers(operations) {
            let Some(at) = position(&tree.nodes, &header) else {
                continue;
            };
            if !index.has_block_at(at) {
                index.add_block(self, tree, at);
            }
        }
        #[cfg(test)]
        self.assert_index(state, &instances);
        self.keep_index(state, instances);
    }

    /// Compares with an index that is read again.
    #[cfg(test)]
    pub(super) fn assert_index(&self, state: &State, instances: &Instances) {
        let mut fresh = state.clone();
        let _ = fresh.tree_mut(&self.instance.from);
        let sorted = |instances: &Instances| {
            let mut all: Vec<String> = instances.iter().map(|one| format!("{one:?}")).collect();
            all.sort();
            all
        };
        assert_eq!(sorted(instances), sorted(&self.indexed_instances(&fresh)));
    }

    /// The lines of the top level that operations enter or add.
    fn entered_headers(&self, operations: &[Operation]) -> Vec<String> {
        let mut headers: Vec<String> = Vec::new();
        for line in operations.iter().filter_map(Operation::line) {
            let first = if line.mode.is_empty() {
                line.text.as_ref().map(Text::reveal)
            } else {
                self.headers_as_read(&line.mode).into_iter().next()
            };
            headers.extend(first.filter(|first| !headers.contains(first)));
        }
        headers
    }
}

/// The position of a line of the top level that had another number of lines.
fn moved(tree: &Tree, lines: usize, header: &str, old: usize) -> Option<usize> {
    let is_at = |at: &usize| tree.nodes.get(*at).is_some_and(|node| node.text == header);
    // Most changes add or remove lines at one position.
    let shifted = (old + tree.nodes.len()).checked_sub(lines);
    let near = [Some(old), shifted].into_iter().flatten().find(is_at);
    near.or_else(|| tree.nodes.iter().position(|node| node.text == header))
}
