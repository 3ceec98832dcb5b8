//! Index of a type's instances in the answers, by their names.
//!
//! Headers, lines and row keys are read once for all resources of a type ([`State::derived`]). The
//! content of a block and the other cells of a row are read on demand.

use std::sync::Arc;

use foldhash::HashMap;

use super::CliType;
use super::block_path::{BlockPath, LocatedBlock};
use super::found::FoundInstance;
use super::rules::{InstanceKind, NamedLines};
use super::template::{CAPTURE_MARK, LineTemplate, UNREAD, Vocabulary};
use crate::read::State;
use crate::read::indent::{Node, Tree};
use crate::read::row::Row;
use crate::value::{Attributes, Name, Value};

/// The instances in one read.
#[derive(Clone, Debug, Default)]
pub(super) struct Instances {
    /// In the order of the device; `None` was removed.
    all: Vec<Option<IndexedInstance>>,
    /// Indexes into `all` by the text of the names. Values of different kinds may have equal text.
    by_names: HashMap<String, Vec<usize>>,
}

/// An instance with the attributes from its header, line or key.
#[derive(Clone, Debug)]
pub(super) struct IndexedInstance {
    pub(crate) found: FoundInstance,
    pub(crate) location: ContentLocation,
}

/// Where the attributes of an instance are.
#[derive(Clone, Debug)]
pub(super) enum ContentLocation {
    /// In its line, or at the top level.
    Line,
    /// In a row of the table.
    Row(usize),
    /// In a block of the tree.
    Block(Vec<usize>),
    /// In lines that have the names.
    Lines(Vec<Node>),
}

