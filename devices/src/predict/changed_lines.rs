//! The lines in which two trees differ, with the blocks around them. The order of lines is not compared.

use foldhash::HashMap;

use crate::read::indent::{Node, Tree};

/// A line that one of two trees has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChangedLine<'a> {
    /// Only the second tree has it.
    pub(crate) is_added: bool,
    /// The blocks around the line, outermost first, and the line.
    pub(crate) path: Vec<&'a Node>,
}

impl ChangedLine<'_> {
    /// The texts of the path.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.path.iter().map(|node| node.text.as_str())
    }
}

/// The lines that only one of two trees has. A line whose free text differs is removed and added.
pub(crate) fn changed_lines<'a>(before: &'a Tree, after: &'a Tree) -> Vec<ChangedLine<'a>> {
    let mut changed = Vec::new();
    compare(&before.nodes, &after.nodes, &mut Vec::new(), &mut changed);
    changed
}

fn compare<'a>(
    before: &'a [Node],
    after: &'a [Node],
    blocks: &mut Vec<&'a Node>,
    changed: &mut Vec<ChangedLine<'a>>,
) {
    // Most levels are equal.
    if before == after {
        return;
    }
    let mut others: HashMap<&str, Vec<&'a Node>> = HashMap::default();
    for node in after.iter().rev() {
        others.entry(&node.text).or_default().push(node);
    }
    for node in before {
        match others.get_mut(node.text.as_str()).and_then(Vec::pop) {
            Some(other) if other.body == node.body => {
                blocks.push(node);
                compare(&node.children.nodes, &other.children.nodes, blocks, changed);
                blocks.pop();
            }
            Some(other) => {
                add(false, node, blocks, changed);
                add(true, other, blocks, changed);
            }
            None => add(false, node, blocks, changed),
        }
    }
    for node in after {
        let rest = others.get_mut(node.text.as_str());
        if let Some(rest) = rest
            && let Some(at) = rest.iter().position(|other| std::ptr::eq(*other, node))
        {
            rest.remove(at);
            add(true, node, blocks, changed);
        }
    }
}

/// Adds a line with all lines below it.
fn add<'a>(
    is_added: bool,
    node: &'a Node,
    blocks: &mut Vec<&'a Node>,
    changed: &mut Vec<ChangedLine<'a>>,
) {
    blocks.push(node);
    changed.push(ChangedLine {
        is_added,
        path: blocks.clone(),
    });
    for child in &node.children.nodes {
        add(is_added, child, blocks, changed);
    }
    blocks.pop();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::indent::IndentRules;

    #[test]
    fn changed_lines_have_their_blocks_and_no_order() {
        let tree = |text: &str| Tree::parse(text, &IndentRules::default());
        let before = tree("a\ninterface X\n one\n two\nb\nb\n");
        let after = tree("b\ninterface X\n two\n three\ninterface Y\n one\na\n");
        let changed = changed_lines(&before, &after);
        let texts = changed.iter().map(|line| {
            let path: Vec<&str> = line.texts().collect();
            format!(
                "{}{}",
                if line.is_added { '+' } else { '-' },
                path.join(" / ")
            )
        });
        let texts: Vec<String> = texts.collect();
        let expected = [
            "-interface X / one",
            "+interface X / three",
            "-b",
            "+interface Y",
            "+interface Y / one",
        ];
        assert_eq!(texts, expected);
        assert_eq!(changed_lines(&before, &before), []);
    }
}
