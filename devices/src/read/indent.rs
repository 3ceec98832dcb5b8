//! Configuration text nested by indentation, as a tree.
//!
//! A line with deeper indentation than the line before belongs to it
//! (`docs/reference/devices/cisco_ios.md`, section 3). Separator lines are ignored. A text between
//! delimiters (a banner) is one node with an unparsed body. Blocks with one header are one block.

pub(crate) mod inactive;
mod join;

use std::ops::Range;

use self::inactive::{InactiveLines, InactiveNodes};
use crate::number_list;
use crate::pattern::{Pattern, Patterns};

/// Syntax of a platform's configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndentRules {
    /// Lines without content.
    pub(crate) ignore: Patterns,
    pub(crate) opaque: Vec<OpaqueRule>,
    /// Blocks with an end line of their own.
    pub(crate) sections: Vec<SectionRule>,
    /// First lines of blocks that only begin like those of types.
    pub(crate) foreign: Patterns,
    /// Replacements in every line before parsing: counters, other spellings.
    pub(crate) replace: Vec<(Pattern, String)>,
    /// Lines of several instances, each read as one line for each.
    pub(crate) split: Vec<SplitRule>,
    /// How lines mark others as inactive.
    pub(crate) inactive: Option<InactiveLines>,
}

/// A block of free text: from the line that matches `start` to the first match of `end` after it.
#[derive(Clone, Debug)]
pub(crate) struct OpaqueRule {
    pub(crate) start: Pattern,
    pub(crate) end: Pattern,
}

/// A block that a line ends: the lines between are inside it, also those that are not indented
/// deeper than its first line. The end line is no content.
#[derive(Clone, Debug)]
pub(crate) struct SectionRule {
    pub(crate) start: Pattern,
    pub(crate) end: Pattern,
}

/// A line with lists of names in its groups: it stands for one line with each of them.
#[derive(Clone, Debug)]
pub(crate) struct SplitRule {
    pub(crate) pattern: Pattern,
    /// The list is one of numbers and ranges, `1,5-7`, instead of words.
    pub(crate) has_numbers: bool,
    /// Lines in blocks do not count: there, the same words are one value.
    pub(crate) is_top_level: bool,
}

impl IndentRules {
    /// A text without ignored lines, except those that are `needed`. Texts between delimiters stay
    /// as they are.
    pub(crate) fn without_ignored(&self, text: &str, needed: &dyn Fn(&str) -> bool) -> String {
        let mut rest = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let content = line.trim();
            if self.ignore.is_match(content) && !needed(content) {
                continue;
            }
            rest.push_str(line);
            rest.push('\n');
            for rule in &self.opaque {
                let Some(found) = rule.start.find(content) else {
                    continue;
                };
                let mut inner = &content[found.end()..];
                while rule.end.find(inner).is_none()
                    && let Some(next) = lines.next()
                {
                    rest.push_str(next);
                    rest.push('\n');
                    inner = next;
                }
                break;
            }
        }
        rest
    }
}

impl SplitRule {
    /// The lines of a line with more than one name. Several lists have the names of one line at the
    /// same position.
    pub(crate) fn lines(&self, line: &str) -> Option<Vec<String>> {
        let found = self.pattern.captures(line)?;
        let groups = 1..=self.pattern.group_count();
        let groups: Vec<Range<usize>> = groups
            .filter_map(|group| Some(found.get(group)?.range()))
            .collect();
        let lists = groups.iter().map(|group| self.names(&line[group.clone()]));
        let lists: Vec<Vec<String>> = lists.collect::<Option<_>>()?;
        let count = lists.first()?.len();
        // Lists of different lengths do not say which names belong together.
        if count < 2 || lists.iter().any(|list| list.len() != count) {
            return None;
        }
        let line_of = |index: usize| {
            let mut text = String::new();
            let mut at = 0;
            for (group, list) in groups.iter().zip(&lists) {
                text.push_str(&line[at..group.start]);
                text.push_str(&list[index]);
                at = group.end;
            }
            text + &line[at..]
        };
        Some((0..count).map(line_of).collect())
    }

