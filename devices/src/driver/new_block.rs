//! `[new_block.x]` of a platform: lines without which a new block of the configuration has no use.
//!
//! Each type that enters the block would create it. So the rule is about lines that are sent, whatever
//! resource they belong to.

use super::implementation::RenderError;
use crate::document::keys;
use crate::operation::{Action, ConfigLine, Operation};
use crate::pattern::Pattern;
use crate::read::indent::Tree;
use crate::read::{CONFIG, State};
use crate::secret::Text;

keys! {
    /// A block that a change creates only with one of its lines.
    pub(crate) struct NewBlockRule {
        /// Pattern of the header of such blocks, as the device prints it.
        block: Pattern,
        /// Pattern of the line that a new block needs.
        line: Pattern,
        /// What the block lacks without the line, and which attribute sets it.
        reason: String,
    }
}

impl NewBlockRule {
    /// Checks that the blocks that these operations create have the lines that they need.
    pub(super) fn check_all(
        rules: &[Self],
        operations: &[Operation],
        state: &State,
    ) -> Result<(), RenderError> {
        // A device that was not read may have every block.
        let Some(tree) = state.tree(CONFIG) else {
            return Ok(());
        };
        let lines = || operations.iter().filter_map(block_and_line);
        for (operation, (header, _)) in operations
            .iter()
            .filter_map(|operation| Some((operation, block_and_line(operation)?)))
            .filter(|_| !rules.is_empty())
        {
            let mut rules = rules.iter().filter(|rule| rule.block.is_match(&header));
            let lacks_line = |rule: &&Self| {
                let mut own = lines().filter(|(other, _)| *other == header);
                !own.any(|(_, line)| line.is_some_and(|line| rule.line.is_match(&line)))
            };
            if let Some(rule) = rules.find(lacks_line)
                && !has_block(tree, &header)
            {
                let attribute = operation.attributes.first();
                let attribute = attribute.map_or("ensure", |name| name.as_str());
                let message = format!("cannot create `{header}`: {}", rule.reason);
                return Err(RenderError::lacking_object(attribute, message));
            }
        }
        Ok(())
    }
}

/// The outermost block of a line that is sent, and the line.
fn block_and_line(operation: &Operation) -> Option<(String, Option<String>)> {
    let Action::Line(ConfigLine { mode, text, .. }) = &operation.action else {
        return None;
    };
    let header = mode.first()?.reveal();
    let line = mode.get(1).or(text.as_ref()).map(Text::reveal);
    Some((header, line))
}

fn has_block(tree: &Tree, header: &str) -> bool {
    let mut nodes = tree.nodes.iter();
    nodes.any(|node| node.text.eq_ignore_ascii_case(header))
}
