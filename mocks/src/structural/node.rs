//! The lines and blocks of a configuration as text.

use std::collections::{HashMap, HashSet};

use super::list_line::CompiledList;
use super::shape::CompiledShape;

/// A line, and the lines of its block.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) text: String,
    pub(super) children: Vec<Node>,
    /// The line that ends the text of the block.
    pub(super) end: Option<String>,
}

impl Node {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

/// The lines of a text, each with the lines below it. A line with a list is one for each element, and
/// blocks with one header are one block, as on a device.
pub(super) fn read(text: &str, lists: &[CompiledList], shapes: &[CompiledShape]) -> Vec<Node> {
    joined(parse(text, shapes), lists)
}

fn parse(text: &str, shapes: &[CompiledShape]) -> Vec<Node> {
    let mut top: Vec<Node> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let content = line.trim();
        if content.is_empty() {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        open.retain(|outer| *outer < depth);
        let mut level = &mut top;
        for _ in &open {
            let node = level.last_mut().expect("an open block has a line");
            level = &mut node.children;
        }
        let mut node = Node::new(content);
        let mut shapes = shapes.iter();
        if let Some(end) = shapes.find_map(|shape| shape.text_end_below(content)) {
            let inside = lines.by_ref().take_while(|line| line.trim() != end);
            node.children = inside.map(|line| Node::new(line.trim())).collect();
            node.end = Some(end.to_owned());
        }
        level.push(node);
        open.push(depth);
    }
    top
}

fn joined(level: Vec<Node>, lists: &[CompiledList]) -> Vec<Node> {
    let mut headers: HashSet<String> = HashSet::new();
    let mut lines: Vec<Node> = Vec::new();
    for node in level {
        let listed = lists.iter().find_map(|list| list.lines(&node.text));
        if !node.children.is_empty() && node.end.is_none() {
            headers.insert(node.text.to_lowercase());
        }
        match listed {
            Some(texts) => {
                headers.extend(texts.iter().map(|text| text.to_lowercase()));
                lines.extend(texts.into_iter().map(|text| Node {
                    text,
                    ..node.clone()
                }));
            }
            None => lines.push(node),
        }
    }
    let mut positions: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<Node> = Vec::new();
    for node in lines {
        let header = node.text.to_lowercase();
        match positions.get(&header) {
            Some(first) => add_lines(&mut all[*first].children, node.children),
            None => {
                if headers.contains(&header) {
                    positions.insert(header, all.len());
                }
                all.push(node);
            }
        }
    }
    for node in all.iter_mut().filter(|node| node.end.is_none()) {
        node.children = joined(std::mem::take(&mut node.children), lists);
    }
    all
}

/// Adds lines to a block that it does not have.
fn add_lines(block: &mut Vec<Node>, further: Vec<Node>) {
    for node in further {
        if !block.contains(&node) {
            block.push(node);
        }
    }
}
