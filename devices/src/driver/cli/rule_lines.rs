//! The lines of an attribute, by what they do.

use super::rules::{CliAttributeRule, CliLocation, NoForm};
use super::template::LineTemplate;

impl CliAttributeRule {
    /// The lines that have or stand for a value.
    pub(crate) fn value_lines(&self) -> impl Iterator<Item = &LineTemplate> {
        self.lines.iter().chain(self.set.values().flatten())
    }

    /// The line that removes the value, if it has words of its own.
    pub(crate) fn own_no(&self) -> Option<&LineTemplate> {
        match &self.no {
            NoForm::Text(no) => Some(no),
            NoForm::Head | NoForm::Full => None,
        }
    }

    /// All lines that set, change or remove the value.
    pub(crate) fn sent_lines(&self) -> impl Iterator<Item = &LineTemplate> {
        let values = self.value_lines().chain(self.set_changes());
        values.chain(self.own_no())
    }

    /// The beginnings of lines whose existence is the value.
    pub(crate) fn beginnings(&self) -> &[LineTemplate] {
        match &self.location {
            CliLocation::Exists(texts) => texts,
            _ => &[],
        }
    }

    /// All lines that are read or sent, to change them.
    pub(crate) fn lines_mut(&mut self) -> impl Iterator<Item = &mut LineTemplate> {
        let beginnings = match &mut self.location {
            CliLocation::Exists(texts) => texts.as_mut_slice(),
            _ => &mut [],
        };
        let no = match &mut self.no {
            NoForm::Text(no) => Some(no),
            NoForm::Head | NoForm::Full => None,
        };
        let values = self.lines.iter_mut();
        let values = values.chain(self.set.values_mut().flatten());
        let changes = self.more.iter_mut().chain(&mut self.less);
        values.chain(changes).chain(no).chain(beginnings)
    }

    /// The lines that change a set of numbers.
    pub(crate) fn set_changes(&self) -> impl Iterator<Item = &LineTemplate> {
        self.more.iter().chain(&self.less)
    }
}
