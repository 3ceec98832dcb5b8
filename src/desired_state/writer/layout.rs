//! YAML in flow style where it fits into a line, and in block style where it does not.

use super::scalar;

/// A value with its keys and texts as they are written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LayoutNode {
    /// A number, a Boolean or `~`, without quotation marks.
    Plain(String),
    Text(String),
    List(Vec<LayoutNode>),
    /// The keys are written already.
    Map(Vec<(String, LayoutNode)>),
}

impl LayoutNode {
    /// `~`.
    pub(super) fn null() -> Self {
        LayoutNode::Plain("~".to_owned())
    }

    /// The value in one line; `None` if a text of it has several.
    pub(super) fn flow(&self) -> Option<String> {
        match self {
            LayoutNode::Plain(text) => Some(text.clone()),
            LayoutNode::Text(text) if scalar::is_block(text) => None,
            LayoutNode::Text(text) => Some(scalar::text(text)),
            LayoutNode::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(LayoutNode::flow).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            LayoutNode::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, node)| Some(format!("{key}: {}", node.flow()?)));
                let entries: Option<Vec<String>> = entries.collect();
                Some(format!("{{{}}}", entries?.join(", ")))
            }
        }
    }
}

/// Writes `key: value` at an indentation, in one line if it is not longer than `width`.
pub(super) fn write_entry(
    text: &mut String,
    indent: usize,
    key: &str,
    node: &LayoutNode,
    width: usize,
) {
    let blanks = " ".repeat(indent);
    if let Some(flow) = node.flow() {
        let length = indent + key.chars().count() + 2 + flow.chars().count();
        let is_scalar = matches!(node, LayoutNode::Plain(_) | LayoutNode::Text(_));
        if length <= width || is_scalar {
            text.push_str(&format!("{blanks}{key}: {flow}\n"));
            return;
        }
    }
    match node {
        LayoutNode::Plain(_) => {}
        LayoutNode::Text(one) => {
            text.push_str(&format!("{blanks}{key}: {}\n", scalar::block_mark(one)));
            write_lines(text, indent + 2, one);
        }
        LayoutNode::List(items) => {
            text.push_str(&format!("{blanks}{key}:"));
            write_list(text, indent + 2, items);
        }
        LayoutNode::Map(entries) => {
            text.push_str(&format!("{blanks}{key}:\n"));
            for (key, node) in entries {
                write_entry(text, indent + 2, key, node, super::WIDTH.max(width));
            }
        }
    }
}

/// Writes a list after its key: words in lines between brackets, others one in a line.
fn write_list(text: &mut String, indent: usize, items: &[LayoutNode]) {
    let blanks = " ".repeat(indent);
    let words: Option<Vec<String>> = items
        .iter()
        .map(|item| match item {
            LayoutNode::Plain(_) | LayoutNode::Text(_) => item.flow(),
            _ => None,
        })
        .collect();
    let Some(words) = words else {
        text.push('\n');
        for item in items {
            match item.flow() {
                Some(flow) => text.push_str(&format!("{blanks}- {flow}\n")),
                None => write_item(text, indent, item),
            }
        }
        return;
    };
    text.push_str(" [\n");
    let mut line = String::new();
    for word in words {
        let is_full = indent + line.chars().count() + word.chars().count() + 1 > super::WIDTH;
        if is_full && !line.is_empty() {
            text.push_str(&format!("{blanks}{}\n", line.trim_end()));
            line.clear();
        }
        line.push_str(&word);
        line.push_str(", ");
    }
    let last = line.trim_end().trim_end_matches(',');
    text.push_str(&format!("{blanks}{last}]\n"));
}

/// Writes an item of a list that has a text of several lines.
fn write_item(text: &mut String, indent: usize, item: &LayoutNode) {
    let blanks = " ".repeat(indent);
    match item {
        LayoutNode::Text(one) => {
            text.push_str(&format!("{blanks}- {}\n", scalar::block_mark(one)));
            write_lines(text, indent + 2, one);
        }
        LayoutNode::Map(entries) => {
            let mut inner = String::new();
            for (key, node) in entries {
                write_entry(&mut inner, indent + 2, key, node, super::WIDTH);
            }
            let first = format!("{blanks}- ");
            text.push_str(&first);
            text.push_str(inner.get(first.len()..).unwrap_or_default());
        }
        LayoutNode::List(items) => {
            text.push_str(&format!("{blanks}-"));
            write_list(text, indent + 2, items);
        }
        LayoutNode::Plain(_) => {}
    }
}

fn write_lines(text: &mut String, indent: usize, lines: &str) {
    let blanks = " ".repeat(indent);
    for line in lines.lines() {
        if line.is_empty() {
            text.push('\n');
        } else {
            text.push_str(&format!("{blanks}{line}\n"));
        }
    }
}
