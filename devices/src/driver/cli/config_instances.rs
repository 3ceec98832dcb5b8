//! Instances of a table's type as far as the configuration alone tells: by the blocks that are
//! entered to set something in them (`vlan 10`, `vlan 20-29,40`).

use super::CliType;
use super::rules::{CONFIG, InstanceKind};
use crate::change::Instance;
use crate::read::{ReadError, State};

/// Longest range that is taken apart; there are no more VLANs than that.
const LONGEST: u32 = 4096;

impl CliType {
    /// The instances as far as the answers go: those of the read that shows them, else those that
    /// the configuration mentions.
    pub(super) fn instances_in_config(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        if state.get(&self.instance.from).is_some() {
            return crate::driver::Implementation::instances(self, state);
        }
        let InstanceKind::Row {
            enter: Some(template),
            ..
        } = &self.instance.kind
        else {
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

/// A line with a list of numbers as its last word, as one line for each; any other as it is.
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
