//! Texts of several lines: banners between delimiters, and policies up to a last line.

use super::CliType;
use super::rules::{CliAttributeRule, TextBody, TextLimit};
use crate::driver::problem::ProblemKind;
use crate::read::indent::Node;
use crate::value::Value;

impl TextBody {
    /// The lines of a text, without those that the device does not store. The device indents the
    /// lines of a block by itself.
    pub(super) fn lines<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let text = text.trim_matches(['\r', '\n']);
        match self {
            TextBody::After { .. } if text.is_empty() => Vec::new(),
            TextBody::After { .. } => text.split('\n').collect(),
            TextBody::UpTo { .. } => {
                let lines = text.lines().map(str::trim_end);
                let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
                let depth = |line: &&str| line.len() - line.trim_start().len();
                let common = lines.iter().map(depth).min().unwrap_or(0);
                lines.into_iter().map(|line| &line[common..]).collect()
            }
        }
    }

    /// Whether two texts are one on the device.
    pub(super) fn is_same(&self, a: &str, b: &str) -> bool {
        match self {
            // Line ends before and after the text belong to its delimiters.
            TextBody::After { .. } => a.trim_matches(['\r', '\n']) == b.trim_matches(['\r', '\n']),
            TextBody::UpTo { .. } => {
                let words = |text| self.lines(text).into_iter().map(str::trim);
                words(a).eq(words(b))
            }
        }
    }
}

impl CliType {
    /// The texts of a block that a line ends, with the attribute.
    pub(super) fn block_text<'t>(
        &'t self,
        block: &'t Node,
    ) -> impl Iterator<Item = (&'t CliAttributeRule, Value)> {
        self.attributes.values().filter_map(|rule| {
            rule.text_end()?;
            let lines = rule.body()?.lines(block.body.as_deref()?);
            (!lines.is_empty()).then(|| (rule, lines.join("\n").into()))
        })
    }

    /// Why the device would not take a text as it is.
    pub(super) fn body_problem(
        &self,
        body: &TextBody,
        text: &str,
    ) -> Option<(ProblemKind, String)> {
        let end = match body {
            TextBody::UpTo { end }
            | TextBody::After {
                limit: TextLimit::Line(end),
                ..
            } => text.lines().map(str::trim).find(|line| line == end),
            TextBody::After {
                limit: TextLimit::Delimiters(delimiters),
                ..
            } => {
                if delimiters.iter().all(|delimiter| text.contains(*delimiter)) {
                    let message = "the text contains every possible delimiter".to_owned();
                    return Some((ProblemKind::Unchangeable, message));
                }
                let mut lines = text.lines();
                lines.find_map(|line| {
                    let mut ends = self.opaque_ends.iter();
                    ends.find_map(|end| Some(end.find(line)?.as_str()))
                })
            }
        };
        let message = format!(
            "a line of the text ends in `{}`, which ends the complete text on {}; \
             the lines after it would be lost: end the line with other characters",
            end?, self.platform
        );
        Some((ProblemKind::Unwritable, message))
    }
}