    fn names(&self, list: &str) -> Option<Vec<String>> {
        if self.has_numbers {
            let numbers = number_list::numbers(list)?;
            return Some(numbers.iter().map(ToString::to_string).collect());
        }
        Some(list.split_whitespace().map(str::to_owned).collect())
    }
}

/// A block that is open while lines are read.
struct OpenBlock {
    indentation: usize,
    /// The line that begins the block begins a section, none of whose lines is indented deeper.
    is_flat_section: bool,
}

/// The lines of one level with their nested lines. Trees are equal whose lines have equal texts.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// Lines of the top level that the device does not use, and those that mark them. Few devices
    /// have them, and each line has a level below it.
    pub(crate) inactive: Option<Box<InactiveNodes>>,
    /// Lines that the device prints again, with the line that they repeat. Few levels have some.
    pub(crate) repeated: Option<Box<RepeatedLines>>,
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes && self.inactive() == other.inactive()
    }
}

/// Lines without a node of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepeatedLines(pub(crate) Vec<RepeatedLine>);

/// A line without a node of its own: the header of a further part of a block, or a line that the block
/// already has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatedLine {
    pub(crate) line: u32,
    pub(crate) of: u32,
}

/// A line. Nodes are equal that have equal texts.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Without indentation and trailing spaces.
    pub(crate) text: String,
    pub(crate) children: Tree,
    /// The free text of an opaque block, without its delimiters.
    pub(crate) body: Option<Box<str>>,
    /// The line in the text, from 1; 0 if the line was predicted. Nodes of one line share it.
    pub(crate) line: u32,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.body == other.body && self.children == other.children
    }
}

impl Node {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A line with lines below it.
    pub(crate) fn block(text: impl Into<String>, nodes: Vec<Node>) -> Self {
        Self {
            children: Tree {
                nodes,
                ..Tree::default()
            },
            ..Self::new(text)
        }
    }

    pub(crate) fn words(&self) -> Vec<&str> {
        self.text.split_whitespace().collect()
    }
}

impl Tree {
    /// The lines that the device prints again on this level.
    pub(crate) fn repeated(&self) -> &[RepeatedLine] {
        self.repeated.as_deref().map_or(&[], |lines| &lines.0)
    }

    pub(crate) fn parse(text: &str, rules: &IndentRules) -> Self {
        let mut tree = Tree::default();
        // The open blocks, outermost first.
        let mut open: Vec<OpenBlock> = Vec::new();
        let mut lines = (1..).zip(text.lines());
        while let Some((number, original)) = lines.next() {
            let line = original.trim_end();
            let content = line.trim_start();
            let depth = line.len() - content.len();
            let begins = |rule: &SectionRule| rule.start.is_match(content);
            let begins_section = rules.sections.iter().any(begins);
            let ends_section = rules.sections.iter().any(|rule| rule.end.is_match(content));
            if ends_section || begins_section {
                let flat = open.iter().position(|block| block.is_flat_section);
                open.truncate(flat.unwrap_or(open.len()));
            }
            if content.is_empty() || ends_section || rules.ignore.is_match(content) {
                continue;
            }
            while open.last().is_some_and(|block| {
                if block.is_flat_section {
                    block.indentation > depth
                } else {
                    block.indentation >= depth
                }
            }) {
                open.pop();
            }
            if let Some(block) = open.last_mut().filter(|block| block.indentation < depth) {
                block.is_flat_section = false;
            }
            let mut node = Node {
                line: number,
                ..Node::new(content)
            };
            for (pattern, with) in &rules.replace {
                if pattern.is_match(&node.text) {
                    node.text = pattern.replace_all(&node.text, with).trim_end().to_owned();
                }
            }
            for rule in &rules.opaque {
                if let Some(found) = rule.start.find(content) {
                    node.text = content[..found.end()].trim_end().to_owned();
                    // Spaces at the end of a line are part of the text.
                    let first = original.trim_start().trim_end_matches('\r');
                    let mut inner = lines.by_ref().map(|(_, line)| line);
                    node.body = Some(opaque_body(&first[found.end()..], &mut inner, rule).into());
                    break;
                }
            }
            tree.level(open.len()).push(node);
            open.push(OpenBlock {
                indentation: depth,
                is_flat_section: begins_section,
            });
        }
        tree.split_and_join(&rules.split);
        if let Some(rule) = &rules.inactive {
            tree.separate_inactive(rule);
        }
        tree
    }

