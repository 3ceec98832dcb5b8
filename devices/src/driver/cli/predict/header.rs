//! Headers of blocks: as the device prints them, and as they are sent with other values.

use crate::driver::cli::CliType;
use crate::driver::cli::instances::nodes_of;
use crate::driver::cli::template::bound;
use crate::operation::Operation;
use crate::read::State;
use crate::read::indent::{Node, Tree};
use crate::secret::Text;
use crate::value::Attributes;

impl CliType {
    /// Whether operations only change lines in blocks of the top level that a configuration has.
    pub(super) fn are_in_blocks(
        &self,
        state: &State,
        from: &str,
        operations: &[Operation],
    ) -> bool {
        let nodes = nodes_of(state.tree(from));
        let mut lines = operations.iter().filter_map(Operation::line);
        lines.all(|line| {
            let headers = self.headers_as_read(&line.mode);
            let outer = headers.first().filter(|_| line.text.is_some());
            outer.is_some_and(|outer| {
                let at = state.top_level_position(from, outer);
                at.is_some_and(|at| nodes[at].text == *outer)
            })
        })
    }

    /// The headers of a mode as the device prints them: `ip access-list extended X` is entered,
    /// `Extended IP access list X` is printed.
    pub(super) fn headers_as_read(&self, sent: &[Text]) -> Vec<String> {
        let sent: Vec<String> = sent.iter().map(Text::reveal).collect();
        let (Some(mode), Some(block)) = (&self.instance.mode, self.instance.kind.paths().first())
        else {
            return sent;
        };
        // Inner blocks follow.
        let printed = (1..=sent.len()).rev().find_map(|depth| {
            let (outer, inner) = sent.split_at(depth);
            let bindings = mode.read(outer, self)?;
            let headers = block.write(&|name| bound(&bindings, name), self).ok()?;
            let printed = headers.iter().map(Text::reveal);
            Some(printed.chain(inner.iter().cloned()).collect())
        });
        printed.unwrap_or(sent)
    }

    /// Changes the header of the block of an instance to one with other values for the same names. The
    /// device keeps the lines of the block.
    pub(super) fn change_header(&self, tree: &mut Tree, headers: &[String]) {
        let Some(paths) = self.instance.kind.blocks() else {
            return;
        };
        let found = (1..=headers.len()).find_map(|depth| {
            let mut paths = paths.iter();
            let own = &headers[..depth];
            paths.find_map(|path| Some((path, own, path.read(own, self)?)))
        });
        let Some((path, own, bindings)) = found else {
            return;
        };
        let names: Attributes = bindings.iter().cloned().collect();
        if bindings.iter().all(|(name, _)| self.is_namevar(name)) {
            return;
        }
        let Some((header, outer)) = own.split_last() else {
            return;
        };
        let mut level = tree;
        for outer in outer {
            let block = level.nodes.iter_mut().find(|node| node.text == *outer);
            let Some(block) = block else {
                return;
            };
            level = &mut block.children;
        }
        let is_own = |node: &Node| {
            let headers: Vec<String> = outer.iter().chain([&node.text]).cloned().collect();
            path.read(&headers, self).is_some_and(|found| {
                let mut namevars = found.iter().filter(|(name, _)| self.is_namevar(name));
                namevars.all(|(name, value)| names.get(name) == Some(value))
            })
        };
        if level.nodes.iter().any(|node| node.text == *header) {
            return;
        }
        if let Some(node) = level.nodes.iter_mut().find(|node| is_own(node)) {
            node.text.clone_from(header);
        }
    }
}
