//! Headers of blocks: as the device prints them, and as they are sent with other values.

use std::sync::Arc;

use super::bound;
use super::tree::position;
use crate::driver::cli::CliType;
use crate::driver::cli::found::FoundInstance;
use crate::driver::cli::instances::{ContentLocation, Instances, nodes_at};
use crate::driver::cli::rules::InstanceKind;
use crate::operation::{Action, Operation};
use crate::read::State;
use crate::read::indent::{Node, Tree};
use crate::secret::Text;
use crate::value::Attributes;

impl CliType {
    /// The index of instances that are blocks, if the operations only change lines inside of blocks
    /// that exist: the headers remain, and the index has nothing else.
    pub(super) fn index_of_same_blocks(
        &self,
        state: &State,
        operations: &[Operation],
    ) -> Option<Arc<Instances>> {
        let InstanceKind::Block(paths) = &self.instance.kind else {
            return None;
        };
        let index = self.indexed_instances(state);
        let levels = paths.iter().map(|path| path.levels().len()).max()?;
        let tree = state.tree(&self.instance.from)?;
        let is_inside = |operation: &Operation| {
            let Action::Line(line) = &operation.action else {
                return true;
            };
            let headers = self.headers_as_read(&line.mode);
            let block = self
                .block_position(state, &index, &headers)
                .and_then(|own| {
                    let mut inner = headers[own.len()..].iter();
                    let nodes = nodes_at(&tree.nodes, &own);
                    inner.try_fold(nodes, |nodes, header| {
                        let at = position(nodes, header)?;
                        Some(nodes[at].children.nodes.as_slice())
                    })
                });
            headers.len() >= levels && line.text.is_some() && block.is_some()
        };
        operations.iter().all(is_inside).then_some(index)
    }

    /// The position of the instance whose block has the first of these headers.
    pub(super) fn block_position(
        &self,
        state: &State,
        index: &Instances,
        headers: &[String],
    ) -> Option<Vec<usize>> {
        let tree = state.tree(&self.instance.from)?;
        let paths = self.instance.kind.paths();
        let bindings = (1..=headers.len()).rev().find_map(|depth| {
            let mut paths = paths.iter();
            paths.find_map(|path| path.read(&headers[..depth], self))
        })?;
        let mut names = FoundInstance::default();
        self.bind(bindings, &mut names);
        self.add_absent_names(&mut names.attributes);
        let mut blocks = index.named(self, &names.attributes);
        blocks.find_map(|indexed| {
            let ContentLocation::Block(position) = &indexed.location else {
                return None;
            };
            let mut level = tree.nodes.as_slice();
            let is_at = |(at, header): (&usize, &String)| {
                let node = &level[*at];
                level = &node.children.nodes;
                node.text.eq_ignore_ascii_case(header)
            };
            position
                .iter()
                .zip(headers)
                .all(is_at)
                .then(|| position.clone())
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
        let InstanceKind::Block(paths) = &self.instance.kind else {
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
