//! The lines and blocks of a configuration as text.

use std::collections::{HashMap, HashSet};

use super::list_line::CompiledList;

/// A line, and the lines of its block.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) text: String,
    pub(super) children: Vec<Node>,
}

impl Node {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            children: Vec::new(),
        }
    }
}

/// The lines of a text, each with the lines below it. A line with a list is one for each element, and
/// blocks with one header are one block, as on a device.
pub(super) fn read(text: &str, lists: &[CompiledList]) -> Vec<Node> {
    joined(parse(text), lists)
}

fn parse(text: &str) -> Vec<Node> {
    let mut top: Vec<Node> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for line in text.lines() {
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
        level.push(Node::new(content));
        open.push(depth);
    }
    top
}

fn joined(level: Vec<Node>, lists: &[CompiledList]) -> Vec<Node> {
    let mut headers: HashSet<String> = HashSet::new();
    let mut lines: Vec<Node> = Vec::new();
    for node in level {
        let listed = lists.iter().find_map(|list| list.lines(&node.text));
        if !node.children.is_empty() {
            headers.insert(node.text.to_lowercase());
        }
        match listed {
            Some(texts) => {
                headers.extend(texts.iter().map(|text| text.to_lowercase()));
                lines.extend(texts.into_iter().map(|text| Node {
                    text,
                    children: node.children.clone(),
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
    for node in &mut all {
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
