//! The search through the lines and rows of a device for those that a type does not understand.

use foldhash::HashMap;

use super::super::CliType;
use super::super::block_path::{self, BlockLevel, BlockPath};
use super::super::find::CellValue;
use super::super::found::OTHER_WORDS;
use super::super::rules::{CONFIG, Cell, CliAttributeRule, CliLocation, InstanceKind};
use super::super::template::{LineTemplate, Vocabulary};
use super::second_lines::FirstLine;
use super::shape::{Candidate, Opening, Shape};
use crate::driver::implementation::IsReadByOther;
use crate::not_understood::{Extent, InstanceNames, NotUnderstood};
use crate::read::indent::Node;
use crate::read::row::Row;
use crate::secret::MASK;
use crate::value::{Attributes, Name, Value};

/// The context of lines: the blocks around them, and the instance that these belong to.
pub(super) struct LineContext<'a> {
    read: &'a str,
    pub(super) blocks: Vec<&'a Node>,
    pub(super) instance: InstanceNames,
    /// The list and its member whose block this is.
    pub(super) member: Option<(Name, Value)>,
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
        Self::top(read, instance.clone()).inside(block, instance)
    }

    /// The context in a block.
    fn inside(&self, block: &'a Node, instance: InstanceNames) -> Self {
        let mut inside = self.of(instance);
        inside.blocks.push(block);
        inside
    }

    /// The context of lines of an instance.
    fn of(&self, instance: InstanceNames) -> Self {
        Self {
            read: self.read,
            blocks: self.blocks.clone(),
            instance,
            member: self.member.clone(),
        }
    }
}

/// The search for lines that a type does not understand.
pub(super) struct Survey<'a> {
    pub(super) cli: &'a CliType,
    pub(super) is_read_by_other: &'a IsReadByOther<'a>,
    pub(super) found: Vec<NotUnderstood>,
    /// The first line of each attribute with one value, in the block that is searched.
    pub(super) first_lines: HashMap<(Name, String), FirstLine<'a>>,
}

impl<'a> Survey<'a> {
    /// The blocks of the type, and what stands in them.
    pub(super) fn blocks(&mut self, nodes: &'a [Node], paths: &'a [BlockPath]) {
        let unknown = InstanceNames::Named(Attributes::default());
        let context = LineContext::top(&self.cli.instance.from, unknown);
        let levels = paths.iter().map(BlockPath::levels).enumerate();
        match paths {
            [] => self.content(nodes, 0, context),
            _ => self.descend(nodes, &levels.collect::<Vec<_>>(), context),
        }
    }

