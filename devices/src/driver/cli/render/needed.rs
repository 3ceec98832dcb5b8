//! Lines that the device needs before those of a type: `feature vpc` before `vpc domain 10`.

use crate::change::ChangeKind;
use crate::driver::cli::CliType;
use crate::driver::cli::rules::CONFIG;
use crate::operation::{Action, ConfigLine, Operation};
use crate::read::State;
use crate::secret::Text;

impl CliType {
    /// Adds the lines that the configuration lacks before the others of a change.
    pub(super) fn add_needed_lines(
        &self,
        kind: ChangeKind,
        state: &State,
        operations: &mut Vec<Operation>,
    ) {
        let Some(first) = operations.first().filter(|_| kind != ChangeKind::Remove) else {
            return;
        };
        let attributes = first.attributes.clone();
        let nodes = state.tree(CONFIG).map_or(&[][..], |tree| &tree.nodes);
        let is_missing = |line: &&String| {
            let mut nodes = nodes.iter();
            !nodes.any(|node| node.text.eq_ignore_ascii_case(line))
        };
        let needed = self.instance.needs.iter().filter(is_missing);
        let needed = needed.map(|line| Operation {
            attributes: attributes.clone(),
            action: Action::Line(ConfigLine::global(Text::plain(line))),
        });
        let needed: Vec<Operation> = needed.collect();
        operations.splice(..0, needed);
    }
}
