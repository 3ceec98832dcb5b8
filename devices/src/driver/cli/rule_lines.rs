//! What the rule of an attribute has: lines, by what they do, and the place of the value.

use std::ops::Range;

use super::rules::{Cell, CliAttributeRule, CliLocation, MoveRule, NoForm, TextBody};
use super::template::LineTemplate;
use crate::model::AttributeModel;
use crate::value::Value;

impl CliAttributeRule {
    pub(crate) fn nowhere(name: &str, span: Range<usize>) -> Self {
        Self {
            name: name.into(),
            span,
            ..Self::default()
        }
    }

    /// Whether its line contains the value. Otherwise the existence of the line is the value.
    pub(crate) fn has_own_hole(&self) -> bool {
        self.lines.iter().any(|line| line.has_attribute(&self.name))
    }

    /// Whether the device prints only the line that removes the attribute's line: it has the value
    /// without one.
    pub(crate) fn prints_only_no(&self) -> bool {
        self.absent == Some(Value::Bool(true)) && !self.lines.is_empty() && !self.has_own_hole()
    }

    pub(crate) fn takes_true(&self, model: &AttributeModel) -> bool {
        model.canonicalize(&true.into()).is_ok()
    }

    /// The cell of the instance's row that has the value.
    pub(crate) fn cell(&self) -> Option<&Cell> {
        match &self.location {
            CliLocation::Cell(cell) => Some(cell),
            _ => None,
        }
    }

    /// The blocks of members that have its lines.
    pub(crate) fn member_block(&self) -> Option<&LineTemplate> {
        match &self.location {
            CliLocation::Elsewhere(block) => Some(block),
            _ => None,
        }
    }

    /// The lines that move the instance.
    pub(crate) fn order(&self) -> Option<&MoveRule> {
        match &self.location {
            CliLocation::Order(order) => Some(order),
            _ => None,
        }
    }

    /// The place of a text of several lines.
    pub(crate) fn body(&self) -> Option<&TextBody> {
        match &self.location {
            CliLocation::Body(body) => Some(body),
            _ => None,
        }
    }

    /// The line that ends a text, which is the content of the instance's block.
    pub(crate) fn text_end(&self) -> Option<&str> {
        match self.body()? {
            TextBody::UpTo { end } => Some(end),
            TextBody::After { .. } => None,
        }
    }

    /// The words before a text between delimiters.
    pub(crate) fn words_of_text(&self) -> Option<&str> {
        match self.body()? {
            TextBody::After { words, .. } => Some(words),
            TextBody::UpTo { .. } => None,
        }
    }

    /// The global line with the default of instances.
    pub(crate) fn default_line(&self) -> Option<&LineTemplate> {
        self.default_line.as_ref().map(|default| &default.line)
    }

    /// Whether its value is in the line or the key of the instance.
    pub(crate) fn is_in_instance(&self) -> bool {
        matches!(self.location, CliLocation::Instance)
    }

    /// Whether it has lines of its own in the block of the instance.
    pub(crate) fn has_own_lines(&self) -> bool {
        matches!(self.location, CliLocation::Lines)
    }

    /// Whether lines set it. What a table shows is set by lines, too.
    pub(crate) fn is_set_by_lines(&self) -> bool {
        self.has_own_lines() || self.cell().is_some()
    }

    /// Whether the value is that of lines in the block of the instance.
    pub(crate) fn is_in_block(&self) -> bool {
        let has_lines = self.has_own_lines() || !self.beginnings().is_empty();
        has_lines || self.body().is_some() || self.is_inner_block()
    }

    pub(crate) fn is_inner_block(&self) -> bool {
        matches!(self.location, CliLocation::InnerBlock)
    }

    /// Whether it is a part of another attribute.
    pub(crate) fn is_part(&self) -> bool {
        matches!(self.location, CliLocation::Part { .. })
    }

    /// The inner block that contains the lines, for a spelling of the instance's block.
    pub(crate) fn sub(&self, spelling: usize) -> &[String] {
        let sub = self.sub.get(spelling).or(self.sub.first());
        sub.map_or(&[], Vec::as_slice)
    }

    /// Whether its lines may stand in the instance's block instead of an inner block.
    pub(crate) fn may_stand_outside(&self) -> bool {
        self.sub.iter().any(Vec::is_empty)
    }

    /// The part of a line that identifies it among those of the list.
    pub(crate) fn identity_of<'t>(&self, line: &'t str) -> Option<&'t str> {
        let found = self.identity.as_ref()?.find(line)?;
        (found.start() == 0).then_some(found.as_str())
    }

    /// Whether its lines have several attributes and are sent completely.
    pub(crate) fn is_group(&self) -> bool {
        !self.with.is_empty() && self.member_block().is_none()
    }

    /// Whether it is applied.
    pub(crate) fn is_applied(&self) -> bool {
        self.not_applied.is_none()
    }

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
