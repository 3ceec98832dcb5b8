//! Instances of a type with a table, read from the configuration alone: from the blocks that are
//! entered to configure them (`vlan 10`, `vlan 20-29,40`).

use super::CliType;
use super::rules::CONFIG;
use crate::change::Instance;
use crate::driver::implementation::InstanceReader;
use crate::read::{ReadError, State};

/// Longest range that is expanded; there are no more VLANs.
const LONGEST: u32 = 4096;

impl CliType {
    /// The instances in the answers: from the read that lists them, otherwise from the
    /// configuration.
    pub(super) fn instances_in_config(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        if state.get(&self.instance.from).is_some() {
            return InstanceReader::instances(self, state);
        }
        let Some(template) = self.instance.kind.enter() else {
            return Ok(Vec::new());
        };
        let blocks = state.tree(CONFIG).into_iter().flat_map(|tree| &tree.nodes);
        let lines = blocks.flat_map(|node| one_by_one(&node.text));
        Ok(lines
            .filter_map(|line| template.read(&line, self))
            .map(|bindings| Instance {
                attributes: bindings.into_iter().collect(),
                ..Instance::default()
            })
            .collect())
    }
}

/// Splits a line that ends with a list of numbers into one line per number. Other lines are
/// unchanged.
fn one_by_one(line: &str) -> Vec<String> {
    let numbers = || {
        let (head, list) = line.rsplit_once(' ')?;
        let mut lines = Vec::new();
        for piece in list.split(',') {
            let (low, high) = piece.split_once('-').unwrap_or((piece, piece));
            let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
            if high.checked_sub(low)? > LONGEST {
                return None;
            }
            lines.extend((low..=high).map(|number| format!("{head} {number}")));
        }
        Some(lines)
    };
    numbers().unwrap_or_else(|| vec![line.to_owned()])
}
