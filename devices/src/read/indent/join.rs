//! Blocks with one header are one block.
//!
//! A device may print a block in parts: `vlan 1,10,20`, and then `vlan 10` with its lines. The lines
//! of all parts belong to the first of them. Equal lines without a block stay, because a text that no
//! definition knows may have them.

use foldhash::{HashMap, HashSet};

use super::{Node, RepeatedLine, SplitRule, Tree};

/// A line, and whether it is one of several that the device prints as one.
struct ListedNode {
    node: Node,
    is_of_list: bool,
}

impl Tree {
    /// Replaces lines of several instances by one line for each, with the lines below them. Then
    /// joins the blocks with one header.
    pub(super) fn split_and_join(&mut self, rules: &[SplitRule]) {
        let nodes = std::mem::take(&mut self.nodes);
        self.join(split(nodes, rules));
        if rules.iter().any(|rule| rule.is_top_level) {
            let inner = rules.iter().filter(|rule| !rule.is_top_level);
            let inner: Vec<SplitRule> = inner.cloned().collect();
            self.split_and_join_blocks(&inner);
        } else {
            self.split_and_join_blocks(rules);
        }
    }

    fn split_and_join_blocks(&mut self, rules: &[SplitRule]) {
        for node in &mut self.nodes {
            if !node.children.nodes.is_empty() {
                node.children.split_and_join(rules);
            }
        }
    }

    /// Adds lines, the blocks with one header as one.
    fn join(&mut self, nodes: Vec<ListedNode>) {
        let may_repeat = |one: &&ListedNode| one.is_of_list || !one.node.children.nodes.is_empty();
        let headers: HashSet<String> = nodes
            .iter()
            .filter(may_repeat)
            .map(|one| one.node.text.clone())
            .collect();
        let mut positions: HashMap<String, usize> = HashMap::default();
        for ListedNode { node, .. } in nodes {
            if node.body.is_some() || !headers.contains(&node.text) {
                self.nodes.push(node);
                continue;
            }
            match positions.get(&node.text) {
                Some(first) => {
                    let block = &mut self.nodes[*first];
                    let repeated = self.repeated.get_or_insert_default();
                    repeated.0.push(RepeatedLine {
                        line: node.line,
                        of: block.line,
                    });
                    block.children.add_lines(node.children.nodes);
                }
                None => {
                    positions.insert(node.text.clone(), self.nodes.len());
                    self.nodes.push(node);
                }
            }
        }
    }

    /// Adds the lines of a further part of a block. A line that the block has is no further one.
    fn add_lines(&mut self, further: Vec<Node>) {
        let is_line = |node: &Node| node.children.nodes.is_empty() && node.body.is_none();
        let known = self.nodes.len();
        for node in further {
            let mut own = self.nodes[..known].iter();
            match own.find(|own| is_line(&node) && own.text == node.text) {
                Some(own) => {
                    let of = own.line;
                    let repeated = self.repeated.get_or_insert_default();
                    let line = node.line;
                    repeated.0.push(RepeatedLine { line, of });
                }
                None => self.nodes.push(node),
            }
        }
    }
}

fn split(nodes: Vec<Node>, rules: &[SplitRule]) -> Vec<ListedNode> {
    let mut all = Vec::with_capacity(nodes.len());
    for node in nodes {
        let lines = rules.iter().find_map(|rule| rule.lines(&node.text));
        let Some(lines) = lines else {
            all.push(ListedNode {
                node,
                is_of_list: false,
            });
            continue;
        };
        all.extend(lines.into_iter().map(|text| ListedNode {
            node: Node {
                text,
                ..node.clone()
            },
            is_of_list: true,
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::{IndentRules, SplitRule, Tree};
    use crate::pattern::Pattern;

    fn joined(text: &str) -> String {
        let rules = IndentRules {
            split: vec![SplitRule {
                pattern: Pattern::new(r"^vlan ([\d,-]+)$").unwrap(),
                has_numbers: true,
                is_top_level: true,
            }],
            ..IndentRules::default()
        };
        Tree::parse(text, &rules).text()
    }

    #[test]
    fn lists_in_blocks_stay_if_a_rule_is_for_the_top_level() {
        let text = "vlan 1-2\nrouter bgp 1\n vlan-aware-bundle A\n  vlan 1-2\n";
        let expected = "vlan 1\nvlan 2\nrouter bgp 1\n vlan-aware-bundle A\n  vlan 1-2\n";
        assert_eq!(joined(text), expected);
    }

    #[test]
    fn blocks_with_one_header_are_one_block() {
        let cases = [
            (
                "vlan 1,10,20\nvlan 10\n name users\nvlan 20\n state suspend\n",
                "vlan 1\nvlan 10\n name users\nvlan 20\n state suspend\n",
            ),
            (
                "vlan 1,10\nvlan 10\nvlan 1-2\n",
                "vlan 1\nvlan 10\nvlan 2\n",
            ),
            (
                "router bgp 1\n router-id 1.1.1.1\n vrf A\n  a\nntp\nrouter bgp 1\n router-id 1.1.1.1\n vrf A\n  b\n c\n",
                "router bgp 1\n router-id 1.1.1.1\n vrf A\n  a\n  b\n c\nntp\n",
            ),
            ("a\na\n b\na\n", "a\n b\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(joined(text), expected, "{text}");
        }
    }

    #[test]
    fn equal_lines_without_a_block_stay() {
        let text = "certificate\n 0102\n 0102\nx\nx\n";
        assert_eq!(joined(text), text);
    }
}
