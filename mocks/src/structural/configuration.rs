//! The lines and blocks of a configuration.

use regex::Regex;
use switchtender_outline::{CommandLine, NegativeForm};

use super::list_line::CompiledList;
use super::node::{self, Node};
use super::set_line::CompiledSet;
use super::shape::{CompiledMove, CompiledRemoval, CompiledShape};
use crate::shape_pattern::{InvalidShape, compile};

/// A configuration.
#[derive(Debug)]
pub(crate) struct StructuralConfiguration {
    top: Vec<Node>,
    /// The configuration of the last commit, if lines take effect when they are committed.
    committed: Option<Vec<Node>>,
    negate: String,
    negate_replaces: Option<String>,
    /// The first words of lines that mark others as inactive, and that activate them.
    inactive: Option<(String, String)>,
    has_blocks: bool,
    shapes: Vec<CompiledShape>,
    removals: Vec<CompiledRemoval>,
    moves: Vec<CompiledMove>,
    lists: Vec<CompiledList>,
    sets: Vec<CompiledSet>,
    last: Option<Regex>,
    /// Pattern of the host name, of which there is one line.
    hostname: Option<Regex>,
}

/// The effect of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineEffect {
    /// The configuration has changed, or has the line already.
    Applied,
    /// The line is the header of a block, which has these headers.
    Entered(Vec<String>),
    /// The line ends the text of the block, and leaves it.
    Left,
    /// It is no line of the configuration.
    Refused,
}

impl StructuralConfiguration {
    /// A configuration with the lines of a text.
    pub(crate) fn new(command_line: &CommandLine, text: &str) -> Result<Self, InvalidShape> {
        let shapes = command_line.shapes.iter().map(CompiledShape::new);
        let shapes = shapes.collect::<Result<Vec<_>, _>>()?;
        let removals = command_line.removals.iter().map(CompiledRemoval::new);
        let moves = command_line.moves.iter().map(CompiledMove::new);
        let last = command_line.last.as_deref().map(compile).transpose()?;
        let hostname = command_line.hostname.as_ref();
        let hostname = hostname.map(|(pattern, _)| compile(pattern));
        let lists = command_line.lists.iter().map(CompiledList::new);
        let lists = lists.collect::<Result<Vec<_>, _>>()?;
        let sets = command_line.sets.iter().map(CompiledSet::new);
        let top = node::read(text, &lists, &shapes);
        Ok(Self {
            committed: command_line.abort.is_some().then(|| top.clone()),
            top,
            negate: command_line.negate.clone(),
            negate_replaces: command_line.negate_replaces.clone(),
            inactive: command_line.inactive.clone(),
            has_blocks: command_line.sub_mode.is_some(),
            shapes,
            removals: removals.collect::<Result<_, _>>()?,
            moves: moves.collect::<Result<_, _>>()?,
            lists,
            sets: sets.collect::<Result<_, _>>()?,
            last,
            hostname: hostname.transpose()?,
        })
    }

