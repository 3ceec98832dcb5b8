//! Lines and rows that a type recognizes and does not read completely
//! ([`crate::not_understood`]).
//!
//! The lines of a type are those at the places where it reads: the top level, its blocks, the inner
//! blocks of these, and the blocks of its members.

use super::CliType;
use super::find::{begins_with, without_no};
use super::instances::{nodes_of, rows_of};
use super::members::MemberVocabulary;
use super::rules::{
    CONFIG, Cell, CliAttributeRule, CliInstanceRule, CliLocation, Fallback, InstanceKind,
};
use super::template::{Bindings, LineTemplate, Vocabulary};
use crate::driver::implementation::IsReadByOther;
use crate::not_understood::{Extent, InstanceNames, NotUnderstood};
use crate::read::State;
use crate::read::indent::Node;
use crate::read::row::Row;
use crate::secret::MASK;
use crate::value::{Attributes, Name, Value};

/// The beginning of the lines of an instance or an attribute.
struct Shape<'a> {
    opening: Opening<'a>,
    /// The attribute; `None` for the instance.
    rule: Option<&'a CliAttributeRule>,
}

enum Opening<'a> {
    Template(&'a LineTemplate),
    Words(&'a str),
}

/// A line that begins like a shape.
struct Candidate<'a> {
    rule: Option<&'a CliAttributeRule>,
    template: Option<&'a LineTemplate>,
    bindings: Bindings,
    /// All parts match, at least one of them with a value: the line has further words.
    is_identified: bool,
}

/// The place of lines: the blocks around them, and the instance that these belong to.
struct Place<'a> {
    read: &'a str,
    blocks: Vec<&'a Node>,
    instance: InstanceNames,
    /// The list and its member whose block this is.
    member: Option<(Name, Value)>,
}

impl CliType {
    /// The lines and rows that the type recognizes and does not read completely. A line that
    /// another type reads is that type's, unless the words of this type end before the line.
    pub(super) fn unread(
        &self,
        state: &State,
        is_read_by_other: &IsReadByOther<'_>,
    ) -> Vec<NotUnderstood> {
        let mut survey = Survey {
            cli: self,
            is_read_by_other,
            found: Vec::new(),
        };
        let CliInstanceRule { from, kind, .. } = &self.instance;
        let nodes = nodes_of(state.tree(from));
        match kind {
            InstanceKind::Singleton(_) => {
                let place = Place::top(from, InstanceNames::Singleton);
                survey.lines(nodes, &self.attribute_shapes(&|_| true), &place);
            }
            InstanceKind::Block(spellings) => survey.blocks(state, nodes, spellings),
            InstanceKind::Line { block, spellings } => {
                survey.instance_lines(nodes, block, spellings);
            }
            InstanceKind::Row { key, .. } => survey.rows(rows_of(state, from), key),
        }
        for indexed in &self.indexed_instances(state).all {
            if let Some(line) = indexed
                .found
                .line
                .as_ref()
                .filter(|_| indexed.found.is_not_understood)
            {
                let names = self.names_of(&indexed.found.attributes);
                survey.add_instance_line(indexed.found.block.as_deref(), line, names);
            }
        }
        for rule in self.attributes.values() {
            if let CliLocation::Elsewhere(block) = &rule.location {
                survey.members(nodes_of(state.tree(CONFIG)), rule, block);
            }
            match &rule.fallback {
                Some(Fallback::Line { line, .. }) => {
                    survey.default_lines(nodes_of(state.tree(CONFIG)), rule, line);
                }
                Some(Fallback::Cell { read, key, cell }) => {
                    survey.default_cells(rows_of(state, read), key, rule, cell);
                }
                None => {}
            }
        }
        survey.found
    }

