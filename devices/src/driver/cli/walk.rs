//! The walk through all lines of a device where a type reads: the top level, its blocks, the inner blocks
//! of these, and the blocks of its members.

use super::CliType;
use super::block_path::{self, BlockLevel, BlockPath};
use super::rules::{CONFIG, CliAttributeRule, InstanceKind};
use super::slot::{Candidate, Slot, SlotForm, empty_text};
use super::template::{Bindings, LineTemplate};
use crate::not_understood::InstanceNames;
use crate::read::indent::Node;
use crate::value::{Attributes, Name, Value};

/// What a line is for a type.
pub(super) enum LineUse<'a, 's> {
    /// The header of a block around instances.
    Block(Bindings),
    /// The header of the block of an instance, or its names alone.
    Instance(Bindings),
    /// The header of an inner block, with the attribute that is true with it.
    InnerBlock(Option<&'a CliAttributeRule>),
    Read(Slot<'a>),
    /// It begins like a line of the type, which does not read it.
    Begins(Candidate<'a>),
    /// It stands where these slots are.
    Other(&'s [Slot<'a>]),
}

/// The context of a line: the blocks around it, and the instance that these belong to.
#[derive(Clone)]
pub(super) struct LineContext<'a> {
    pub(super) read: &'a str,
    pub(super) blocks: Vec<&'a Node>,
    pub(super) instance: InstanceNames,
    /// The list and its member whose block this is.
    pub(super) member: Option<(Name, Value)>,
    /// The number of the block of an instance. Its inner blocks have the same.
    pub(super) block: usize,
}

impl<'a> LineContext<'a> {
    fn top(read: &'a str, instance: InstanceNames) -> Self {
        Self {
            read,
            blocks: Vec::new(),
            instance,
            member: None,
            block: 0,
        }
    }

    /// The headers of the blocks, outermost first.
    pub(super) fn headers(&self) -> Vec<String> {
        let blocks = self.blocks.iter();
        blocks.map(|block| block.text.clone()).collect()
    }

    /// The context in a block.
    fn inside(&self, block: &'a Node) -> Self {
        let mut inside = self.clone();
        inside.blocks.push(block);
        inside
    }

    /// The context of lines of an instance.
    fn of(&self, instance: InstanceNames) -> Self {
        Self {
            instance,
            ..self.clone()
        }
    }
}

/// Visits the lines of a device.
pub(super) struct Walk<'a, 'v> {
    cli: &'a CliType,
    visit: &'v mut dyn FnMut(&'a Node, &LineContext<'a>, LineUse<'a, '_>),
    /// The only line of each level, outermost first.
    only: Option<&'a [&'a Node]>,
    /// The number of blocks so far.
    blocks: usize,
}

impl CliType {
    /// Whether the type reads a line below its blocks.
    pub(super) fn reads_path(&self, read: &str, path: &[&Node]) -> bool {
        let mut is_read = false;
        let mut visit = |node: &Node, _: &LineContext<'_>, found: LineUse<'_, '_>| {
            let is_last = path.last().is_some_and(|last| std::ptr::eq(*last, node));
            is_read |= is_last && !matches!(found, LineUse::Begins(_) | LineUse::Other(_));
        };
        let mut walk = Walk {
            only: Some(path),
            ..Walk::new(self, &mut visit)
        };
        if read == self.instance.from {
            walk.instances(&[]);
        }
        if read == CONFIG {
            walk.elsewhere(&[]);
        }
        is_read
    }

    /// The namevars among the values of a line and of its block.
    pub(super) fn names_in(&self, bindings: &Bindings, outer: &InstanceNames) -> InstanceNames {
        let InstanceNames::Named(of_block) = outer else {
            return outer.clone();
        };
        let mut names = of_block.clone();
        for (name, value) in bindings.iter().filter(|(name, _)| self.is_namevar(name)) {
            names.insert(name.clone(), self.finished(name, value.clone()));
        }
        InstanceNames::Named(names)
    }

    /// Whether a line is an instance of the form that such lines have beside blocks.
    fn is_line_of_form(&self, spelling: usize, node: &Node) -> bool {
        let kind = &self.instance.kind;
        let lines = kind.spellings_in(spelling);
        let found = LineTemplate::first_match(lines, &node.text, self);
        kind.has_forms() && found.is_some_and(|bindings| !self.has_skipped(&bindings))
    }

    pub(super) fn has_skipped(&self, bindings: &Bindings) -> bool {
        bindings.iter().any(|binding| self.is_skipped(binding))
    }
}

