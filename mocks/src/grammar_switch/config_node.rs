//! The configuration of a device as a tree of lines.

use std::cmp::Ordering;

/// A line with the lines of its block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ConfigNode {
    /// Its row; `None`: a line of the initial configuration that the grammar does not have.
    pub(super) row: Option<usize>,
    /// The words that identify it in its block.
    pub(super) key: String,
    /// The line without indentation and negation.
    pub(super) text: String,
    pub(super) arguments: Vec<String>,
    /// The line is a negation.
    pub(super) is_negative: bool,
    /// The block is part of the device.
    pub(super) is_permanent: bool,
    /// Further lines of a text.
    pub(super) body: Vec<String>,
    pub(super) children: Vec<ConfigNode>,
}

impl ConfigNode {
    /// The line with a key in this block.
    pub(super) fn child(&self, key: &str) -> Option<&ConfigNode> {
        self.children.iter().find(|child| child.key == key)
    }

    pub(super) fn child_mut(&mut self, key: &str) -> Option<&mut ConfigNode> {
        self.children.iter_mut().find(|child| child.key == key)
    }

    /// The block with a path of keys.
    pub(super) fn block(&self, path: &[String]) -> Option<&ConfigNode> {
        path.iter().try_fold(self, |block, key| block.child(key))
    }

    pub(super) fn block_mut(&mut self, path: &[String]) -> Option<&mut ConfigNode> {
        path.iter()
            .try_fold(self, |block, key| block.child_mut(key))
    }

    /// Sets a line of this block. A line with the same key is replaced; its block remains.
    pub(super) fn set(&mut self, line: ConfigNode) {
        match self.child_mut(&line.key) {
            None => self.children.push(line),
            Some(current) => {
                current.row = line.row;
                current.text = line.text;
                current.arguments = line.arguments;
                current.is_negative = line.is_negative;
                current.body = line.body;
            }
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.children.retain(|child| child.key != key);
    }

    /// Removes the lines that begin with these words, except one.
    pub(super) fn clear(&mut self, start: &str, except: &str) {
        self.children
            .retain(|child| child.key == except || !begins_with(&child.text, start));
    }

    /// Whether a line of this block is in effect.
    pub(super) fn has_line(&self, text: &str) -> bool {
        let mut children = self.children.iter();
        children.any(|child| !child.is_negative && child.text == text)
    }
}

/// Whether a text begins with these words.
pub(super) fn begins_with(text: &str, start: &str) -> bool {
    text.strip_prefix(start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The order of texts in which numbers count as numbers.
pub(super) fn natural_order(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let (left_number, right_number) = (digits(left), digits(right));
        let order = match (left_number, right_number) {
            ("", _) | (_, "") => match (left.chars().next(), right.chars().next()) {
                (Some(one), Some(other)) if one == other => {
                    left = &left[one.len_utf8()..];
                    right = &right[one.len_utf8()..];
                    continue;
                }
                (one, other) => return one.cmp(&other),
            },
            (one, other) => {
                let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
                one.len().cmp(&other.len()).then_with(|| one.cmp(other))
            }
        };
        if order != Ordering::Equal {
            return order;
        }
        left = &left[left_number.len()..];
        right = &right[right_number.len()..];
    }
}

fn digits(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}
