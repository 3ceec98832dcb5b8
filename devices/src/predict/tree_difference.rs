//! The difference between two trees as text, with the blocks of the lines that differ.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::read::indent::{Node, Tree};

/// Lines of context before and after a change.
const CONTEXT: usize = 3;

/// A line of a level: of a node, or of the free text below one.
#[derive(Clone, Copy)]
struct LevelLine<'a> {
    text: &'a str,
    node: Option<&'a Node>,
}

/// A line of one or both trees.
struct ComparedLine<'a> {
    /// `-`: only in the first tree, `+`: only in the second, a blank: in both.
    sign: char,
    depth: usize,
    text: &'a str,
}

/// The difference as a unified diff without file names. The header of a hunk has the blocks of its
/// first line. Empty if the trees are equal. Texts are compared as they are, so that a line
/// with a changed secret is included. `show` masks the lines of a hunk, below their blocks, without changing their number.
pub(crate) fn tree_difference(
    before: &Tree,
    after: &Tree,
    show: impl Fn(&str) -> String,
) -> String {
    let mut compared = Vec::new();
    compare(&lines_of(before), &lines_of(after), 0, &mut compared);
    let mut text = String::new();
    let (mut next, mut old, mut new) = (0, 1, 1);
    while let Some(first) = first_change(&compared, next) {
        let start = first.saturating_sub(CONTEXT).max(next);
        let mut end = first + 1;
        while let Some(change) = first_change(&compared, end)
            && change - end <= 2 * CONTEXT
        {
            end = change + 1;
        }
        let end = (end + CONTEXT).min(compared.len());
        let count = |lines: &[ComparedLine<'_>], other: char| {
            lines.iter().filter(|line| line.sign != other).count()
        };
        let (skipped, hunk) = (&compared[next..start], &compared[start..end]);
        old += count(skipped, '+');
        new += count(skipped, '-');
        let (old_count, new_count) = (count(hunk, '+'), count(hunk, '-'));
        text.push_str(&format!("@@ -{old},{old_count} +{new},{new_count} @@"));
        // The blocks give the lines their meaning.
        let blocks = blocks_of(&compared, start);
        let lines = blocks
            .iter()
            .enumerate()
            .map(|(depth, block)| (depth, *block));
        let lines = lines.chain(hunk.iter().map(|line| (line.depth, line.text)));
        let lines: Vec<String> = lines
            .map(|(depth, text)| format!("{}{text}", " ".repeat(depth)))
            .collect();
        let rendered = show(&lines.join("\n"));
        let mut rendered = rendered.split('\n');
        let blocks: Vec<&str> = rendered
            .by_ref()
            .take(blocks.len())
            .map(str::trim_start)
            .collect();
        if !blocks.is_empty() {
            text.push_str(&format!(" {}", blocks.join(" / ")));
        }
        text.push('\n');
        for (line, rendered) in hunk.iter().zip(rendered) {
            text.push_str(&format!("{}{rendered}\n", line.sign));
        }
        old += old_count;
        new += new_count;
        next = end;
    }
    text
}

fn first_change(compared: &[ComparedLine<'_>], from: usize) -> Option<usize> {
    let rest = compared.get(from..)?;
    Some(from + rest.iter().position(|line| line.sign != ' ')?)
}

/// The lines of the blocks of a line, outermost first.
fn blocks_of<'a>(compared: &[ComparedLine<'a>], index: usize) -> Vec<&'a str> {
    let mut depth = compared[index].depth;
    let mut blocks = Vec::new();
    let mut earlier = compared[..index].iter().rev();
    while depth > 0
        && let Some(block) = earlier.find(|line| line.depth < depth)
    {
        depth = block.depth;
        blocks.push(block.text);
    }
    blocks.reverse();
    blocks
}

fn lines_of(tree: &Tree) -> Vec<LevelLine<'_>> {
    let nodes = tree.nodes.iter();
    let lines = nodes.map(|node| LevelLine {
        text: &node.text,
        node: Some(node),
    });
    lines.collect()
}

