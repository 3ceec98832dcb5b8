//! Predicts the effect of command lines with the templates that read and write them.
//!
//! A line replaces the line with the same attributes, `no` removes the matching line, and a list
//! element is added. The text of a table is not changed; its predicted instances are stored
//! separately.

mod added;
mod block_index;
mod body;
mod header;
mod inactive;
mod indexed_lines;
mod instance_lines;
mod named;
mod needed;
mod number_set;
mod removal;
mod table;
mod tree;

use super::CliType;
use super::attribute_lines::begins_with;
use super::block_path::BlockPath;
use super::line_effect::ValueEffect;
use super::rules::{CONFIG, CliAttributeRule, REMOVED};
use super::template::{Bindings, LineTemplate, Vocabulary, bound, take_bound};
use crate::driver::quoting::Quoting;
use crate::operation::{ConfigLine, Operation};
use crate::read::State;
use crate::read::indent::{Node, Tree};
use crate::secret::Text;
use crate::value::{Attributes, Value};
use body::apply_block_text;
use named::NamedLevel;
use tree::{Target, enter, insert, insert_at};

/// A line in the block of a member that goes with its instance.
struct RemovedMember {
    header: String,
    line: String,
    /// What the device adds to the block.
    added: Vec<Node>,
}

impl CliType {
    pub(super) fn apply(&self, state: &mut State, operations: &[Operation]) {
        let operations = self.apply_needed_lines(state, operations);
        let tree = state.tree(&self.instance.from);
        match &self.inactive {
            Some(rule) if tree.is_some_and(|tree| !tree.inactive().is_empty()) => {
                self.apply_beside_inactive(state, operations, rule);
            }
            _ => self.apply_active(state, operations),
        }
    }

    /// Applies operations to the lines that the device uses.
    fn apply_active(&self, state: &mut State, operations: &[Operation]) {
        if self.apply_instance_lines(state, operations)
            || self.apply_indexed_lines(state, operations)
        {
            return;
        }
        // What the lines of the top level tell remains.
        if self.are_in_blocks(state, self.changed_read(state), operations) {
            return self.apply_lines(state, operations, true);
        }
        let index = self.index_of_top_level_blocks(state);
        self.apply_lines(state, operations, false);
        if let Some(index) = index {
            self.keep_block_index(state, index, operations);
        }
    }

    /// The read whose lines operations change. Lines of members are part of the configuration,
    /// independent of the instance's read.
    fn changed_read(&self, state: &State) -> &str {
        let from = self.instance.from.as_str();
        let is_of_instances = !self.instance.kind.is_row() && state.tree(from).is_some();
        if is_of_instances { from } else { CONFIG }
    }

    /// `is_in_blocks`: only lines in blocks of the top level that exist.
    fn apply_lines(&self, state: &mut State, operations: &[Operation], is_in_blocks: bool) {
        for operation in operations {
            let Some(line) = operation.line() else {
                continue;
            };
            if self.instance.kind.is_row() {
                self.apply_to_table(state, line);
            }
            let from = self.changed_read(state);
            let members = self.lines_of_removed_members(state, line);
            let defaults = self.defaults_for(state, operation, line);
            let headers = self.headers_as_read(&line.mode);
            let outer = headers.first().filter(|_| is_in_blocks);
            let outer = outer.and_then(|outer| state.top_level_position(from, outer));
            let tree = if is_in_blocks {
                state.blocks_mut(from)
            } else {
                state.tree_mut(from)
            };
            if let Some(tree) = tree
                && !self.is_in_table_only(tree, line)
            {
                let target = Target {
                    headers: &headers,
                    position: outer.into_iter().collect(),
                };
                self.apply_to_tree(tree, &target, operation, line, &defaults);
            }
            if members.is_empty() {
                continue;
            }
            if let Some(tree) = state.tree_mut(CONFIG) {
                for removed in members {
                    let block = &mut enter(tree, &removed.header).children;
                    block.nodes.retain(|node| node.text != removed.line);
                    for added in removed.added {
                        if !block.nodes.contains(&added) {
                            insert(block, added);
                        }
                    }
                }
            }
        }
    }

