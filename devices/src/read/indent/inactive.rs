//! Lines that the device has and does not use, and the lines that mark them:
//! `deactivate protocols bgp group S` marks all lines `set protocols bgp group S …`.
//!
//! They are apart from the other lines of a tree, so that no template reads them as values.

use super::{Node, Tree};
use crate::secret::Text;

/// The first words of lines that mark others as inactive, and of those that activate them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InactiveLines {
    pub(crate) mark: String,
    pub(crate) activate: String,
    /// The first word of other lines, which these words replace.
    pub(crate) replaced: Option<String>,
}

impl InactiveLines {
    /// The beginning of the lines that a line marks; `None` for other lines.
    pub(crate) fn marked(&self, line: &str) -> Option<String> {
        self.behind(&self.mark, line)
    }

    /// The beginning of the lines that a line activates; `None` for other lines.
    pub(crate) fn activated(&self, line: &str) -> Option<String> {
        self.behind(&self.activate, line)
    }

    /// The line that activates the lines with a beginning.
    pub(crate) fn activation(&self, beginning: &str) -> Text {
        let line = Text::plain(beginning);
        let mut activation = Text::plain(format!("{} ", self.activate));
        activation.append(match &self.replaced {
            Some(replaced) => line.without_first_word(replaced),
            None => line,
        });
        activation
    }

    fn behind(&self, word: &str, line: &str) -> Option<String> {
        let (first, rest) = line.split_once(' ')?;
        let is_word = first.eq_ignore_ascii_case(word);
        is_word.then(|| match &self.replaced {
            Some(replaced) => format!("{replaced} {}", rest.trim_start()),
            None => rest.trim_start().to_owned(),
        })
    }
}

/// Lines that the device does not use.
#[derive(Clone, Debug, Default)]
pub(crate) struct InactiveNodes(Vec<Node>);

impl Tree {
    /// The lines of the top level that the device does not use, and those that mark them.
    pub(crate) fn inactive(&self) -> &[Node] {
        self.inactive.as_ref().map_or(&[], |inactive| &inactive.0)
    }

    pub(crate) fn inactive_mut(&mut self) -> &mut Vec<Node> {
        &mut self.inactive.get_or_insert_default().0
    }

    /// The beginnings of the lines that are inactive.
    pub(crate) fn marks(&self, rule: &InactiveLines) -> Vec<String> {
        let lines = self.nodes.iter().chain(self.inactive());
        lines.filter_map(|node| rule.marked(&node.text)).collect()
    }

    /// Separates the inactive lines, and those that mark them, from the others.
    pub(crate) fn separate_inactive(&mut self, rule: &InactiveLines) {
        let marks = self.marks(rule);
        if marks.is_empty() {
            return;
        }
        let inactive = self
            .nodes
            .extract_if(.., |node| is_inactive(&node.text, &marks, rule));
        let inactive: Vec<Node> = inactive.collect();
        self.inactive_mut().extend(inactive);
    }
}

/// Whether a line is one of those with these marks, or a mark.
pub(crate) fn is_inactive(line: &str, marks: &[String], rule: &InactiveLines) -> bool {
    rule.marked(line).is_some() || marks.iter().any(|mark| is_under(line, mark))
}

/// Whether a line begins with the words of another.
pub(crate) fn is_under(line: &str, beginning: &str) -> bool {
    let mut words = line.split_whitespace();
    let mut beginning = beginning.split_whitespace();
    beginning.all(|word| words.next() == Some(word))
}