impl<'a> LevelLine<'a> {
    /// The lines below it.
    fn inner(&self) -> Vec<LevelLine<'a>> {
        let Some(node) = self.node else {
            return Vec::new();
        };
        let body = node.body.as_deref().unwrap_or_default();
        let body = body.trim_matches('\n').lines();
        let body = body.map(|text| LevelLine { text, node: None });
        body.chain(lines_of(&node.children)).collect()
    }

    /// Adds the line with all lines below it.
    fn add(&self, sign: char, depth: usize, compared: &mut Vec<ComparedLine<'a>>) {
        compared.push(ComparedLine {
            sign,
            depth,
            text: self.text,
        });
        for line in self.inner() {
            line.add(sign, depth + 1, compared);
        }
    }
}

/// Compares the lines of a level. Lines with the same text are compared in what is below them.
fn compare<'a>(
    before: &[LevelLine<'a>],
    after: &[LevelLine<'a>],
    depth: usize,
    compared: &mut Vec<ComparedLine<'a>>,
) {
    let texts =
        |lines: &[LevelLine<'a>]| -> Vec<&'a str> { lines.iter().map(|line| line.text).collect() };
    for operation in capture_diff_slices(Algorithm::Myers, &texts(before), &texts(after)) {
        let (tag, old, new) = operation.as_tag_tuple();
        let (old, new) = (&before[old], &after[new]);
        if tag != DiffTag::Equal {
            old.iter().for_each(|line| line.add('-', depth, compared));
            new.iter().for_each(|line| line.add('+', depth, compared));
            continue;
        }
        for (old, new) in old.iter().zip(new) {
            if old.node == new.node {
                old.add(' ', depth, compared);
                continue;
            }
            compared.push(ComparedLine {
                sign: ' ',
                depth,
                text: old.text,
            });
            compare(&old.inner(), &new.inner(), depth + 1, compared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::indent::IndentRules;

    fn difference(before: &str, after: &str) -> String {
        let tree = |text| Tree::parse(text, &IndentRules::default());
        tree_difference(&tree(before), &tree(after), str::to_owned)
    }

    #[test]
    fn tree_difference_has_a_change_with_its_block_and_context() {
        let before = "hostname a\ninterface X\n a\n b\n c\n d\n e\n f\n g\n";
        let after = "hostname a\ninterface X\n a\n b\n c\n d\n E\n f\n g\n h\n";
        assert_eq!(
            difference(before, after),
            "@@ -4,6 +4,7 @@ interface X\n  b\n  c\n  d\n- e\n+ E\n  f\n  g\n+ h\n"
        );
        assert_eq!(difference(before, before), "");
        assert_eq!(difference("", "a\n"), "@@ -1,0 +1,1 @@\n+a\n");
        assert_eq!(difference("a\n", ""), "@@ -1,1 +1,0 @@\n-a\n");
    }

    #[test]
    fn tree_difference_has_all_blocks_of_a_nested_line() {
        let text = "router bgp 1\n a\n b\n c\n address-family ipv4\n  d\n  e\n  f\n  g\n";
        assert_eq!(
            difference(text, &text.replace("  g\n", "  g 2\n")),
            "@@ -6,4 +6,4 @@ router bgp 1 / address-family ipv4\n   d\n   e\n   f\n-  g\n+  g 2\n"
        );
    }

    #[test]
    fn tree_difference_compares_lines_with_those_of_the_same_block() {
        let before = "interface A\n shutdown\ninterface B\n shutdown\n";
        let after = "interface A\ninterface B\n shutdown\n";
        assert_eq!(
            difference(before, after),
            "@@ -1,4 +1,3 @@\n interface A\n- shutdown\n interface B\n  shutdown\n"
        );
    }

    #[test]
    fn tree_difference_has_distant_changes_in_separate_hunks() {
        let before: String = (0..40).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n", "five\n").replacen("30\n", "", 1);
        let diff = difference(&before, &after);
        assert!(
            diff.contains("-30\n") && diff.contains("-5\n+five\n"),
            "{diff}"
        );
        assert!(!diff.contains(" 20\n"), "{diff}");
    }
}