    /// Whether a line is for a block that the configuration lacks, because a table shows it: IOS
    /// stores VLANs apart.
    fn is_in_table_only(&self, tree: &Tree, line: &ConfigLine) -> bool {
        self.instance.kind.enter().is_some()
            && line.mode.first().is_some_and(|header| {
                let header = header.reveal();
                tree.nodes.iter().all(|node| node.text != header)
            })
    }

    /// The lines in the blocks of members that go with an instance.
    fn lines_of_removed_members(&self, state: &State, line: &ConfigLine) -> Vec<RemovedMember> {
        let text = line.text.as_ref().map(Text::reveal).unwrap_or_default();
        let Some(names) = read(&self.instance.remove, &text, self) else {
            return Vec::new();
        };
        let names: Attributes = names.into_iter().collect();
        let mut lines = Vec::new();
        for rule in self.attributes.values() {
            let Some(block) = rule.member_block() else {
                continue;
            };
            for found in self.find_all(state, Some(&names)) {
                let members = found.lines.get(rule.name.as_str());
                for (member, text) in members.into_iter().flatten() {
                    let values = |name: &str| (name == rule.name).then_some(member);
                    let header = block.write(&values, self);
                    let added = rule.adds.get(REMOVED).into_iter().flatten();
                    lines.extend(header.map(|header| RemovedMember {
                        header: header.reveal(),
                        line: text.clone(),
                        added: added.map(|line| Node::new(&line.text)).collect(),
                    }));
                }
            }
        }
        lines
    }

    fn apply_to_tree(
        &self,
        tree: &mut Tree,
        target: &Target<'_>,
        operation: &Operation,
        line: &ConfigLine,
        defaults: &Attributes,
    ) {
        let headers = target.headers;
        self.change_header(tree, headers);
        let level = target.level(tree);
        let Some(text) = &line.text else {
            return;
        };
        let text = text.reveal();
        if line.enters_mode {
            return apply_block_text(level, &text, &line.body);
        }
        if self.apply_move(level, headers, &text) {
            return;
        }
        if let Some(lines) = self.instance.kind.named() {
            let paths = self.instance.kind.paths();
            let is_block = |path: &BlockPath| path.read(headers, self).is_some();
            let is_top_level = paths.is_empty() && headers.is_empty();
            let block = &mut NamedLevel {
                level,
                lines,
                is_inner: !is_top_level && !paths.iter().any(is_block),
                known: None,
            };
            self.apply_named(block, operation, line, &text, defaults);
            return;
        }
        if self.apply_block_removal(level, headers, &text) {
            return;
        }
        let positive = self.negation.positive(&text);
        for one in self.split_lines(headers, positive.as_deref().unwrap_or(&text)) {
            let one = match positive {
                Some(_) => self.negation.negative(Text::plain(one)).reveal(),
                None => one,
            };
            self.apply_line(level, operation, line, one, defaults);
        }
        self.clear_lines(level, operation, &text);
        self.add_companion_lines(level, &text);
    }

    /// Applies a line that removes blocks by words of its own: `delete web` for `edit web`, or by the
    /// words of a mode that is printed differently. Returns false if it is not such a line.
    fn apply_block_removal(&self, level: &mut Tree, headers: &[String], text: &str) -> bool {
        let Some(paths) = self.instance.kind.blocks() else {
            return false;
        };
        if self.negation.positive(text).is_some() && self.instance.mode.is_none() {
            return false;
        }
        let Some(removed) = read(&self.instance.remove, text, self) else {
            return false;
        };
        level.nodes.retain(|node| {
            let headers: Vec<String> = headers.iter().chain([&node.text]).cloned().collect();
            let mut found = paths.iter().filter_map(|path| path.read(&headers, self));
            !found.any(|found| includes(&found, &removed))
        });
        true
    }