impl Instances {
    /// All instances in the order of the device.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &IndexedInstance> {
        self.all.iter().flatten()
    }

    /// Replaces instances with these names and lines, or adds one.
    pub(crate) fn replace(
        &mut self,
        cli: &CliType,
        names: &Attributes,
        lines: &[String],
        added: Option<IndexedInstance>,
    ) {
        let indexes = self.by_names.entry(cli.names_as_text(names)).or_default();
        let mut position = None;
        indexes.retain(|index| {
            let found = self.all[*index].as_ref().map(|indexed| &indexed.found);
            let line = found.and_then(|found| found.line.as_ref());
            let is_replaced = line.is_some_and(|line| lines.contains(line));
            if is_replaced {
                self.all[*index] = None;
                position.get_or_insert(*index);
            }
            !is_replaced
        });
        if added.is_some() {
            let position = position.unwrap_or(self.all.len());
            indexes.push(position);
            match self.all.get_mut(position) {
                Some(free) => *free = added,
                None => self.all.push(added),
            }
        }
    }

    /// Gives each block of the top level the position that belongs to its header and its old
    /// position; removes it without one.
    pub(crate) fn move_blocks(&mut self, moved: &dyn Fn(&str, usize) -> Option<usize>) {
        for slot in &mut self.all {
            let Some(IndexedInstance {
                found,
                location: ContentLocation::Block(position),
            }) = slot
            else {
                continue;
            };
            let header = found.block.last().map(String::as_str).unwrap_or_default();
            match position.first().and_then(|old| moved(header, *old)) {
                Some(new) => *position = vec![new],
                None => *slot = None,
            }
        }
    }

    pub(crate) fn has_block_at(&self, at: usize) -> bool {
        self.iter().any(|indexed| match &indexed.location {
            ContentLocation::Block(position) => *position == [at],
            _ => false,
        })
    }

    /// Adds the block at a position of the top level, if it is an instance.
    pub(crate) fn add_block(&mut self, cli: &CliType, tree: &Tree, at: usize) {
        let header = std::slice::from_ref(&tree.nodes[at]);
        let Some(paths) = cli.instance.kind.blocks() else {
            return;
        };
        for mut indexed in cli.blocks_in(header, paths) {
            indexed.location = ContentLocation::Block(vec![at]);
            cli.add_absent_names(&mut indexed.found.attributes);
            let names = cli.names_as_text(&indexed.found.attributes);
            self.by_names.entry(names).or_default().push(self.all.len());
            self.all.push(Some(indexed));
        }
    }

    /// The instances with the names of a resource.
    pub(crate) fn named<'a>(
        &'a self,
        cli: &'a CliType,
        names: &'a Attributes,
    ) -> impl Iterator<Item = &'a IndexedInstance> {
        // An empty state has no instances.
        let any = !self.all.is_empty();
        let indexes = any.then(|| self.by_names.get(&cli.names_as_text(names)));
        let alike = indexes
            .flatten()
            .into_iter()
            .flatten()
            .filter_map(|index| self.all[*index].as_ref());
        alike.filter(|indexed| cli.has_names(&indexed.found.attributes, names))
    }

    /// The index of the only instance with these names.
    pub(crate) fn only_named(&self, cli: &CliType, names: &Attributes) -> Option<usize> {
        let indexes = self.by_names.get(&cli.names_as_text(names))?;
        let is_own = |index: &&usize| {
            let indexed = self.all[**index].as_ref();
            indexed.is_some_and(|indexed| cli.has_names(&indexed.found.attributes, names))
        };
        let mut own = indexes.iter().filter(is_own);
        own.next().copied().filter(|_| own.next().is_none())
    }

    pub(crate) fn at(&self, index: usize) -> Option<&IndexedInstance> {
        self.all.get(index)?.as_ref()
    }

    /// Takes the lines that have the names of an instance.
    pub(crate) fn take_lines(&mut self, index: usize) -> Vec<Node> {
        match &mut self.all[index] {
            Some(IndexedInstance {
                location: ContentLocation::Lines(nodes),
                ..
            }) => std::mem::take(nodes),
            _ => Vec::new(),
        }
    }

    /// Sets the lines that have the names of an instance. Without lines it does not exist.
    pub(crate) fn set_lines(&mut self, index: usize, nodes: Vec<Node>) {
        let instance = &mut self.all[index];
        match instance {
            Some(indexed) if !nodes.is_empty() => indexed.location = ContentLocation::Lines(nodes),
            _ => *instance = None,
        }
    }

    fn new(cli: &CliType, instances: Vec<IndexedInstance>) -> Self {
        let mut all: Vec<Option<IndexedInstance>> = Vec::with_capacity(instances.len());
        let mut by_names: HashMap<String, Vec<usize>> = HashMap::default();
        let is_block = cli.instance.kind.blocks().is_some();
        for mut indexed in instances {
            cli.add_absent_names(&mut indexed.found.attributes);
            let names = cli.names_as_text(&indexed.found.attributes);
            let equal = by_names.entry(names).or_default();
            let is_again = |index: &usize| {
                let other = all[*index].as_ref();
                other.is_some_and(|other| other.found.block == indexed.found.block)
            };
            // A header that the device prints again, without lines.
            if !is_block || !equal.iter().any(is_again) {
                equal.push(all.len());
                all.push(Some(indexed));
            }
        }
        Self { all, by_names }
    }
}

impl CliType {
    /// The instances in a state, without their content.
    pub(super) fn indexed_instances(&self, state: &State) -> Arc<Instances> {
        let from = &self.instance.from;
        if state.get(from).is_none() {
            return Arc::default();
        }
        let make = || {
            let all = match (&self.instance.kind, state.tree(from)) {
                (InstanceKind::Row { key, .. }, _) => self.keyed_rows(&self.rows(state), key),
                (_, Some(tree)) => self.instances_in(tree),
                (_, None) => Vec::new(),
            };
            Instances::new(self, all)
        };
        let owner = (self.model.name.as_str(), "");
        if self.is_indexed_by_top_level() {
            state.derived_from_top_level(owner, from, make)
        } else {
            state.derived(owner, from, make)
        }
    }

    /// Whether the lines of the top level alone tell the instances: others change without an effect on
    /// the index.
    fn is_indexed_by_top_level(&self) -> bool {
        let kind = &self.instance.kind;
        let is_short = |path: &BlockPath| path.levels().len() < 2;
        kind.blocks()
            .is_some_and(|paths| paths.iter().all(is_short))
            || kind.is_line() && kind.paths().is_empty()
    }