impl<'a, 'v> Walk<'a, 'v> {
    pub(super) fn new(
        cli: &'a CliType,
        visit: &'v mut dyn FnMut(&'a Node, &LineContext<'a>, LineUse<'a, '_>),
    ) -> Self {
        Self {
            cli,
            visit,
            only: None,
            blocks: 0,
        }
    }

    /// Visits the lines of instances, at the top level of their read.
    pub(super) fn instances(&mut self, nodes: &'a [Node]) {
        let from = &self.cli.instance.from;
        let unknown = InstanceNames::Named(Attributes::default());
        let paths = match &self.cli.instance.kind {
            InstanceKind::Singleton(_) => {
                let context = LineContext::top(from, InstanceNames::Singleton);
                return self.content(nodes, 0, context);
            }
            InstanceKind::Row { .. } => return,
            kind => kind.paths(),
        };
        let context = LineContext::top(from, unknown);
        let levels = paths.iter().map(BlockPath::levels).enumerate();
        match paths {
            [] => self.content(nodes, 0, context),
            _ => self.descend(nodes, &levels.collect::<Vec<_>>(), context),
        }
    }

    /// Visits the lines of the configuration that are in the blocks of members, create rows, or set
    /// defaults.
    pub(super) fn elsewhere(&mut self, nodes: &'a [Node]) {
        let cli = self.cli;
        let context = LineContext::top(CONFIG, InstanceNames::Named(Attributes::default()));
        let enter = cli.instance.kind.enter();
        for node in self.level(nodes, &context) {
            if let Some(bindings) = enter.and_then(|enter| enter.read(&node.text, cli)) {
                let names = cli.names_in(&bindings, &context.instance);
                (self.visit)(node, &context.of(names), LineUse::Instance(bindings));
            }
        }
        for rule in cli.attributes.values() {
            if let Some(block) = rule.member_block() {
                self.members(nodes, (rule, block), &context);
            }
            if let Some(line) = rule.default_line() {
                let slot = Slot {
                    rule: Some(rule),
                    form: SlotForm::Default(line),
                };
                self.lines(nodes, &[slot], &context);
            }
        }
    }