    fn apply_line(
        &self,
        level: &mut Tree,
        operation: &Operation,
        line: &ConfigLine,
        text: String,
        defaults: &Attributes,
    ) {
        if !line.body.is_empty() || self.words_of_text(operation).is_some() {
            self.apply_text(level, operation, &text, &line.body);
            return;
        }
        let rules: Vec<&CliAttributeRule> = operation
            .attributes
            .iter()
            .filter_map(|name| self.attributes.get(name))
            .collect();
        for rule in &rules {
            let rule = match &rule.inside {
                Some(outer) => self.attributes.get(outer.as_str()).unwrap_or(rule),
                None => rule,
            };
            if self.apply_rule(level, rule, &text, defaults) {
                return;
            }
        }
        let spellings = self.instance.kind.lines();
        if !spellings.is_empty() {
            if let Some(bindings) = read(spellings, &text, self) {
                self.replace_instance(level, spellings, &bindings, &text);
                return;
            }
            if let Some(bindings) = read(&self.instance.remove, &text, self) {
                level.nodes.retain(|node| {
                    let found = read(spellings, &node.text, self);
                    !found.is_some_and(|found| includes(&found, &bindings))
                });
            }
        }
        let emptied = &self.instance.remove_empty;
        if emptied
            .as_ref()
            .is_some_and(|line| line.read(&text, self).is_some())
            && let Some(rest) = self.negation.positive(&text)
        {
            let headers = self.headers_as_read(&[rest.as_ref().into()]);
            level.nodes.retain(|node| {
                headers
                    .last()
                    .is_none_or(|header| !node.text.eq_ignore_ascii_case(header))
            });
            return;
        }
        let positive = self.negation.positive(&text);
        if let Some(rest) = text.strip_prefix("default ").or(positive.as_deref()) {
            level.nodes.retain(|node| !begins_with(&node.text, rest));
        } else if read(&self.instance.remove, &text, self).is_none() {
            insert(level, Node::new(text));
        }
    }

    /// Defaults of the operation's attributes in its block that a global line sets.
    fn defaults_for(&self, state: &State, operation: &Operation, line: &ConfigLine) -> Attributes {
        let headers = self.headers_as_read(&line.mode);
        let mut paths = self.instance.kind.blocks().into_iter().flatten();
        let names = paths.find_map(|path| path.read(&headers, self));
        let names: Attributes = names.into_iter().flatten().collect();
        let rules = operation.attributes.iter();
        let rules = rules.filter_map(|name| self.attributes.get(name));
        let default = |rule: &CliAttributeRule| {
            Some((rule.name.clone(), self.global_default(rule, &names, state)?))
        };
        rules.filter_map(default).collect()
    }

    /// Applies a line of an attribute. Returns false if it is not such a line.
    fn apply_rule(
        &self,
        level: &mut Tree,
        rule: &CliAttributeRule,
        text: &str,
        defaults: &Attributes,
    ) -> bool {
        let mut node = Node::new(text);
        if rule.member_block().is_some() {
            let Some(rest) = self.negation.positive(text) else {
                if read(&rule.lines, text, self).is_none() {
                    return false;
                }
                level
                    .nodes
                    .retain(|node| read(&rule.lines, &node.text, self).is_none());
                insert(level, node);
                return true;
            };
            level.nodes.retain(|node| !begins_with(&node.text, &rest));
            return true;
        }
        if !rule.is_set_by_lines() {
            return false;
        }
        let bindings = match self.line_effect(rule, text) {
            Some(ValueEffect::Set(bindings)) => bindings,
            Some(ValueEffect::Change(change)) => {
                self.change_set(level, rule, &change);
                return true;
            }
            Some(ValueEffect::Remove(removed)) => {
                self.remove_lines(level, rule, removed);
                return true;
            }
            None => return false,
        };
        let is_shared = bindings.iter().any(|(name, value)| {
            let other = rule.with.iter().find(|other| **other == *name);
            other.is_some_and(|name| self.is_printed(name, value))
        });
        // A shared line may have no value for its first attribute.
        let value = take_bound(bindings, &rule.name);
        let value = value.map(|value| self.finished(&rule.name, value));
        if self.added_set(rule).is_some() {
            self.add_numbers(level, rule, node);
            return true;
        }
        if rule.many {
            let is_there = level
                .nodes
                .iter()
                .any(|node| node.text.eq_ignore_ascii_case(text));
            if !is_there {
                let is_own = |node: &Node| self.read_line(rule, node).is_some();
                let last = level.nodes.iter().rposition(is_own);
                insert_at(level, last.map(|last| last + 1), node);
            }
            return true;
        }
        let index = level
            .nodes
            .iter()
            .position(|node| self.read_shared_line(rule, node).is_some());
        level
            .nodes
            .retain(|node| self.read_shared_line(rule, node).is_none());
        // The device does not print its default, and prints the `no` form otherwise.
        let by_itself = defaults.get(&rule.name).or(rule.absent.as_ref());
        let is_default = value
            .as_ref()
            .is_some_and(|value| by_itself == Some(value) || self.is_unset(&rule.name, value));
        if !is_default || is_shared || !rule.default_values.is_empty() {
            if let Some(text) = self.as_printed(&rule.lines, text) {
                node.text = text;
            }
            insert_at(level, index, node);
        }
        true
    }