    /// The instances in lines, without their content.
    pub(super) fn instances_in(&self, tree: &Tree) -> Vec<IndexedInstance> {
        match &self.instance.kind {
            InstanceKind::Singleton(label) => self.singleton(label),
            InstanceKind::Row { .. } => Vec::new(),
            InstanceKind::Block(paths) => self.blocks_in(&tree.nodes, paths),
            InstanceKind::Named { block, lines } => self.named_instances(tree, block, lines),
            InstanceKind::Line { block, .. } => self.lines(tree, block),
        }
    }

    /// Keeps an index that has the effect of a change of the answer.
    pub(super) fn keep_index(&self, state: &mut State, instances: Arc<Instances>) {
        let owner = (self.model.name.as_str(), "");
        let from = &self.instance.from;
        if self.is_indexed_by_top_level() {
            state.keep_derived_from_top_level(owner, from, instances);
        } else {
            state.keep_derived(owner, from, instances);
        }
    }

    /// The instance in a line of the top level.
    pub(super) fn indexed_line(
        &self,
        node: &Node,
        spellings: &[LineTemplate],
    ) -> Option<IndexedInstance> {
        let mut all = Vec::new();
        let block = FoundInstance::default();
        self.lines_of(std::slice::from_ref(node), &block, spellings, &mut all);
        let mut indexed = all.pop()?;
        self.add_absent_names(&mut indexed.found.attributes);
        Some(indexed)
    }

    pub(super) fn has_names(&self, attributes: &Attributes, names: &Attributes) -> bool {
        self.model.namevars().all(|name| {
            attributes.get(name).map(Value::unwrap_sensitive)
                == names.get(name).map(Value::unwrap_sensitive)
        })
    }

    /// The value of a name that the device does not print.
    pub(super) fn absent_name(&self, name: &str) -> Option<&Value> {
        self.attributes.get(name)?.absent.as_ref()
    }

    /// Adds the names that the device does not print.
    pub(super) fn add_absent_names(&self, attributes: &mut Attributes) {
        for name in self.model.namevars() {
            let absent = self.absent_name(name);
            if let Some(absent) = absent.filter(|_| !attributes.contains_key(name)) {
                attributes.insert(name.to_owned(), absent.clone());
            }
        }
    }

    pub(super) fn names_as_text(&self, attributes: &Attributes) -> String {
        const BETWEEN: char = '\0';
        /// Inline capacity in bytes; sufficient for nearly all keys.
        const NAMES: usize = 32;
        let mut text = String::with_capacity(NAMES);
        for name in self.model.namevars() {
            match attributes.get(name).map(Value::unwrap_sensitive) {
                Some(Value::String(name)) => text.push_str(name),
                other => text.extend(other.and_then(Value::scalar_text)),
            }
            text.push(BETWEEN);
        }
        text
    }

    fn singleton(&self, label: &str) -> Vec<IndexedInstance> {
        let names = self.model.namevars();
        let found = FoundInstance {
            attributes: names.map(|name| (name.to_owned(), label.into())).collect(),
            ..FoundInstance::default()
        };
        vec![IndexedInstance {
            found,
            location: ContentLocation::Line,
        }]
    }

    fn blocks_in(&self, nodes: &[Node], paths: &[BlockPath]) -> Vec<IndexedInstance> {
        let located = match (&self.instance.row_blocks, paths) {
            (Some(rows), [path]) => self.row_blocks(rows, nodes, path),
            _ => BlockPath::locate(paths, nodes, self),
        };
        let located = located.into_iter();
        let own = located.filter(|block| !block.bindings.iter().any(|one| self.is_skipped(one)));
        let instances = own.map(|block| {
            let location = ContentLocation::Block(block.position.clone());
            let found = self.in_block(block);
            IndexedInstance { found, location }
        });
        instances.collect()
    }

    fn named_instances(
        &self,
        tree: &Tree,
        paths: &[BlockPath],
        lines: &NamedLines,
    ) -> Vec<IndexedInstance> {
        let located = BlockPath::locate(paths, &tree.nodes, self).into_iter();
        let instances = located.flat_map(|block| {
            let instances = self.named_blocks(lines, block.nodes, block.spelling);
            let outer = self.in_block(block);
            instances.map(move |lines| {
                let mut found = outer.clone();
                self.bind(lines.bindings, &mut found);
                IndexedInstance {
                    found,
                    location: ContentLocation::Lines(lines.nodes),
                }
            })
        });
        instances.collect()
    }

