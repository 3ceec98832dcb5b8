//! The search through the lines and rows of a device for those that a type does not understand.

use foldhash::HashMap;

use super::super::CliType;
use super::super::find::CellValue;
use super::super::found::OTHER_WORDS;
use super::super::rules::{Cell, CliAttributeRule, DefaultCell};
use super::super::slot::{Candidate, Slot, SlotForm};
use super::super::template::Vocabulary;
use super::super::walk::{LineContext, LineUse};
use super::second_lines::FirstLine;
use crate::driver::implementation::IsReadByOther;
use crate::not_understood::{Extent, InstanceNames, NotUnderstood};
use crate::read::indent::Node;
use crate::read::row::Row;
use crate::secret::MASK;
use crate::value::{Attributes, Name};

/// The lines and rows that a type does not understand.
pub(super) struct Survey<'a> {
    pub(super) cli: &'a CliType,
    pub(super) is_read_by_other: &'a IsReadByOther<'a>,
    pub(super) found: Vec<NotUnderstood>,
    /// The first line of each attribute with one value, by block and names.
    pub(super) first_lines: HashMap<(usize, Name, String), FirstLine<'a>>,
}

impl<'a> Survey<'a> {
    /// Adds a line that is not understood, or not completely.
    pub(super) fn line(
        &mut self,
        node: &'a Node,
        context: &LineContext<'a>,
        found: LineUse<'a, '_>,
    ) {
        match found {
            LineUse::Block(_)
            | LineUse::Instance(_)
            | LineUse::InnerBlock(_)
            | LineUse::Other(_) => {}
            LineUse::Read(slot) => {
                self.second_line(node, slot, context);
                self.other_words(node, slot, context);
            }
            LineUse::Begins(candidate) => self.beginning(node, candidate, context),
        }
    }

    /// Adds a line that begins like one of the type.
    fn beginning(&mut self, node: &'a Node, candidate: Candidate<'a>, context: &LineContext<'a>) {
        let cli = self.cli;
        let rule = candidate.slot.rule;
        let may_be_of_other = match candidate.slot.form {
            SlotForm::InnerHeader(_) if cli.foreign.is_match(&node.text) => return,
            // Other lines may begin with the words of a default.
            SlotForm::Default(_) if !candidate.is_identified => return,
            // A block whose header has further words is another block.
            SlotForm::InnerHeader(_) => true,
            _ => {
                // Behind `switchport` no value stands: more words are those of another line. At the top level, a type may
                // read all lines with a first word.
                let template = candidate.slot.template();
                let has_no_value = !context.blocks.is_empty()
                    && template.is_some_and(|line| !line.has_placeholder());
                let may_be = rule.is_none() || candidate.is_value_head() || has_no_value;
                !candidate.is_identified && may_be
            }
        };
        if may_be_of_other && self.is_of_other(node, context) {
            return;
        }
        let instance = cli.names_in(&candidate.bindings, &context.instance);
        let is_header = matches!(candidate.slot.form, SlotForm::Header(_));
        let extent = match (rule, &context.member) {
            // A block or lines that are those of no resource.
            (None, _) if is_header && !cli.has_all_names(&instance) => Extent::Nothing,
            (None, _) => Extent::Instance,
            _ if matches!(candidate.slot.form, SlotForm::Default(_)) => Extent::Nothing,
            (Some(rule), Some((list, member))) => Extent::Member {
                attributes: cli.sharing(rule),
                list: list.clone(),
                member: member.clone(),
            },
            (Some(rule), None) if rule.many => Extent::Element,
            (Some(rule), None) => Extent::Attributes(cli.sharing(rule)),
        };
        let text = cli.masked(&node.text, candidate.slot.template());
        self.add(rule, context.headers(), text, instance, extent);
    }

    /// Whether a line is one of another type.
    fn is_of_other(&self, node: &'a Node, context: &LineContext<'a>) -> bool {
        let mut path = context.blocks.clone();
        path.push(node);
        (self.is_read_by_other)(context.read, &path)
    }