    /// A sent line as the device prints it; `None` if that is not known.
    fn as_printed(&self, lines: &[LineTemplate], text: &str) -> Option<String> {
        let mut lines = lines.iter();
        let (template, mut bindings) =
            lines.find_map(|line| Some((line, line.read(text, self)?)))?;
        bindings.retain(|(name, value)| {
            let rule = self.attributes.get(name);
            rule.and_then(|rule| rule.implied.as_ref()) != Some(value)
        });
        let text = template.write(&|name| bound(&bindings, name), &PrintedWords(self))?;
        Some(text.reveal())
    }

    /// Whether a line is the instance of another line.
    fn has_identity_of<'a>(
        &'a self,
        spellings: &'a [LineTemplate],
        bindings: &'a Bindings,
    ) -> impl Fn(&str) -> bool + 'a {
        let removed = self.instance.remove.iter();
        let identity = removed.flat_map(LineTemplate::attributes);
        let identity: Vec<&str> = identity.chain(self.model.namevars()).collect();
        move |line| {
            read(spellings, line, self).is_some_and(|found| {
                let mut identity = identity.iter();
                identity.all(|name| bound(&found, name) == bound(bindings, name))
            })
        }
    }

    fn replace_instance(
        &self,
        level: &mut Tree,
        spellings: &[LineTemplate],
        bindings: &Bindings,
        text: &str,
    ) {
        let has_identity = self.has_identity_of(spellings, bindings);
        let is_same = |node: &Node| has_identity(&node.text);
        let index = level.nodes.iter().position(is_same);
        level.nodes.retain(|node| !is_same(node));
        let printed = self.as_printed(spellings, text);
        insert_at(level, index, Node::new(printed.as_deref().unwrap_or(text)));
    }
}

/// The words that the device prints, where it accepts others.
struct PrintedWords<'a>(&'a CliType);

impl Vocabulary for PrintedWords<'_> {
    fn read(&self, attribute: &str, text: &str) -> Option<Value> {
        self.0.read(attribute, text)
    }

    fn write(&self, attribute: &str, value: &Value) -> Option<String> {
        match self.0.codecs.get(attribute) {
            Some(codec) => codec.print(value),
            None => self.0.write(attribute, value),
        }
    }

    fn is_secret(&self, attribute: &str) -> bool {
        self.0.is_secret(attribute)
    }

    fn reads_each_word(&self, attribute: &str) -> bool {
        self.0.reads_each_word(attribute)
    }

    fn quoting(&self) -> Option<&Quoting> {
        self.0.quoting()
    }
}

fn read(templates: &[LineTemplate], text: &str, cli: &CliType) -> Option<Bindings> {
    templates
        .iter()
        .find_map(|template| template.read(text, cli))
}

/// Whether one set of values has all values of another.
fn includes(found: &Bindings, desired: &Bindings) -> bool {
    desired
        .iter()
        .filter(|(_, value)| *value != Value::Bool(false))
        .all(|pair| found.contains(pair))
}
