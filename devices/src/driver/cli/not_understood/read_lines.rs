//! Whether a type reads a line, given the blocks around it.

use super::super::CliType;
use super::super::members::MemberVocabulary;
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
            (InstanceKind::Singleton(_), [line]) => self.reads_attribute(line, &|_| true),
            (InstanceKind::Block(spellings), [block, inner @ ..]) => {
                let Some(spelling) = self.spelling_of(spellings, &block.text) else {
                    return false;
                };
                let sub = |rule: &CliAttributeRule| rule.sub.get(spelling).cloned();
                match inner {
                    [] => true,
                    [line] => {
                        self.reads_attribute(line, &|_| true)
                            || self
                                .attributes
                                .values()
                                .any(|rule| sub(rule).as_ref() == Some(&line.text))
                    }
                    [sub_block, line] => self
                        .reads_attribute(line, &|rule| sub(rule).as_ref() == Some(&sub_block.text)),
                    _ => false,
                }
            }
            (InstanceKind::Line { block, spellings }, [line]) => {
                let templates = if block.is_empty() { spellings } else { block };
                self.reads_instance_line(templates, line)
            }
            (InstanceKind::Line { block, spellings }, [header, line]) => {
                self.reads_instance_line(block, header) && self.reads_instance_line(spellings, line)
            }
            _ => false,
        };
        let of_attribute = |rule: &CliAttributeRule| match (&rule.location, &rule.fallback, path) {
            (CliLocation::Elsewhere(block), _, [header, line]) => {
                let words = MemberVocabulary {
                    cli: self,
                    of: &rule.name,
                };
                LineTemplate::first_match(&rule.lines, &line.text, self).is_some()
                    && block.read(&header.text, &words).is_some()
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