    /// The lines of a level.
    fn level(
        &self,
        nodes: &'a [Node],
        context: &LineContext<'a>,
    ) -> impl Iterator<Item = &'a Node> + use<'a> {
        let only = self
            .only
            .map(|path| path.get(context.blocks.len()).copied());
        let all = nodes.iter().filter(move |_| only.is_none());
        only.flatten().into_iter().chain(all)
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
            headers.extend(next.map(|level| Slot::of_header(&level.header)));
        }
        let mut ends = paths
            .iter()
            .filter(|(_, levels)| block_path::is_complete(levels));
        let end = ends.next().map(|(spelling, _)| *spelling);
        let lines = self.level(nodes, &context).filter(|_| !headers.is_empty());
        for node in lines {
            let (mut bound, mut is_skipped) = (None, false);
            let entered = paths.iter().filter_map(|(spelling, levels)| {
                let (bindings, rest) = block_path::enter(levels, &node.text, cli)?;
                is_skipped |= cli.has_skipped(&bindings);
                bound.get_or_insert(bindings);
                Some((*spelling, rest))
            });
            let entered: Vec<_> = entered.collect();
            match bound {
                // The path may lead to lines that another type also reads.
                Some(_) if is_skipped && self.only.is_none() => {}
                Some(bindings) => {
                    let own = context.of(cli.names_in(&bindings, &context.instance));
                    let mut ends = entered.iter();
                    let is_end = ends.any(|(_, levels)| block_path::is_complete(levels));
                    let is_own = is_end && cli.instance.kind.blocks().is_some();
                    let found = if is_own {
                        LineUse::Instance(bindings)
                    } else {
                        LineUse::Block(bindings)
                    };
                    (self.visit)(node, &own, found);
                    self.descend(&node.children.nodes, &entered, own.inside(node));
                }
                // A line at the top level begins like the header of a block.
                None if end.is_some_and(|end| cli.is_line_of_form(end, node)) => {}
                None => self.line(node, &headers, &context),
            }
        }
        if let Some(end) = end {
            self.content(nodes, end, context);
        }
    }

    /// The lines of an instance, or of several that have the names, and of their inner blocks.
    fn content(&mut self, nodes: &'a [Node], spelling: usize, mut context: LineContext<'a>) {
        let cli = self.cli;
        self.blocks += 1;
        context.block = self.blocks;
        if let InstanceKind::Line { block, .. } = &cli.instance.kind {
            let spellings = cli.instance.kind.spellings_in(spelling);
            let slots: Vec<Slot<'a>> = spellings.iter().map(Slot::of_instance).collect();
            // A block of another form may begin like a line of this one.
            let blocks = block.iter().filter(|_| cli.instance.kind.has_forms());
            let blocks: Vec<&BlockPath> = blocks.filter(|path| !path.is_top_level()).collect();
            let is_block = |node: &&Node| {
                let mut blocks = blocks.iter();
                blocks.any(|path| block_path::enter(path.levels(), &node.text, cli).is_some())
            };
            for node in self.level(nodes, &context).filter(|node| !is_block(node)) {
                self.line(node, &slots, &context);
            }
            return;
        }
        let mut slots = cli.own_slots(spelling);
        slots.extend(cli.instance.create.iter().map(Slot::of_instance));
        let named = cli.instance.kind.named();
        let openings = named.iter().flat_map(|lines| &lines.openings);
        let own = LevelSlots {
            slots,
            openings: openings.map(Slot::of_header).collect(),
            inner: cli.subs(spelling).filter_map(|sub| sub.first()).collect(),
        };
        self.attribute_lines(nodes, &own, &context);
        for (sub, rules) in cli.inner_places(spelling) {
            let header = InnerHeader {
                headers: sub,
                rule: rules.clone().next(),
                existence: rules.clone().find(|rule| rule.is_inner_block()),
            };
            let slots = LevelSlots {
                slots: rules.flat_map(CliAttributeRule::slots).collect(),
                ..LevelSlots::default()
            };
            self.inner_lines(nodes, header, &slots, &context);
        }
    }

    /// The lines in an inner block with these headers.
    fn inner_lines(
        &mut self,
        nodes: &'a [Node],
        header: InnerHeader<'a>,
        slots: &LevelSlots<'a>,
        context: &LineContext<'a>,
    ) {
        let Some((first, headers)) = header.headers.split_first() else {
            return self.attribute_lines(nodes, slots, context);
        };
        let own = [Slot {
            rule: header.rule,
            form: SlotForm::InnerHeader(first),
        }];
        for node in self.level(nodes, context) {
            if node.text.eq_ignore_ascii_case(first) {
                (self.visit)(node, context, LineUse::InnerBlock(header.existence));
                let inner = InnerHeader { headers, ..header };
                self.inner_lines(&node.children.nodes, inner, slots, &context.inside(node));
            } else {
                self.line(node, &own, context);
            }
        }
    }

    /// Lines of attributes, which may have the names.
    fn attribute_lines(
        &mut self,
        nodes: &'a [Node],
        own: &LevelSlots<'a>,
        context: &LineContext<'a>,
    ) {
        let cli = self.cli;
        for node in self.level(nodes, context) {
            let Some(named) = cli.instance.kind.named() else {
                self.line_but_headers(node, own, context);
                continue;
            };
            match named.split(&node.text, cli) {
                Some(line) if cli.has_skipped(&line.bindings) && self.only.is_none() => {}
                Some(line) => {
                    let context = context.of(cli.names_in(&line.bindings, &context.instance));
                    if named.is_bare(node, cli) {
                        (self.visit)(node, &context, LineUse::Instance(line.bindings));
                    } else {
                        self.line_but_headers(node, own, &context);
                    }
                }
                None => self.line(node, &own.openings, context),
            }
        }
    }

    /// A line, unless it is the header of an inner block, which may begin like an attribute.
    fn line_but_headers(
        &mut self,
        node: &'a Node,
        own: &LevelSlots<'a>,
        context: &LineContext<'a>,
    ) {
        let mut inner = own.inner.iter();
        let is_header = inner.any(|header| node.text.eq_ignore_ascii_case(header));
        match self.use_of(node, &own.slots) {
            Some(LineUse::Begins(_)) if is_header => {}
            Some(found) => (self.visit)(node, context, found),
            None => {}
        }
    }

    fn members(
        &mut self,
        nodes: &'a [Node],
        (rule, block): (&'a CliAttributeRule, &'a LineTemplate),
        context: &LineContext<'a>,
    ) {
        let slots = rule.lines.iter().map(|line| Slot {
            rule: Some(rule),
            form: SlotForm::Line(line, None),
        });
        let slots: Vec<Slot<'a>> = slots.collect();
        for node in self.level(nodes, context) {
            let mut inside = context.inside(node);
            let lines = self.level(&node.children.nodes, &inside);
            let begins = |line: &'a Node| slots.iter().any(|slot| slot.begins(self.cli, line));
            if !lines.into_iter().any(begins) {
                continue;
            }
            if let Some(member) = self.cli.member_in(rule, block, node) {
                inside.member = Some((rule.name.clone(), member));
                self.lines(&node.children.nodes, &slots, &inside);
            }
        }
    }

    fn lines(&mut self, nodes: &'a [Node], slots: &[Slot<'a>], context: &LineContext<'a>) {
        for node in self.level(nodes, context) {
            self.line(node, slots, context);
        }
    }

    fn line(&mut self, node: &'a Node, slots: &[Slot<'a>], context: &LineContext<'a>) {
        if let Some(found) = self.use_of(node, slots) {
            (self.visit)(node, context, found);
        }
    }

    /// What a line is at the place of slots; `None` if its names are those of another type.
    fn use_of<'s>(&self, node: &'a Node, slots: &'s [Slot<'a>]) -> Option<LineUse<'a, 's>> {
        let cli = self.cli;
        let mut best: Option<Candidate<'a>> = None;
        for slot in slots.iter().filter(|slot| slot.begins(cli, node)) {
            if let Some(found) = slot.read(cli, node) {
                let is_skipped = slot.rule.is_none() && cli.has_skipped(&found.bindings);
                return (!is_skipped).then_some(LineUse::Read(*slot));
            }
            let is_empty = |rule| empty_text(rule, &node.text).is_some();
            if slot.rule.is_some_and(is_empty) {
                return Some(LineUse::Read(*slot));
            }
            let candidate = slot.candidate(cli, node);
            if candidate.is_of_other_line(cli, node) {
                return None;
            }
            if best
                .as_ref()
                .is_none_or(|best| candidate.is_better_than(best))
            {
                best = Some(candidate);
            }
        }
        Some(best.map_or(LineUse::Other(slots), LineUse::Begins))
    }
}

/// The slots of one level of lines.
#[derive(Default)]
struct LevelSlots<'a> {
    slots: Vec<Slot<'a>>,
    /// The beginnings of lines with names: others that begin so are those of unknown instances.
    openings: Vec<Slot<'a>>,
    /// The headers of inner blocks.
    inner: Vec<&'a String>,
}

/// The headers of an inner block, and its first attribute.
#[derive(Clone, Copy)]
struct InnerHeader<'a> {
    headers: &'a [String],
    rule: Option<&'a CliAttributeRule>,
    /// The attribute that is true with the block.
    existence: Option<&'a CliAttributeRule>,
}