    fn descend(
        &mut self,
        nodes: &'a [Node],
        paths: &[(usize, &'a [BlockLevel])],
        context: LineContext<'a>,
    ) {
        let cli = self.cli;
        let mut headers = Vec::new();
        for (_, levels) in paths {
            let optional = levels.iter().take_while(|level| level.is_optional).count();
            let next = levels.iter().take(optional + 1);
            headers.extend(next.map(|level| Shape::of_header(&level.header)));
        }
        for node in nodes.iter().filter(|_| !headers.is_empty()) {
            let (mut names, mut is_skipped) = (None, false);
            let entered = paths.iter().filter_map(|(spelling, levels)| {
                let (bindings, rest) = block_path::enter(levels, &node.text, cli)?;
                is_skipped |= bindings.iter().any(|binding| cli.is_skipped(binding));
                names.get_or_insert_with(|| cli.names_in(&bindings, &context.instance));
                Some((*spelling, rest))
            });
            let entered: Vec<_> = entered.collect();
            match names {
                Some(_) if is_skipped => {}
                Some(names) => {
                    self.descend(&node.children.nodes, &entered, context.inside(node, names))
                }
                // A line at the top level begins like the header of a block.
                None if cli.instance.kind.has_forms() && cli.reads_in(paths, node) => {}
                None => self.line(node, &headers, &context),
            }
        }
        let end = paths
            .iter()
            .find(|(_, levels)| block_path::is_complete(levels));
        if let Some((spelling, _)) = end {
            self.content(nodes, *spelling, context);
        }
    }

    /// The lines of an instance, or of several with a common beginning, and of their inner blocks.
    pub(super) fn content(&mut self, nodes: &'a [Node], spelling: usize, context: LineContext<'a>) {
        let cli = self.cli;
        self.first_lines.clear();
        if let InstanceKind::Line { block, .. } = &cli.instance.kind {
            let spellings = cli.instance.kind.spellings_in(spelling);
            let shapes: Vec<Shape<'a>> = spellings.iter().map(Shape::of_instance).collect();
            // A block of another form may begin like a line of this one.
            let blocks = block.iter().filter(|_| cli.instance.kind.has_forms());
            let blocks: Vec<&BlockPath> = blocks.filter(|path| !path.is_top_level()).collect();
            let is_block = |node: &&Node| {
                let mut blocks = blocks.iter();
                blocks.any(|path| block_path::enter(path.levels(), &node.text, cli).is_some())
            };
            for node in nodes.iter().filter(|node| !is_block(node)) {
                self.line(node, &shapes, &context);
            }
            return;
        }
        let mut shapes =
            cli.attribute_shapes(&|rule| rule.sub(spelling).is_empty() || rule.may_stand_outside());
        shapes.extend(cli.instance.create.iter().map(Shape::of_instance));
        let named = cli.instance.kind.named();
        let openings = named.iter().flat_map(|lines| &lines.openings);
        let headers: Vec<Shape<'a>> = openings.map(Shape::of_header).collect();
        let before = self.found.len();
        self.attribute_lines(nodes, &shapes, &headers, &context);
        let subs = cli.subs(spelling);
        // The header of an inner block is no line of an attribute, though it may begin like one.
        let is_header = |text: &str| {
            let mut headers = subs.iter().filter_map(|sub| sub.first());
            headers.any(|header| header.eq_ignore_ascii_case(text))
        };
        let mut index = 0;
        self.found.retain(|found| {
            index += 1;
            index <= before || !is_header(&found.text)
        });
        for sub in subs {
            let is_inside = |rule: &CliAttributeRule| rule.sub(spelling) == sub;
            let rule = cli.attributes.values().find(|rule| is_inside(rule));
            let shapes = cli.attribute_shapes(&is_inside);
            self.inner_lines(nodes, sub, rule, &shapes, &context);
        }
    }

    /// The lines in an inner block with these headers.
    fn inner_lines(
        &mut self,
        nodes: &'a [Node],
        headers: &'a [String],
        rule: Option<&'a CliAttributeRule>,
        shapes: &[Shape<'a>],
        context: &LineContext<'a>,
    ) {
        let Some((first, rest)) = headers.split_first() else {
            return self.attribute_lines(nodes, shapes, &[], context);
        };
        let header = [Shape {
            opening: Opening::Words(first),
            rule,
        }];
        for node in nodes {
            if node.text.eq_ignore_ascii_case(first) {
                let inside = context.inside(node, context.instance.clone());
                self.inner_lines(&node.children.nodes, rest, rule, shapes, &inside);
            } else if !self.cli.foreign.is_match(&node.text) && !self.is_of_other(node, context) {
                self.line(node, &header, context);
            }
        }
    }

    /// Whether a line is one of another type: a block whose header has further words is another block.
    fn is_of_other(&self, node: &'a Node, context: &LineContext<'a>) -> bool {
        let mut path = context.blocks.clone();
        path.push(node);
        (self.is_read_by_other)(context.read, &path)
    }

    /// Lines of attributes, which may have the names. `headers` are their beginnings where other
    /// lines that begin like them are those of unknown instances.
    fn attribute_lines(
        &mut self,
        nodes: &'a [Node],
        shapes: &[Shape<'a>],
        headers: &[Shape<'a>],
        context: &LineContext<'a>,
    ) {
        let cli = self.cli;
        let Some(named) = cli.instance.kind.named() else {
            return self.lines(nodes, shapes, context);
        };
        for node in nodes {
            match named.split(&node.text, cli) {
                Some(line) if line.bindings.iter().any(|one| cli.is_skipped(one)) => {}
                Some(line) => {
                    let names = cli.names_in(&line.bindings, &context.instance);
                    self.line(node, shapes, &context.of(names));
                }
                None => self.line(node, headers, context),
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
            let Some(member) = cli.member_in(rule, block, node) else {
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
                self.second_line(node, shape, context);
                return self.other_words(node, shape, context);
            }
            let candidate = shape.candidate(cli, node);
            if candidate
                .bindings
                .iter()
                .any(|binding| cli.is_skipped(binding))
            {
                return;
            }
            let is_better = |best: &Candidate<'_>| {
                candidate.is_identified && !best.is_identified
                    || best.is_value_head && !candidate.is_value_head
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(candidate);
            }
        }
        let Some(candidate) = best else {
            return;
        };
        let is_of_attribute = candidate.rule.is_some() && !candidate.is_value_head;
        let is_of_type = candidate.is_identified || is_of_attribute;
        if !is_of_type && self.is_of_other(node, context) {
            return;
        }
        let blocks = context
            .blocks
            .iter()
            .map(|block| block.text.clone())
            .collect();
        let instance = cli.names_in(&candidate.bindings, &context.instance);
        let extent = match (candidate.rule, &context.member) {
            // A block or lines that are those of no resource.
            (None, _) if candidate.is_header && !cli.has_all_names(&instance) => Extent::Nothing,
            (None, _) => Extent::Instance,
            (Some(rule), Some((list, member))) => Extent::Member {
                attributes: cli.sharing(rule),
                list: list.clone(),
                member: member.clone(),
            },
            (Some(rule), None) if rule.many => Extent::Element,
            (Some(rule), None) => Extent::Attributes(cli.sharing(rule)),
        };
        let text = cli.masked(&node.text, candidate.template);
        self.add(candidate.rule, blocks, text, instance, extent);
    }

    /// Adds a line of elements with words that no attribute expresses.
    fn other_words(&mut self, node: &'a Node, shape: &Shape<'a>, context: &LineContext<'a>) {
        let cli = self.cli;
        let rule = shape.rule.filter(|rule| rule.many);
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
        let blocks = context.blocks.iter();
        let blocks = blocks.map(|block| block.text.clone()).collect();
        let extent = Extent::Removed {
            list: rule.name.clone(),
            elements,
        };
        let text = cli.masked(&node.text, rule.lines.first());
        self.add(Some(rule), blocks, text, names, extent);
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
        rows: &[Row],
        key: &str,
        rule: &'a CliAttributeRule,
        cell: &'a Cell,
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
        let templates = match &self.cli.instance.kind {
            InstanceKind::Line { spellings, .. } => spellings.first(),
            _ => None,
        };
        let text = self.cli.masked(line, templates);
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