    /// Whether the type reads a line below its blocks.
    pub(super) fn reads_path(&self, read: &str, path: &[&Node]) -> bool {
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

    /// The beginnings of the lines of attributes.
    fn attribute_shapes<'a>(
        &'a self,
        concerned: &dyn Fn(&CliAttributeRule) -> bool,
    ) -> Vec<Shape<'a>> {
        let mut shapes = Vec::new();
        for rule in self.attributes.values().filter(|rule| concerned(rule)) {
            let mut add = |opening| {
                shapes.push(Shape {
                    opening,
                    rule: Some(rule),
                });
            };
            match &rule.location {
                CliLocation::Lines => {
                    let set = rule.set.values().flatten();
                    let lines = set.chain(&rule.lines).chain(&rule.more);
                    lines.for_each(|line| add(Opening::Template(line)));
                }
                CliLocation::Opaque { words, .. } => add(Opening::Words(words)),
                CliLocation::Exists(texts) => {
                    texts.iter().for_each(|text| add(Opening::Words(text)));
                }
                _ => {}
            }
        }
        shapes
    }

    fn names_of(&self, attributes: &Attributes) -> InstanceNames {
        let names = self.model.namevars();
        let names = names.filter_map(|name| Some((name.to_owned(), attributes.get(name)?.clone())));
        InstanceNames::Named(names.collect())
    }

    /// The namevars among the values of a line and of its block.
    fn names_in(&self, bindings: &Bindings, place: &InstanceNames) -> InstanceNames {
        let InstanceNames::Named(of_block) = place else {
            return place.clone();
        };
        let mut names = of_block.clone();
        for (name, value) in bindings.iter().filter(|(name, _)| self.is_namevar(name)) {
            names.insert(name.clone(), self.finished(name, value.clone()));
        }
        InstanceNames::Named(names)
    }

    /// The attributes of a line with this one.
    fn sharing(&self, rule: &CliAttributeRule) -> Vec<Name> {
        let inside = self.attributes.values();
        let inside = inside.filter(|other| other.inside.as_deref() == Some(rule.name.as_str()));
        let leader = rule.inside.as_deref().map(Name::from);
        let names = [rule.name.clone()].into_iter().chain(leader);
        names
            .chain(rule.with.iter().cloned())
            .chain(inside.map(|other| other.name.clone()))
            .collect()
    }

    /// A line without its secrets: if the template has a secret, only the literal words remain.
    fn masked(&self, text: &str, template: Option<&LineTemplate>) -> String {
        let secret = |template: &LineTemplate| {
            template
                .attributes()
                .iter()
                .any(|name| self.is_secret(name))
        };
        match template.filter(|template| secret(template)) {
            Some(template) => format!("{} {MASK}", template.head())
                .trim_start()
                .to_owned(),
            None => text.to_owned(),
        }
    }
}

impl<'a> Shape<'a> {
    fn template(&self) -> Option<&'a LineTemplate> {
        match self.opening {
            Opening::Template(template) => Some(template),
            Opening::Words(_) => None,
        }
    }

    /// The line without the `no` of an attribute whose `no` form the device prints.
    fn positive<'t>(&self, text: &'t str) -> &'t str {
        let is_on = self.rule.is_some_and(|rule| rule.default_on);
        without_no(text).filter(|_| is_on).unwrap_or(text)
    }

    fn reads(&self, cli: &CliType, node: &Node) -> bool {
        match (&self.opening, self.rule) {
            (Opening::Template(template), _) => {
                template.read(self.positive(&node.text), cli).is_some()
            }
            (Opening::Words(_), rule) => {
                rule.is_some_and(|rule| cli.read_line(rule, node).is_some())
            }
        }
    }

    /// Whether a line has the literal words of the shape.
    fn begins(&self, node: &Node) -> bool {
        let text = self.positive(&node.text);
        match self.opening {
            Opening::Template(template) => template.begins(text),
            Opening::Words(words) => begins_with(text, words),
        }
    }

    /// A line that begins like the shape.
    fn candidate(&self, cli: &CliType, node: &Node) -> Candidate<'a> {
        let partial = self
            .template()
            .map(|template| template.read_beginning(self.positive(&node.text), cli));
        Candidate {
            rule: self.rule,
            template: self.template(),
            is_identified: partial
                .as_ref()
                .is_some_and(|partial| partial.has_all_parts)
                && self.template().is_some_and(LineTemplate::has_placeholder),
            bindings: partial.map(|partial| partial.bindings).unwrap_or_default(),
        }
    }
}

impl<'a> Place<'a> {
    fn top(read: &'a str, instance: InstanceNames) -> Self {
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
struct Survey<'a> {
    cli: &'a CliType,
    is_read_by_other: &'a IsReadByOther<'a>,
    found: Vec<NotUnderstood>,
}

impl<'a> Survey<'a> {
    fn blocks(&mut self, state: &State, nodes: &'a [Node], spellings: &'a [LineTemplate]) {
        let cli = self.cli;
        let indexed = cli.indexed_instances(state);
        let headers = instance_shapes(spellings);
        let mut blocks = indexed.all.iter().peekable();
        let shapes = cli.attribute_shapes(&|_| true);
        let has_sub = cli.attributes.values().any(|rule| !rule.sub.is_empty());
        for (index, node) in nodes.iter().enumerate() {
            let Some(block) = blocks.next_if(|block| block.index == index) else {
                let place = Place::top(
                    &cli.instance.from,
                    InstanceNames::Named(Attributes::default()),
                );
                self.line(node, &headers, &place);
                continue;
            };
            let names = cli.names_of(&block.found.attributes);
            let place = Place::below(&cli.instance.from, node, names);
            if has_sub {
                self.block_with_sub(node, spellings, &shapes, place);
            } else {
                self.lines(&node.children.nodes, &shapes, &place);
            }
        }
    }

