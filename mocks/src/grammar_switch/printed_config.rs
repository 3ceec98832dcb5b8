//! The configuration as a device prints it.

use super::config_node::{ConfigNode, natural_order};
use super::effective_line::BlockScope;
use super::grammar_row::{GrammarRow, RowOption};
use super::number_list::NumberList;

/// Which lines are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrintedLines {
    /// Without those at their defaults.
    Changed,
    /// Also those at their defaults.
    All,
}

/// The lines of a block, each with its indentation.
pub(super) fn printed(scope: BlockScope<'_>, lines: PrintedLines) -> Vec<String> {
    let mut printer = Printer {
        lines,
        out: Vec::new(),
    };
    printer.block(scope, 0);
    printer.out
}

/// The lines of a block that are in effect, as they are printed, without those of inner blocks.
pub(super) fn effective_lines(scope: BlockScope<'_>) -> Vec<String> {
    let nodes = ordered(scope, PrintedLines::All);
    nodes.iter().map(|node| line(scope, node)).collect()
}

struct Printer {
    lines: PrintedLines,
    out: Vec<String>,
}

/// The lines of a block in the order of their rows.
fn ordered(scope: BlockScope<'_>, lines: PrintedLines) -> Vec<ConfigNode> {
    let mut nodes = scope.block.children.clone();
    match lines {
        PrintedLines::Changed => nodes.retain(|node| !scope.is_default(node)),
        PrintedLines::All => nodes.extend(scope.defaults()),
    }
    nodes.extend(scope.negations());
    let is_sorted = |node: &ConfigNode| {
        let row = node.row.map(|row| &scope.grammar.rows[row]);
        !row.is_some_and(|row| row.has(&RowOption::Ordered))
    };
    nodes.sort_by(|left, right| {
        let rows = (
            left.row.unwrap_or(usize::MAX),
            right.row.unwrap_or(usize::MAX),
        );
        rows.0.cmp(&rows.1).then_with(|| {
            if left.row.is_some() && is_sorted(left) {
                natural_order(&left.key, &right.key)
            } else {
                std::cmp::Ordering::Equal
            }
        })
    });
    nodes
}

fn line(scope: BlockScope<'_>, node: &ConfigNode) -> String {
    if node.is_negative {
        format!("{} {}", scope.grammar.settings.negate, node.key)
    } else {
        node.text.clone()
    }
}

fn row_of<'a>(scope: BlockScope<'a>, node: &ConfigNode) -> Option<&'a GrammarRow> {
    node.row.map(|row| &scope.grammar.rows[row])
}

impl Printer {
    fn block(&mut self, scope: BlockScope<'_>, depth: usize) {
        let mut nodes = merged(scope, ordered(scope, self.lines));
        let mut previous: Option<(String, bool)> = None;
        for node in nodes.drain(..) {
            let is_block = !node.children.is_empty()
                || row_of(scope, &node).is_some_and(|row| row.enters.is_some());
            let text = line(scope, &node);
            let word = text.split(' ').next().unwrap_or_default().to_owned();
            if let Some((last, was_block)) = &previous {
                let is_new_part = is_block || *was_block || *last != word;
                self.separate(scope, depth, is_new_part && (depth == 0 || is_block));
            }
            let indent = scope.grammar.settings.indent.repeat(depth);
            self.out.push(format!("{indent}{text}"));
            self.out.extend(node.body.iter().cloned());
            let mode = row_of(scope, &node).and_then(|row| row.enters);
            let inner = BlockScope {
                block: &node,
                mode: mode.unwrap_or(scope.mode),
                ..scope
            };
            if is_block {
                self.block(inner, depth + 1);
            }
            previous = Some((word, is_block));
        }
    }

    /// A line between parts. Blank lines are outside of blocks only.
    fn separate(&mut self, scope: BlockScope<'_>, depth: usize, is_new_part: bool) {
        let settings = &scope.grammar.settings;
        if is_new_part && (depth == 0 || !settings.separator.is_empty()) {
            let indent = settings.indent.repeat(depth);
            self.out.push(
                format!("{indent}{}", settings.separator)
                    .trim_end()
                    .to_owned(),
            );
        }
    }
}

/// Merges the blocks of rows that are printed as lists.
fn merged(scope: BlockScope<'_>, nodes: Vec<ConfigNode>) -> Vec<ConfigNode> {
    let mut result: Vec<ConfigNode> = Vec::new();
    let has = |node: &ConfigNode, option: &RowOption| {
        row_of(scope, node).is_some_and(|row| row.has(option))
    };
    let mut rest = nodes.into_iter().peekable();
    while let Some(node) = rest.next() {
        if has(&node, &RowOption::List) {
            let mut group = vec![node];
            while let Some(next) = rest.next_if(|next| next.row == group[0].row) {
                group.push(next);
            }
            result.extend(list_line(&group));
            let has_content = |node: &ConfigNode| {
                let row = row_of(scope, node);
                let block = BlockScope {
                    block: node,
                    mode: row.and_then(|row| row.enters).unwrap_or(scope.mode),
                    ..scope
                };
                node.children.iter().any(|child| !block.is_default(child))
            };
            result.extend(group.into_iter().filter(has_content));
        } else if has(&node, &RowOption::Groups) {
            match result.last_mut() {
                Some(last) if last.row == node.row && last.children == node.children => {
                    if let Some(line) = list_line(&[last.clone(), node.clone()]) {
                        last.text = line.text;
                        last.arguments = line.arguments;
                    }
                }
                _ => result.push(node),
            }
        } else {
            result.push(node);
        }
    }
    result
}

/// The line of several blocks: their text with all numbers.
fn list_line(group: &[ConfigNode]) -> Option<ConfigNode> {
    let numbers = group.iter().filter_map(|node| node.arguments.first());
    let lists = numbers.filter_map(|text| NumberList::parse(text, (0, u64::MAX)));
    let all = lists.fold(NumberList::default(), |all, list| all.union(&list));
    let first = group.first()?;
    let number = first.arguments.first()?;
    let all = all.to_string();
    let start = first.text.strip_suffix(number.as_str())?;
    Some(ConfigNode {
        row: None,
        key: first.key.clone(),
        text: format!("{start}{all}"),
        arguments: vec![all],
        ..ConfigNode::default()
    })
}