    /// Adds a line of elements with words that no attribute expresses.
    fn other_words(&mut self, node: &'a Node, slot: Slot<'a>, context: &LineContext<'a>) {
        let cli = self.cli;
        let rule = slot.rule.filter(|rule| rule.many);
        let Some((rule, bindings)) = rule.and_then(|rule| Some((rule, cli.read_line(rule, node)?)))
        else {
            return;
        };
        if bindings.iter().all(|(name, _)| name != OTHER_WORDS) {
            return;
        }
        let names = cli.names_in(&bindings, &context.instance);
        let Some(elements) = cli.elements_in(rule, &node.text) else {
            return;
        };
        let extent = Extent::Removed {
            list: rule.name.clone(),
            elements,
        };
        let text = cli.masked(&node.text, rule.lines.first());
        self.add(Some(rule), context.headers(), text, names, extent);
    }

    pub(super) fn rows(&mut self, rows: &[Row], key: &[(String, String)]) {
        let cli = self.cli;
        for row in rows {
            let mut names = Attributes::default();
            let mut texts = Vec::new();
            for (attribute, column) in key {
                let text = row.text(column);
                texts.push(format!("{column} {text}"));
                let value = row.get(column).and_then(|_| cli.read(attribute, &text));
                if let Some(value) = value {
                    names.insert(attribute.clone(), cli.finished(attribute, value));
                }
            }
            let is_complete = key
                .iter()
                .all(|(attribute, _)| names.contains_key(attribute));
            let names = InstanceNames::Named(names);
            if !is_complete {
                self.add(None, Vec::new(), texts.join(", "), names, Extent::Instance);
                continue;
            }
            for rule in cli.attributes.values() {
                if let Some(cell) = rule.cell()
                    && let Some(text) = self.unread_cell(rule, cell, row)
                {
                    let extent = Extent::Attributes(cli.sharing(rule));
                    self.add(Some(rule), texts.clone(), text, names.clone(), extent);
                }
            }
        }
    }

    /// Cells that show the defaults of instances.
    pub(super) fn default_cells(
        &mut self,
        rows: &[Row],
        rule: &'a CliAttributeRule,
        DefaultCell { key, cell, .. }: &DefaultCell,
    ) {
        let cli = self.cli;
        for row in rows {
            let name = format!("{key} {}", row.text(key));
            let names = InstanceNames::Named(Attributes::default());
            let mut namevars = cli.model.namevars();
            let is_name = |namevar| cli.read(namevar, &row.text(key)).is_some();
            if !namevars.next().is_some_and(is_name) {
                self.add(Some(rule), Vec::new(), name, names, Extent::Nothing);
            } else if let Some(text) = self.unread_cell(rule, cell, row) {
                self.add(Some(rule), vec![name], text, names, Extent::Nothing);
            }
        }
    }

    /// A cell with a text that is no value of the attribute.
    fn unread_cell(&self, rule: &CliAttributeRule, cell: &Cell, row: &Row) -> Option<String> {
        if !matches!(
            self.cli.cell_value(&rule.name, cell, row),
            CellValue::NotUnderstood
        ) {
            return None;
        }
        let is_secret = self.cli.is_secret(&rule.name);
        let text = row.text(&cell.name);
        let text = if is_secret { MASK } else { &text };
        Some(format!("{}: {text}", cell.name))
    }

    /// Adds the line of an instance that was read with a syntax for any words.
    pub(super) fn add_instance_line(
        &mut self,
        blocks: Vec<String>,
        line: &str,
        names: InstanceNames,
        extent: Extent,
    ) {
        let template = self.cli.instance.kind.lines().first();
        let text = self.cli.masked(line, template);
        self.add(None, blocks, text, names, extent);
    }

    pub(super) fn add(
        &mut self,
        rule: Option<&CliAttributeRule>,
        path: Vec<String>,
        text: String,
        instance: InstanceNames,
        extent: Extent,
    ) {
        let found = NotUnderstood {
            type_name: self.cli.model.name.clone(),
            attribute: rule.map(|rule| rule.name.clone()),
            path,
            text,
            instance,
            extent,
        };
        self.found.push(found);
    }
}
