//! Whether a type reads a line, given the blocks around it.

use super::super::CliType;
use super::super::block_path::{self, BlockLevel, BlockPath};
use super::super::rules::{
    CONFIG, CliAttributeRule, CliInstanceRule, CliLocation, Fallback, InstanceKind,
};
use super::super::template::LineTemplate;
use crate::read::indent::Node;

impl CliType {
    /// Whether the type reads a line below its blocks.
    pub(in crate::driver::cli) fn reads_path(&self, read: &str, path: &[&Node]) -> bool {
        let CliInstanceRule { from, kind, .. } = &self.instance;
        let of_instance = || match (kind, path) {
            (InstanceKind::Row { .. }, _) => false,
            (kind, path) => self.reads_below(kind.paths(), path),
        };
        let of_attribute = |rule: &CliAttributeRule| match (&rule.location, &rule.fallback, path) {
            (CliLocation::Elsewhere(block), _, [header, line]) => {
                LineTemplate::first_match(&rule.lines, &line.text, self).is_some()
                    && self.member_in(rule, block, header).is_some()
            }
            (_, Some(Fallback::Line { line, .. }), [node]) => line.read(&node.text, self).is_some(),
            _ => false,
        };
        let enters = || match (kind, path) {
            (
                InstanceKind::Row {
                    enter: Some(enter), ..
                },
                [line],
            ) => enter.read(&line.text, self).is_some(),
            _ => false,
        };
        (read == from && of_instance())
            || (read == CONFIG && (enters() || self.attributes.values().any(of_attribute)))
    }

    /// Whether the line is the header of a block of the type, or stands in one.
    fn reads_below(&self, paths: &[BlockPath], path: &[&Node]) -> bool {
        let headers: Vec<&str> = path.iter().map(|node| node.text.as_str()).collect();
        let is_in = |spelling: usize, block: &BlockPath| {
            block.leads_through(&headers, self)
                || (0..path.len()).any(|depth| {
                    let inner = &path[depth..];
                    block.read(&headers[..depth], self).is_some()
                        && self.reads_inside(spelling, inner)
                })
        };
        match paths {
            [] => self.reads_inside(0, path),
            paths => (0..)
                .zip(paths)
                .any(|(spelling, block)| is_in(spelling, block)),
        }
    }

    /// Whether the type reads a line in a block of it, or in inner blocks of that.
    fn reads_inside(&self, spelling: usize, path: &[&Node]) -> bool {
        let Some((line, inner)) = path.split_last() else {
            return false;
        };
        if let InstanceKind::Line { .. } = &self.instance.kind {
            let spellings = self.instance.kind.spellings_in(spelling);
            return inner.is_empty() && self.reads_instance_line(spellings, line);
        }
        let is_at = |sub: &[String], path: &[&Node]| {
            let pairs = sub.iter().zip(path);
            sub.len() == path.len()
                && pairs
                    .into_iter()
                    .all(|(sub, node)| node.text.eq_ignore_ascii_case(sub))
        };
        let mut subs = self.subs(spelling).into_iter();
        if subs.any(|sub| {
            sub.get(..path.len())
                .is_some_and(|start| is_at(start, path))
        }) {
            return true;
        }
        if let Some(lines) = self.instance.kind.named() {
            if lines.split(&line.text, self).is_none() {
                return false;
            }
            let create = &self.instance.create;
            if lines.is_bare(line, self) || self.reads_instance_line(create, line) {
                return true;
            }
        }
        self.reads_attribute(line, &|rule| {
            is_at(rule.sub(spelling), inner) || inner.is_empty() && rule.may_stand_outside()
        })
    }

    /// Whether the type reads a line where one of these paths ends.
    pub(super) fn reads_in(&self, paths: &[(usize, &[BlockLevel])], line: &Node) -> bool {
        let mut ends = paths
            .iter()
            .filter(|(_, levels)| block_path::is_complete(levels));
        ends.any(|(spelling, _)| self.reads_inside(*spelling, &[line]))
    }

    /// Whether a template reads the line, and its values are no words of other lines.
    fn reads_instance_line(&self, templates: &[LineTemplate], line: &Node) -> bool {
        let bindings = LineTemplate::first_match(templates, &line.text, self);
        bindings.is_some_and(|bindings| {
            let mut bindings = bindings.iter();
            !bindings.any(|binding| self.is_skipped(binding))
        })
    }

    fn reads_attribute(&self, node: &Node, concerned: &dyn Fn(&CliAttributeRule) -> bool) -> bool {
        let mut shapes = self.attribute_shapes(concerned).into_iter();
        shapes.any(|shape| shape.reads(self, node))
    }
}