    /// The lines at this depth, below the last line of each level above.
    fn level(&mut self, depth: usize) -> &mut Vec<Node> {
        let mut nodes = &mut self.nodes;
        for _ in 0..depth {
            nodes = &mut nodes
                .last_mut()
                .expect("an open block has a line")
                .children
                .nodes;
        }
        nodes
    }

    /// Renders the configuration text with one space per level and without separators.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.print(0, &mut text);
        text
    }

    /// The same lines in another order, which does not depend on theirs.
    pub(crate) fn sorted(mut self) -> Self {
        self.nodes.sort_by(|a, b| a.text.cmp(&b.text));
        for node in &mut self.nodes {
            node.children = std::mem::take(&mut node.children).sorted();
        }
        self
    }

    fn print(&self, depth: usize, text: &mut String) {
        for node in &self.nodes {
            text.push_str(&" ".repeat(depth));
            text.push_str(&node.text);
            text.push('\n');
            if let Some(body) = &node.body {
                for line in body.trim_matches('\n').lines() {
                    text.push_str(&" ".repeat(depth + 1));
                    text.push_str(line);
                    text.push('\n');
                }
            }
            node.children.print(depth + 1, text);
        }
    }
}

fn opaque_body<'a>(
    first: &'a str,
    lines: &mut impl Iterator<Item = &'a str>,
    rule: &OpaqueRule,
) -> String {
    let mut body = String::new();
    let mut line = first;
    loop {
        if let Some(end) = rule.end.find(line) {
            body.push_str(&line[..end.start()]);
            return body;
        }
        body.push_str(line);
        let Some(next) = lines.next() else {
            return body;
        };
        body.push('\n');
        line = next.trim_end_matches('\r');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indent_drops_ignored_lines_that_are_not_needed() {
        let rules = IndentRules {
            ignore: Patterns::from_iter(["^[!#]", "^end$"].map(|text| Pattern::new(text).unwrap())),
            opaque: vec![OpaqueRule {
                start: Pattern::new(r"^banner (\S)$").unwrap(),
                end: Pattern::new("^!$").unwrap(),
            }],
            ..IndentRules::default()
        };
        let text = "!Version 1\nrouter a\n b\n!\n  c\nbanner !\n# text\n!\nend\n";
        assert_eq!(
            rules.without_ignored(text, &|line| line == "end"),
            "router a\n b\n  c\nbanner !\n# text\n!\nend\n"
        );
    }

    #[test]
    fn tree_has_a_line_for_each_name_of_a_list() {
        let rule = |pattern: &str, has_numbers| SplitRule {
            pattern: Pattern::new(pattern).unwrap(),
            has_numbers,
            is_top_level: false,
        };
        let rules = IndentRules {
            split: vec![
                rule(r"^name-server (?:vrf \S+ )?(.+)$", false),
                rule(r"^vlan ([\d,-]+)$", true),
                rule(r"^map vlan ([\d,-]+) vni ([\d,-]+)$", true),
            ],
            ..IndentRules::default()
        };
        let text = "name-server vrf a 192.0.2.1  192.0.2.2\nname-server 192.0.2.3\nvlan 10,20-21\n state active\nvlan x\n\
                    map vlan 20-21,30 vni 10020-10021,7\nmap vlan 1-2 vni 3\n";
        let tree = Tree::parse(text, &rules);
        assert_eq!(
            tree.text(),
            "name-server vrf a 192.0.2.1\nname-server vrf a 192.0.2.2\nname-server 192.0.2.3\n\
             vlan 10\n state active\nvlan 20\n state active\nvlan 21\n state active\nvlan x\n\
             map vlan 20 vni 10020\nmap vlan 21 vni 10021\nmap vlan 30 vni 7\nmap vlan 1-2 vni 3\n"
        );
    }

    fn rules() -> IndentRules {
        let pattern = |text: &str| Pattern::new(text).unwrap();
        IndentRules {
            ignore: [pattern("^!"), pattern("^exit(-vrf|-address-family)?$")]
                .into_iter()
                .collect(),
            opaque: vec![OpaqueRule {
                start: pattern(r"^banner \S+ \^C"),
                end: pattern(r"\^C"),
            }],
            foreign: Patterns::default(),
            sections: vec![SectionRule {
                start: pattern("^address-family "),
                end: pattern("^exit-address-family$"),
            }],
            replace: vec![(pattern(r" \(\d+ matches\)"), String::new())],
            ..IndentRules::default()
        }
    }

    #[test]
    fn indent_nests_lines_at_any_step() {
        let text = "hostname a\n!\nrouter bgp 1\n neighbor x\n !\n address-family ipv4\n  network y\n exit-address-family\nexit\nend\n";
        let tree = Tree::parse(text, &rules());
        assert_eq!(
            tree.text(),
            "hostname a\nrouter bgp 1\n neighbor x\n address-family ipv4\n  network y\nend\n"
        );
        let wide = Tree::parse(
            "list a\n    10 permit (3 matches)\n    20 deny\nlist b\n",
            &rules(),
        );
        assert_eq!(wide.text(), "list a\n 10 permit\n 20 deny\nlist b\n");
    }

    #[test]
    fn indent_assigns_section_lines_at_any_indentation() {
        let nested = "vrf definition A\n rd 1:1\n address-family ipv4\n  import map X\n address-family ipv6\n  \
                      route-target import 1:1\nvrf definition B\n route-target import 1:1\n";
        let flat = "vrf definition A\n rd 1:1\n !\n address-family ipv4\n import map X\n exit-address-family\n !\n \
                    address-family ipv6\n route-target import 1:1\n exit-address-family\n!\nvrf definition B\n \
                    route-target import 1:1\n";
        let unfinished = flat.replace(" exit-address-family\n", "");
        let deep = nested.replace(
            "vrf definition B",
            " exit-address-family\n!\nvrf definition B",
        );
        for text in [nested, flat, unfinished.as_str(), deep.as_str()] {
            assert_eq!(Tree::parse(text, &rules()).text(), nested, "{text}");
        }
        let after =
            "a\n address-family x\n b\n exit-address-family\n c\n address-family y\n  d\n e\n";
        let tree = Tree::parse(after, &rules());
        assert_eq!(
            tree.text(),
            "a\n address-family x\n  b\n c\n address-family y\n  d\n e\n"
        );
    }

    #[test]
    fn indent_does_not_parse_banners() {
        let text =
            "banner motd ^CHello\ninterface X\n! no\n^C\nbanner exec ^Cone line^C\ninterface Y\n";
        let tree = Tree::parse(text, &rules());
        let found: Vec<_> = tree
            .nodes
            .iter()
            .map(|node| (node.text.as_str(), node.body.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                ("banner motd ^C", Some("Hello\ninterface X\n! no\n")),
                ("banner exec ^C", Some("one line")),
                ("interface Y", None),
            ]
        );
    }

    #[test]
    fn nodes_have_the_numbers_of_their_lines() {
        let text = "!\nrouter a\n b\n!\nbanner x ^C\none\n^C\nrouter a\n b\n c\nend\n";
        let tree = Tree::parse(text, &rules());
        let numbers: Vec<u32> = tree.nodes.iter().map(|node| node.line).collect();
        assert_eq!(numbers, [2, 5, 11]);
        let block = &tree.nodes[0].children;
        let numbers: Vec<u32> = block.nodes.iter().map(|node| node.line).collect();
        assert_eq!(numbers, [3, 10]);
        assert_eq!(tree.repeated(), [RepeatedLine { line: 8, of: 2 }]);
        assert_eq!(block.repeated(), [RepeatedLine { line: 9, of: 3 }]);
    }

    #[test]
    fn indent_accepts_a_text_that_ends_in_a_banner() {
        let tree = Tree::parse("banner motd ^CHello\nthere", &rules());
        assert_eq!(tree.nodes[0].body.as_deref(), Some("Hello\nthere"));
    }
}
