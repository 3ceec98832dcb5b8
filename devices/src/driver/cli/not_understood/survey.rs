//! The search through the lines and rows of a device for those that a type does not understand.

use super::super::CliType;
use super::super::members::MemberVocabulary;
use super::super::rules::{CONFIG, Cell, CliAttributeRule, CliLocation, InstanceKind};
use super::super::template::{LineTemplate, Vocabulary};
use super::shape::{Candidate, Opening, Shape, instance_shapes};
use crate::driver::implementation::IsReadByOther;
use crate::not_understood::{Extent, InstanceNames, NotUnderstood};
use crate::read::State;
use crate::read::indent::Node;
use crate::read::row::Row;
use crate::secret::MASK;
use crate::value::{Attributes, Name, Value};

/// The context of lines: the blocks around them, and the instance that these belong to.
pub(super) struct LineContext<'a> {
    read: &'a str,
    blocks: Vec<&'a Node>,
    instance: InstanceNames,
    /// The list and its member whose block this is.
    member: Option<(Name, Value)>,
}

impl<'a> LineContext<'a> {
    pub(super) fn top(read: &'a str, instance: InstanceNames) -> Self {
        Self {
            read,
            blocks: Vec::new(),
            instance,
            member: None,
        }
    }

    fn below(read: &'a str, block: &'a Node, instance: InstanceNames) -> Self {
        Self {
            blocks: vec![block],
            ..Self::top(read, instance)
        }
    }
}

/// The search for lines that a type does not understand.
pub(super) struct Survey<'a> {
    pub(super) cli: &'a CliType,
    pub(super) is_read_by_other: &'a IsReadByOther<'a>,
    pub(super) found: Vec<NotUnderstood>,
}

impl<'a> Survey<'a> {
    pub(super) fn blocks(
        &mut self,
        state: &State,
        nodes: &'a [Node],
        spellings: &'a [LineTemplate],
    ) {
        let cli = self.cli;
        let indexed = cli.indexed_instances(state);
        let headers = instance_shapes(spellings);
        let mut blocks = indexed.all.iter().peekable();
        let shapes = cli.attribute_shapes(&|_| true);
        let has_sub = cli.attributes.values().any(|rule| !rule.sub.is_empty());
        for (index, node) in nodes.iter().enumerate() {
            let Some(block) = blocks.next_if(|block| block.index == index) else {
                let context = LineContext::top(
                    &cli.instance.from,
                    InstanceNames::Named(Attributes::default()),
                );
                self.line(node, &headers, &context);
                continue;
            };
            let names = cli.names_of(&block.found.attributes);
            let context = LineContext::below(&cli.instance.from, node, names);
            if has_sub {
                self.block_with_sub(node, spellings, &shapes, context);
            } else {
                self.lines(&node.children.nodes, &shapes, &context);
            }
        }
    }

    /// The lines of a block with inner blocks.
    fn block_with_sub(
        &mut self,
        block: &'a Node,
        spellings: &'a [LineTemplate],
        shapes: &[Shape<'a>],
        mut context: LineContext<'a>,
    ) {
        let cli = self.cli;
        let spelling = cli.spelling_of(spellings, &block.text).unwrap_or_default();
        let sub_of = |rule: &'a CliAttributeRule| {
            rule.sub
                .get(spelling)
                .map(String::as_str)
                .filter(|sub| !sub.is_empty())
        };
        for node in &block.children.nodes {
            let mut subs = cli.attributes.values().filter_map(sub_of);
            if subs.any(|sub| sub == node.text) {
                let inner = cli.attribute_shapes(&|rule| {
                    rule.sub.get(spelling).is_some_and(|sub| *sub == node.text)
                });
                context.blocks.push(node);
                self.lines(&node.children.nodes, &inner, &context);
                context.blocks.pop();
                continue;
            }
            let headers = cli.attributes.values().filter_map(|rule| {
                Some(Shape {
                    opening: Opening::Words(sub_of(rule)?),
                    rule: Some(rule),
                })
            });
            let headers: Vec<Shape<'a>> = headers.collect();
            self.line(node, shapes, &context);
            self.line(node, &headers, &context);
        }
    }

    pub(super) fn instance_lines(
        &mut self,
        nodes: &'a [Node],
        block: &'a [LineTemplate],
        spellings: &'a [LineTemplate],
    ) {
        let cli = self.cli;
        let unknown = InstanceNames::Named(Attributes::default());
        let context = LineContext::top(&cli.instance.from, unknown.clone());
        let shapes = instance_shapes(spellings);
        if block.is_empty() {
            self.lines(nodes, &shapes, &context);
            return;
        }
        let headers = instance_shapes(block);
        for node in nodes {
            match LineTemplate::first_match(block, &node.text, cli) {
                Some(bindings) => {
                    let names = cli.names_in(&bindings, &unknown);
                    let context = LineContext::below(&cli.instance.from, node, names);
                    self.lines(&node.children.nodes, &shapes, &context);
                }
                None => self.line(node, &headers, &context),
            }
        }
    }

