//! A type with a table in the form that the configuration alone shows: its instances are the blocks in
//! which its lines stand (`interface X`, `vlan 10`, `vlan 20-29,40`).
//!
//! The form is used for a device whose table is not known. Its names, lines and defaults are those of the type.

use std::sync::Arc;

use super::CliType;
use super::block_path::{BlockPath, LocatedBlock};
use super::rules::{CONFIG, CliAttributeRule, CliInstanceRule, CliLocation, InstanceKind};
use crate::driver::context::Context;
use crate::driver::implementation::Implementation;
use crate::driver::offline_rule::{OfflineRule, RowBlocks};
use crate::driver::read_rule::ParseRule;
use crate::read::indent::Node;

/// Longest range that is expanded; there are no more VLANs.
const LONGEST: u32 = 4096;

/// The word for no value.
const UNSET: &str = "unset";

impl CliType {
    /// The form of the type for the configuration alone. `None`: it does not show the instances.
    pub(super) fn in_config(&self, context: &Context<'_>) -> Option<Arc<dyn Implementation>> {
        let InstanceKind::Row { key, enter, .. } = &self.instance.kind else {
            return None;
        };
        let config = context.reads.get(CONFIG)?;
        let ParseRule::Indent(lines) = &config.parse else {
            return None;
        };
        let path = match (&self.instance.mode, enter) {
            (Some(mode), _) => mode.clone(),
            (None, Some(enter)) => BlockPath::of(enter.clone()),
            (None, None) => return None,
        };
        let mut names = key.iter();
        if key.is_empty() || !names.all(|(name, _)| path.has_attribute(name)) {
            return None;
        }
        let from = self.instance.from.as_str();
        let offline = context.reads.get(from)?.offline.as_ref();
        let others = self.requests.iter();
        let others = others.filter(|request| request.name != from && request.name != CONFIG);
        let attributes = self.attributes.iter();
        let mut form = CliType {
            requests: [&config.request]
                .into_iter()
                .chain(others)
                .cloned()
                .collect(),
            instance: CliInstanceRule {
                from: CONFIG.to_owned(),
                kind: InstanceKind::Block(vec![path]),
                mode: None,
                row_blocks: Some(offline.map(OfflineRule::row_blocks).unwrap_or_default()),
                ..self.instance.clone()
            },
            attributes: attributes
                .map(|(name, rule)| (name.clone(), self.in_lines(rule)))
                .collect(),
            opaque_ends: lines.opaque.iter().map(|rule| rule.end.clone()).collect(),
            split: lines.split.clone(),
            inactive: lines.inactive.clone(),
            foreign: lines.foreign.clone(),
            places: Vec::new(),
            in_config: None,
            ..self.clone()
        };
        form.find_value_heads();
        form.find_places();
        Some(Arc::new(form))
    }

    /// The rule of an attribute whose value is in its lines, not in a cell.
    fn in_lines(&self, rule: &CliAttributeRule) -> CliAttributeRule {
        if rule.cell().is_none() {
            return rule.clone();
        }
        if rule.lines.is_empty() && rule.set.is_empty() && rule.inside.is_none() {
            return CliAttributeRule::nowhere(&rule.name, rule.span.clone());
        }
        let unset = || {
            let has_line = rule.set.contains_key(UNSET);
            let unset = has_line.then(|| self.named_value(&rule.name, UNSET));
            unset.flatten()
        };
        CliAttributeRule {
            location: CliLocation::Lines,
            absent: rule.absent.clone().or_else(unset),
            is_always_printed: false,
            no_effect: Vec::new(),
            ..rule.clone()
        }
    }

    /// The blocks of this form that are instances. One of a list is none if it has a block of its own.
    pub(super) fn row_blocks<'t>(
        &self,
        rows: &RowBlocks,
        nodes: &'t [Node],
        path: &BlockPath,
    ) -> Vec<LocatedBlock<'t>> {
        let paths = std::slice::from_ref(path);
        let mut located = BlockPath::locate(paths, nodes, self);
        for (at, node) in nodes.iter().enumerate() {
            for header in one_by_one(&node.text) {
                let mut known = located.iter();
                if known.any(|block| block.headers.last() == Some(&header)) {
                    continue;
                }
                if let Some(bindings) = path.read(&[&header], self) {
                    located.push(LocatedBlock {
                        position: vec![at],
                        headers: vec![header],
                        bindings,
                        spelling: 0,
                        nodes: &node.children.nodes,
                    });
                }
            }
        }
        located.retain(|block| self.is_row_block(rows, block));
        located.sort_by(|a, b| a.position.cmp(&b.position));
        located
    }

    /// Whether a line is the header of several blocks of this form.
    pub(super) fn is_list_of_blocks(&self, text: &str) -> bool {
        let (Some(_), [path]) = (&self.instance.row_blocks, self.instance.kind.paths()) else {
            return false;
        };
        let mut headers = one_by_one(text).into_iter();
        headers.any(|header| path.read(&[header], self).is_some())
    }

    fn is_row_block(&self, rows: &RowBlocks, block: &LocatedBlock<'_>) -> bool {
        let mut headers = rows.first_lines.iter().zip(block.headers.last());
        if !headers.all(|(pattern, header)| pattern.is_match(header)) {
            return false;
        }
        let ensure = self.attributes.get("ensure");
        let is_explicit = |node: &Node| {
            let bindings = ensure.and_then(|rule| self.read_line(rule, node));
            bindings.is_some_and(|bindings| {
                let mut values = bindings.iter();
                values.any(|(_, value)| value.as_str() == Some("present"))
            })
        };
        let is_other = |node: &Node| rows.without.iter().any(|line| line.is_match(&node.text));
        block.nodes.iter().any(is_explicit) || !block.nodes.iter().any(is_other)
    }
}

/// Splits a line that ends with a list of numbers into one line per number. No lines for others.
fn one_by_one(line: &str) -> Vec<String> {
    let Some((head, list)) = line.rsplit_once(' ') else {
        return Vec::new();
    };
    if !list.contains([',', '-']) {
        return Vec::new();
    }
    let range = |piece: &str| -> Option<(u32, u32)> {
        let (low, high) = piece.split_once('-').unwrap_or((piece, piece));
        let (low, high) = (low.parse().ok()?, high.parse().ok()?);
        (high >= low && high - low <= LONGEST).then_some((low, high))
    };
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    let numbers = ranges
        .into_iter()
        .flatten()
        .flat_map(|(low, high)| low..=high);
    numbers.map(|number| format!("{head} {number}")).collect()
}