    fn lines(&self, tree: &Tree, paths: &[BlockPath]) -> Vec<IndexedInstance> {
        let mut all = Vec::new();
        for block in BlockPath::locate(paths, &tree.nodes, self) {
            let nodes = block.nodes;
            let spellings = self.instance.kind.spellings_in(block.spelling);
            self.lines_of(nodes, &self.in_block(block), spellings, &mut all);
        }
        all
    }

    /// The beginning of an instance in a block.
    pub(super) fn in_block(&self, block: LocatedBlock<'_>) -> FoundInstance {
        let mut found = FoundInstance {
            block: block.headers,
            spelling: block.spelling,
            ..FoundInstance::default()
        };
        self.bind(block.bindings, &mut found);
        found
    }

    fn lines_of(
        &self,
        nodes: &[Node],
        block: &FoundInstance,
        spellings: &[LineTemplate],
        all: &mut Vec<IndexedInstance>,
    ) {
        for node in nodes {
            let mut matches = spellings.iter().enumerate();
            let matching = matches
                .find_map(|(index, spelling)| Some((index, spelling.read(&node.text, self)?)));
            let Some((spelling, bindings)) = matching else {
                continue;
            };
            if bindings.iter().any(|binding| self.is_skipped(binding)) {
                continue;
            }
            let has_rest = bindings
                .iter()
                .any(|(name, _)| name.starts_with(CAPTURE_MARK));
            let has_unread = bindings.iter().any(|(name, _)| name == UNREAD);
            let mut found = FoundInstance {
                line: Some(node.text.clone()),
                siblings: nodes.len(),
                // A further syntax that takes any words is for lines that the first cannot read.
                is_not_understood: spelling > 0 && has_rest || has_unread,
                ..block.clone()
            };
            self.bind(bindings, &mut found);
            all.push(IndexedInstance {
                found,
                location: ContentLocation::Line,
            });
        }
    }

    /// Whether a value is a word that belongs to another line.
    pub(super) fn is_skipped(&self, (name, value): &(Name, Value)) -> bool {
        if self.is_of_other_type(name, value) {
            return true;
        }
        value
            .scalar_text()
            .is_some_and(|text| self.skips(name, &text))
    }

    /// Whether a word in the place of an attribute belongs to another line.
    pub(super) fn skips(&self, name: &str, word: &str) -> bool {
        let rule = self.attributes.get(name);
        rule.is_some_and(|rule| rule.skip.iter().any(|skip| word.eq_ignore_ascii_case(skip)))
    }

    /// Whether an instance with this name is none of the type.
    pub(super) fn is_of_other_type(&self, name: &str, value: &Value) -> bool {
        let mut only = self.instance.only.iter();
        let pattern = only.find(|(attribute, _)| attribute == name);
        pattern.is_some_and(|(_, pattern)| {
            value
                .scalar_text()
                .is_some_and(|text| !pattern.is_match(&text))
        })
    }

    fn keyed_rows(&self, rows: &[Row], key: &[(String, String)]) -> Vec<IndexedInstance> {
        let mut all = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let mut found = FoundInstance::default();
            let complete = key.iter().all(|(attribute, column)| {
                let value = row
                    .get(column)
                    .and_then(|cell| Vocabulary::read(self, attribute, &cell.text()));
                value.is_some_and(|value| {
                    let value = self.finished(attribute, value);
                    found.attributes.insert(attribute.clone(), value);
                    true
                })
            });
            if complete {
                all.push(IndexedInstance {
                    found,
                    location: ContentLocation::Row(at),
                });
            }
        }
        all
    }
}

pub(super) fn nodes_of(tree: Option<&Tree>) -> &[Node] {
    tree.map_or(&[], |tree| &tree.nodes)
}

/// The lines of the block at a position.
pub(super) fn nodes_at<'t>(nodes: &'t [Node], position: &[usize]) -> &'t [Node] {
    position
        .iter()
        .fold(nodes, |nodes, index| &nodes[*index].children.nodes)
}