    pub(super) fn members(
        &mut self,
        nodes: &'a [Node],
        rule: &'a CliAttributeRule,
        block: &'a LineTemplate,
    ) {
        let cli = self.cli;
        let words = MemberVocabulary {
            cli,
            of: &rule.name,
        };
        let shapes: Vec<Shape<'a>> = rule
            .lines
            .iter()
            .map(|line| Shape {
                opening: Opening::Template(line),
                rule: Some(rule),
            })
            .collect();
        for node in nodes {
            let begins = |line: &Node| shapes.iter().any(|shape| shape.begins(self.cli, line));
            if !node.children.nodes.iter().any(begins) {
                continue;
            }
            let header = block.read(&node.text, &words).unwrap_or_default();
            let Some((_, member)) = header.into_iter().find(|(name, _)| name == "member") else {
                continue;
            };
            let mut context =
                LineContext::below(CONFIG, node, InstanceNames::Named(Attributes::default()));
            context.member = Some((rule.name.clone(), member));
            self.lines(&node.children.nodes, &shapes, &context);
        }
    }

    /// Lines that set the defaults of instances. Other lines may begin with the same words.
    pub(super) fn default_lines(
        &mut self,
        nodes: &'a [Node],
        rule: &'a CliAttributeRule,
        line: &'a LineTemplate,
    ) {
        for node in nodes.iter().filter(|node| line.begins(&node.text)) {
            let partial = line.read_beginning(&node.text, self.cli);
            if partial.has_all_parts && line.read(&node.text, self.cli).is_none() {
                self.add(
                    Some(rule),
                    Vec::new(),
                    self.cli.masked(&node.text, Some(line)),
                    InstanceNames::Named(Attributes::default()),
                    Extent::Nothing,
                );
            }
        }
    }

    pub(super) fn lines(
        &mut self,
        nodes: &'a [Node],
        shapes: &[Shape<'a>],
        context: &LineContext<'a>,
    ) {
        for node in nodes {
            self.line(node, shapes, context);
        }
    }

    /// Adds a line that begins like one of the shapes and that none reads.
    fn line(&mut self, node: &'a Node, shapes: &[Shape<'a>], context: &LineContext<'a>) {
        let cli = self.cli;
        let mut best: Option<Candidate<'a>> = None;
        for shape in shapes {
            if !shape.begins(self.cli, node) {
                continue;
            }
            if shape.reads(cli, node) {
                return;
            }
            let candidate = shape.candidate(cli, node);
            if candidate
                .bindings
                .iter()
                .any(|binding| cli.is_skipped(binding))
            {
                return;
            }
            if best
                .as_ref()
                .is_none_or(|best| candidate.is_identified && !best.is_identified)
            {
                best = Some(candidate);
            }
        }
        let Some(candidate) = best else {
            return;
        };
        let mut path = context.blocks.clone();
        path.push(node);
        if !candidate.is_identified && (self.is_read_by_other)(context.read, &path) {
            return;
        }
        let blocks = context
            .blocks
            .iter()
            .map(|block| block.text.clone())
            .collect();
        let extent = match (candidate.rule, &context.member) {
            (None, _) => Extent::Instance,
            (Some(rule), Some((list, member))) => Extent::Member {
                attributes: cli.sharing(rule),
                list: list.clone(),
                member: member.clone(),
            },
            (Some(rule), None) if rule.many => Extent::Element,
            (Some(rule), None) => Extent::Attributes(cli.sharing(rule)),
        };
        let instance = cli.names_in(&candidate.bindings, &context.instance);
        let text = cli.masked(&node.text, candidate.template);
        self.add(candidate.rule, blocks, text, instance, extent);
    }

    pub(super) fn rows(&mut self, rows: &'a [Row], key: &[(String, String)]) {
        let cli = self.cli;
        for row in rows {
            let mut names = Attributes::default();
            let mut texts = Vec::new();
            for (attribute, column) in key {
                let text = row.get(column).unwrap_or_default();
                texts.push(format!("{column} {text}"));
                if let Some(value) = cli.read(attribute, text) {
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
                if let CliLocation::Cell(cell) = &rule.location
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
        rows: &'a [Row],
        key: &str,
        rule: &'a CliAttributeRule,
        cell: &'a Cell,
    ) {
        for row in rows {
            if let Some(text) = self.unread_cell(rule, cell, row) {
                let row = format!("{key} {}", row.get(key).unwrap_or_default());
                let names = InstanceNames::Named(Attributes::default());
                self.add(Some(rule), vec![row], text, names, Extent::Nothing);
            }
        }
    }

    /// A cell with a text that is no value of the attribute.
    fn unread_cell(&self, rule: &CliAttributeRule, cell: &Cell, row: &Row) -> Option<String> {
        let text = row.get(&cell.name).filter(|text| !text.is_empty())?;
        if self.cli.cell_value(&rule.name, cell, text).is_some() {
            return None;
        }
        let is_secret = self.cli.is_secret(&rule.name);
        let text = if is_secret { MASK } else { text };
        Some(format!("{}: {text}", cell.name))
    }

    /// Adds the line of an instance that was read with a syntax for any words.
    pub(super) fn add_instance_line(
        &mut self,
        block: Option<&str>,
        line: &str,
        names: InstanceNames,
        extent: Extent,
    ) {
        let blocks = block.map(str::to_owned).into_iter().collect();
        let templates = match &self.cli.instance.kind {
            InstanceKind::Line { spellings, .. } => spellings.first(),
            _ => None,
        };
        let text = self.cli.masked(line, templates);
        self.add(None, blocks, text, names, extent);
    }

    fn add(
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