    /// The lines that take effect, with one blank for each level.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.print(self.committed.as_ref().unwrap_or(&self.top), 0, &mut text);
        text
    }

    /// Whether the structure has the line in the block with these headers.
    pub(super) fn has_shape(&self, headers: &[String], line: &str) -> bool {
        let mut shapes = self.shapes.iter();
        shapes.any(|shape| shape.is_in(headers) && shape.key(line).is_some())
    }

    /// The lines of a set of numbers are one line.
    fn print(&self, level: &[Node], depth: usize, text: &mut String) {
        let mut rest = level;
        while let Some((node, others)) = rest.split_first() {
            let lines = || rest.iter().map(|node| node.text.as_str());
            let joined = self.lists.iter().find_map(|list| list.joined(lines()));
            let (line, count) = joined.unwrap_or_else(|| (node.text.clone(), 1));
            text.push_str(&" ".repeat(depth));
            text.push_str(&line);
            text.push('\n');
            self.print(&node.children, depth + 1, text);
            if let Some(end) = &node.end {
                text.push_str(&format!("{}{end}\n", " ".repeat(depth)));
            }
            rest = &others[count - 1..];
        }
    }

    /// The host name in the configuration.
    pub(super) fn hostname(&self) -> Option<String> {
        let text = self.text();
        let found = self.hostname.as_ref()?.captures(&text)?.get(1)?;
        Some(found.as_str().to_owned())
    }

    pub(super) fn commit(&mut self) {
        self.committed = Some(self.top.clone());
    }

    /// Discards the lines after the last commit.
    pub(super) fn discard(&mut self) {
        if let Some(committed) = &self.committed {
            self.top.clone_from(committed);
        }
    }

    /// Whether a line is the header of a block below these headers.
    pub(super) fn is_header(&self, headers: &[String], line: &str) -> bool {
        self.has_blocks
            && self
                .shapes
                .iter()
                .any(|shape| shape.is_header && shape.is_in(headers) && shape.key(line).is_some())
    }

    /// Applies a line in the block with these headers, or each of the lines that it stands for.
    pub(super) fn apply(&mut self, headers: &[String], line: &str) -> LineEffect {
        if let Some(end) = self.text_end(headers) {
            if line == end {
                return LineEffect::Left;
            }
            self.level(headers).push(Node::new(line));
            return LineEffect::Applied;
        }
        if self.change_set(headers, line) {
            return LineEffect::Applied;
        }
        let positive = self.positive(line);
        let complete = positive.as_deref().unwrap_or(line);
        let Some(lines) = self.lists.iter().find_map(|list| list.lines(complete)) else {
            return self.apply_one(headers, line);
        };
        let mut effect = LineEffect::Refused;
        for one in lines {
            effect = match positive {
                Some(_) => self.apply_one(headers, &self.negative(&one)),
                None => self.apply_one(headers, &one),
            };
        }
        effect
    }

    /// Changes the numbers of a set in its line. Returns whether it is a line that does.
    fn change_set(&mut self, headers: &[String], line: &str) -> bool {
        let sets = std::mem::take(&mut self.sets);
        let found = sets.iter().find_map(|set| Some((set, set.change(line)?)));
        let changes = found.is_some();
        if let Some((set, change)) = found {
            let level = self.level(headers);
            let own = level.iter_mut().find_map(|node| set.of_line(&node.text));
            let changed = set.changed(&change, own);
            level.retain(|node| set.of_line(&node.text).is_none());
            if let Some(line) = changed {
                self.set(headers, &line);
            }
        }
        self.sets = sets;
        changes
    }

    fn apply_one(&mut self, headers: &[String], line: &str) -> LineEffect {
        if self.change_marks(headers, line) {
            return LineEffect::Applied;
        }
        let removes_names = self.remove_names(headers, line);
        if let Some(positive) = self.positive(line) {
            self.remove(headers, line, &positive);
            return LineEffect::Applied;
        }
        if let Some(reset) = line.strip_prefix("default ") {
            let negative = format!("{} {reset}", self.negate);
            let level = self.level(headers);
            level.retain(|node| !begins(&node.text, reset) && !begins(&node.text, &negative));
            return LineEffect::Applied;
        }
        if removes_names || self.move_names(headers, line) {
            return LineEffect::Applied;
        }
        if let Some(word) = &self.negate_replaces
            && !begins(line, word)
            && !self.has_shape(headers, line)
        {
            return LineEffect::Refused;
        }
        if self.lacks_needed_lines(headers, line) {
            return LineEffect::Refused;
        }
        if self.is_header(headers, line) {
            let entered = [headers, &[line.to_owned()]].concat();
            self.level(&entered);
            if let Some(end) = self.text_end(&entered) {
                self.begin_text(&entered, end);
            }
            return LineEffect::Entered(entered);
        }
        self.set(headers, line);
        LineEffect::Applied
    }

    /// The line that ends the text of the block with these headers.
    pub(super) fn text_end(&self, headers: &[String]) -> Option<String> {
        let (header, outer) = headers.split_last()?;
        let mut shapes = self.shapes.iter().filter(|shape| shape.is_in(outer));
        let end = shapes.find_map(|shape| shape.text_end_below(header));
        end.map(str::to_owned)
    }

    /// Begins the text of a block, which replaces that before.
    fn begin_text(&mut self, headers: &[String], end: String) {
        let Some((header, outer)) = headers.split_last() else {
            return;
        };
        let mut level = self.level(outer).iter_mut();
        if let Some(node) = level.find(|node| node.text.eq_ignore_ascii_case(header)) {
            node.children.clear();
            node.end = Some(end);
        }
    }

    /// Whether all shapes of a line need lines that the top level does not have.
    fn lacks_needed_lines(&self, headers: &[String], line: &str) -> bool {
        let has_line = |needed: &String| {
            let mut top = self.top.iter();
            top.any(|node| node.text.eq_ignore_ascii_case(needed))
        };
        let has_shape = |shape: &&CompiledShape| shape.is_in(headers) && shape.key(line).is_some();
        let mut shapes = self.shapes.iter().filter(has_shape).peekable();
        shapes.peek().is_some() && shapes.all(|shape| !shape.needs.iter().all(has_line))
    }

    /// Marks lines as inactive, or activates them. Returns whether it is a line that does.
    fn change_marks(&mut self, headers: &[String], line: &str) -> bool {
        let Some((mark, activate)) = self.inactive.clone() else {
            return false;
        };
        if begins(line, &mark) {
            let level = self.level(headers);
            if level.iter().all(|node| node.text != line) {
                level.push(Node::new(line));
            }
            return true;
        }
        let activated = line.strip_prefix(activate.as_str());
        if let Some(rest) = activated.filter(|rest| rest.starts_with(' ')) {
            let marked = format!("{mark}{rest}");
            self.level(headers).retain(|node| node.text != marked);
        }
        begins(line, &activate)
    }

    /// Removes the lines with the names of a line that removes. Returns whether it is such a line.
    fn remove_names(&mut self, headers: &[String], line: &str) -> bool {
        let removals = std::mem::take(&mut self.removals);
        let mut removes = false;
        for removal in &removals {
            let Some(names) = removal.names_removed_by(headers, line) else {
                continue;
            };
            removes = true;
            let level = self.level(headers);
            level.retain(|node| !removal.has_names(&node.text, &names));
        }
        self.removals = removals;
        removes
    }

    /// Moves the lines with the names of a line that moves. Returns whether it is such a line.
    fn move_names(&mut self, headers: &[String], line: &str) -> bool {
        let moves = std::mem::take(&mut self.moves);
        let found = moves
            .iter()
            .find_map(|shape| Some((shape, shape.names(headers, line)?)));
        if let Some((shape, (moved, target))) = &found {
            let level = self.level(headers);
            let nodes = std::mem::take(level).into_iter();
            let (moved, rest): (Vec<Node>, Vec<Node>) =
                nodes.partition(|node| shape.has_names(&node.text, moved));
            *level = rest;
            let is_target = |node: &Node| shape.has_names(&node.text, target);
            let position = if shape.is_before {
                level.iter().position(is_target)
            } else {
                level.iter().rposition(is_target).map(|last| last + 1)
            };
            let position = position.unwrap_or(level.len());
            level.splice(position..position, moved);
        }
        let moves_lines = found.is_some();
        self.moves = moves;
        moves_lines
    }

    /// The line that a line removes; `None` if it removes nothing.
    fn positive(&self, line: &str) -> Option<String> {
        let (first, rest) = line.split_once(' ')?;
        first
            .eq_ignore_ascii_case(&self.negate)
            .then(|| match &self.negate_replaces {
                Some(word) => format!("{word} {rest}"),
                None => rest.to_owned(),
            })
    }

    /// The line that removes a line.
    fn negative(&self, line: &str) -> String {
        let replaced = self.negate_replaces.as_deref();
        let rest = replaced.and_then(|word| line.strip_prefix(word)?.strip_prefix(' '));
        format!("{} {}", self.negate, rest.unwrap_or(line))
    }

    fn set(&mut self, headers: &[String], line: &str) {
        let negative = format!("{} {line}", self.negate);
        let shapes = std::mem::take(&mut self.shapes);
        let shape = shapes
            .iter()
            .filter(|shape| !shape.is_header && shape.is_in(headers))
            .find_map(|shape| Some((shape, shape.key(line)?)));
        let is_printed = shape.as_ref().is_none_or(|(shape, _)| shape.prints(line));
        let name = self.hostname.clone().filter(|_| headers.is_empty());
        let name = name.filter(|name| name.is_match(line));
        let is_replaced = |node: &Node| match &shape {
            _ if name.as_ref().is_some_and(|name| name.is_match(&node.text)) => true,
            Some((shape, key)) if shape.is_unique => shape.key(&node.text).as_ref() == Some(key),
            _ => node.text.eq_ignore_ascii_case(line),
        };
        let last = self.last.clone().filter(|_| headers.is_empty());
        let level = self.level(headers);
        level.retain(|node| !node.text.eq_ignore_ascii_case(&negative));
        let position = level.iter().position(is_replaced);
        level.retain(|node| !is_replaced(node));
        if is_printed {
            let position = position.unwrap_or_else(|| end_of(level, line, last.as_ref()));
            level.insert(position.min(level.len()), Node::new(line));
        }
        self.shapes = shapes;
    }

    /// Removes the lines that begin like a line, or adds the line that removes it.
    fn remove(&mut self, headers: &[String], negative: &str, positive: &str) {
        let prints_negative = self.shapes.iter().any(|shape| {
            shape.negative != NegativeForm::Absent
                && shape.is_in(headers)
                && shape.key(positive).is_some()
        });
        let reaches_inner = self.shapes.iter().any(|shape| {
            shape.reaches_inner && shape.is_in(headers) && shape.key(positive).is_some()
        });
        let last = self.last.clone().filter(|_| headers.is_empty());
        let replaced = self.negate_replaces.as_deref();
        let rest = replaced.and_then(|word| positive.strip_prefix(word)?.strip_prefix(' '));
        let marks = self.inactive.as_ref();
        let marks = marks.map(|(mark, _)| format!("{mark} {}", rest.unwrap_or(positive)));
        let level = self.level(headers);
        remove_lines(level, positive, reaches_inner);
        if let Some(marks) = marks {
            remove_lines(level, &marks, false);
        }
        let is_there = |node: &Node| node.text.eq_ignore_ascii_case(negative);
        if prints_negative && !level.iter().any(is_there) {
            let position = end_of(level, negative, last.as_ref());
            level.insert(position, Node::new(negative));
        }
    }

    /// The lines of the block with these headers; missing blocks are added.
    fn level(&mut self, headers: &[String]) -> &mut Vec<Node> {
        let mut level = &mut self.top;
        for (depth, header) in headers.iter().enumerate() {
            let position = level
                .iter()
                .position(|node| node.text.eq_ignore_ascii_case(header));
            let position = position.unwrap_or_else(|| {
                let last = self.last.as_ref().filter(|_| depth == 0);
                let end = end_of(level, header, last);
                level.insert(end, Node::new(header));
                end
            });
            level = &mut level[position].children;
        }
        level
    }
}

/// Removes the lines that begin with these words, and those of inner blocks.
fn remove_lines(level: &mut Vec<Node>, words: &str, reaches_inner: bool) {
    level.retain(|node| !begins(&node.text, words));
    if reaches_inner {
        for node in level {
            remove_lines(&mut node.children, words, true);
        }
    }
}

/// Whether a line has these words at its beginning.
fn begins(line: &str, words: &str) -> bool {
    line.get(..words.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(words))
        && matches!(line.as_bytes().get(words.len()), None | Some(b' '))
}

/// The position of a new line: behind the last one with the same first word, else before the last
/// line of the configuration.
fn end_of(level: &[Node], line: &str, last: Option<&Regex>) -> usize {
    let first = line.split(' ').next().unwrap_or_default();
    let similar = level.iter().rposition(|node| begins(&node.text, first));
    let end = || {
        last.and_then(|last| level.iter().rposition(|node| last.is_match(&node.text)))
            .unwrap_or(level.len())
    };
    similar.map_or_else(end, |similar| similar + 1)
}