    /// The lines of a block with inner blocks.
    fn block_with_sub(
        &mut self,
        block: &'a Node,
        spellings: &'a [LineTemplate],
        shapes: &[Shape<'a>],
        mut place: Place<'a>,
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
                place.blocks.push(node);
                self.lines(&node.children.nodes, &inner, &place);
                place.blocks.pop();
                continue;
            }
            let headers = cli.attributes.values().filter_map(|rule| {
                Some(Shape {
                    opening: Opening::Words(sub_of(rule)?),
                    rule: Some(rule),
                })
            });
            let headers: Vec<Shape<'a>> = headers.collect();
            self.line(node, shapes, &place);
            self.line(node, &headers, &place);
        }
    }

    fn instance_lines(
        &mut self,
        nodes: &'a [Node],
        block: &'a [LineTemplate],
        spellings: &'a [LineTemplate],
    ) {
        let cli = self.cli;
        let unknown = InstanceNames::Named(Attributes::default());
        let place = Place::top(&cli.instance.from, unknown.clone());
        let shapes = instance_shapes(spellings);
        if block.is_empty() {
            self.lines(nodes, &shapes, &place);
            return;
        }
        let headers = instance_shapes(block);
        for node in nodes {
            match LineTemplate::first_match(block, &node.text, cli) {
                Some(bindings) => {
                    let names = cli.names_in(&bindings, &unknown);
                    let place = Place::below(&cli.instance.from, node, names);
                    self.lines(&node.children.nodes, &shapes, &place);
                }
                None => self.line(node, &headers, &place),
            }
        }
    }

    fn members(&mut self, nodes: &'a [Node], rule: &'a CliAttributeRule, block: &'a LineTemplate) {
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
            let begins = |line: &Node| shapes.iter().any(|shape| shape.begins(line));
            if !node.children.nodes.iter().any(begins) {
                continue;
            }
            let header = block.read(&node.text, &words).unwrap_or_default();
            let Some((_, member)) = header.into_iter().find(|(name, _)| name == "member") else {
                continue;
            };
            let mut place = Place::below(CONFIG, node, InstanceNames::Named(Attributes::default()));
            place.member = Some((rule.name.clone(), member));
            self.lines(&node.children.nodes, &shapes, &place);
        }
    }

    /// Lines that set the defaults of instances. Other lines may begin with the same words.
    fn default_lines(
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
                    Extent::Default,
                );
            }
        }
    }

    fn lines(&mut self, nodes: &'a [Node], shapes: &[Shape<'a>], place: &Place<'a>) {
        for node in nodes {
            self.line(node, shapes, place);
        }
    }

    /// Adds a line that begins like one of the shapes and that none reads.
    fn line(&mut self, node: &'a Node, shapes: &[Shape<'a>], place: &Place<'a>) {
        let cli = self.cli;
        let mut best: Option<Candidate<'a>> = None;
        for shape in shapes {
            if !shape.begins(node) {
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
        let mut path = place.blocks.clone();
        path.push(node);
        if !candidate.is_identified && (self.is_read_by_other)(place.read, &path) {
            return;
        }
        let blocks = place
            .blocks
            .iter()
            .map(|block| block.text.clone())
            .collect();
        let extent = match (candidate.rule, &place.member) {
            (None, _) => Extent::Instance,
            (Some(rule), Some((list, member))) => Extent::Member {
                attributes: cli.sharing(rule),
                list: list.clone(),
                member: member.clone(),
            },
            (Some(rule), None) if rule.many => Extent::Element,
            (Some(rule), None) => Extent::Attributes(cli.sharing(rule)),
        };
        let instance = cli.names_in(&candidate.bindings, &place.instance);
        let text = cli.masked(&node.text, candidate.template);
        self.add(candidate.rule, blocks, text, instance, extent);
    }

    fn rows(&mut self, rows: &'a [Row], key: &[(String, String)]) {
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
    fn default_cells(
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
                self.add(Some(rule), vec![row], text, names, Extent::Default);
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
    fn add_instance_line(&mut self, block: Option<&str>, line: &str, names: InstanceNames) {
        let blocks = block.map(str::to_owned).into_iter().collect();
        let templates = match &self.cli.instance.kind {
            InstanceKind::Line { spellings, .. } => spellings.first(),
            _ => None,
        };
        let text = self.cli.masked(line, templates);
        self.add(None, blocks, text, names, Extent::Instance);
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

fn instance_shapes(templates: &[LineTemplate]) -> Vec<Shape<'_>> {
    templates
        .iter()
        .map(|template| Shape {
            opening: Opening::Template(template),
            rule: None,
        })
        .collect()
}
