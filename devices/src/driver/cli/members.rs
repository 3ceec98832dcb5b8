//! Attributes with values in other blocks: the ports of a VLAN or port channel.
//!
//! Lines that refer to instances of the type are indexed once ([`State::derived`]).

use std::collections::{BTreeMap, HashMap};

use crate::map::IndexMap;

use super::CliType;
use super::found::FoundInstance;
use super::instances::nodes_of;
use super::rules::{CONFIG, CliAttributeRule};
use super::template::{Bindings, CAPTURE_MARK, LineTemplate, bound, take_bound, trailing_number};
use crate::read::State;
use crate::read::indent::{Node, Tree};
use crate::value::{Attributes, Value};

/// Suffix of a binding that has only the number of an attribute.
const NUMBER: &str = "|number";
const BETWEEN: &str = "\0";

/// The lines that refer to instances of a type.
#[derive(Debug, Default)]
struct Referring {
    /// In the order of the device.
    lines: Vec<Member>,
    /// Indexes into `lines` by the text of the names that a line contains.
    by_reference: BTreeMap<Vec<String>, HashMap<String, Vec<usize>>>,
}

/// A line in the block of a member.
#[derive(Debug)]
struct Member {
    member: Value,
    line: String,
    bindings: Bindings,
}

impl Referring {
    /// The lines that refer to an instance.
    fn to<'a>(&'a self, cli: &CliType, attributes: &Attributes) -> Vec<&'a Member> {
        let mut indexes: Vec<&usize> = Vec::new();
        for (names, by_text) in &self.by_reference {
            let texts = names.iter().map(|name| own_text(name, attributes));
            let text: Option<String> = texts.map(|text| Some(text? + BETWEEN)).collect();
            indexes.extend(
                text.and_then(|text| by_text.get(&text))
                    .into_iter()
                    .flatten(),
            );
        }
        indexes.sort_unstable();
        let lines = indexes.into_iter().map(|index| &self.lines[*index]);
        lines
            .filter(|line| cli.refers(&line.bindings, attributes))
            .collect()
    }
}

/// The text of the names that a line may contain.
fn own_text(name: &str, attributes: &Attributes) -> Option<String> {
    match name.strip_suffix(NUMBER) {
        Some(name) => {
            let value = attributes.get(name).and_then(Value::as_str)?;
            trailing_number(value).map(str::to_owned)
        }
        None => attributes.get(name).and_then(Value::scalar_text),
    }
}

impl CliType {
    /// Adds attributes from lines in other blocks that refer to the instance.
    pub(super) fn read_members(
        &self,
        rule: &CliAttributeRule,
        block: &LineTemplate,
        found: &mut FoundInstance,
        state: &State,
    ) {
        let Some(tree) = state.tree(CONFIG) else {
            return;
        };
        let owner = (self.model.name.as_str(), rule.name.as_str());
        let referring = state.derived(owner, CONFIG, || self.referring(rule, block, tree));
        let mut members = Vec::new();
        let mut shared: IndexMap<&str, Vec<&Value>> = IndexMap::default();
        for line in referring.to(self, &found.attributes) {
            for (name, value) in &line.bindings {
                if !name.contains('|') && !name.starts_with(CAPTURE_MARK) {
                    let values = shared.entry(name).or_default();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
            for name in &rule.with {
                let is_bound = bound(&line.bindings, name).is_some();
                let without_words = self.attributes.get(name);
                let without_words = without_words.and_then(|other| other.implied.as_ref());
                if let Some(value) = without_words.filter(|_| !is_bound) {
                    let values = shared.entry(name).or_default();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
            let lines = found.lines.entry(rule.name.to_string()).or_default();
            lines.push((line.member.clone(), line.line.clone()));
            members.push(line.member.clone());
        }
        let members = self.finished(&rule.name, Value::List(members));
        found.attributes.insert(rule.name.clone(), members);
        for (name, values) in shared {
            // If members have different values, the attribute has no value and is out of sync.
            if let [one] = values[..] {
                let value = self.finished(name, one.clone());
                found.attributes.insert(name.to_owned(), value);
            } else if rule.with.iter().any(|with| with.as_str() == name) {
                let lines = found.lines.get(rule.name.as_str());
                let members = lines.into_iter().flatten();
                let members: Vec<String> = members
                    .filter_map(|(member, line)| {
                        Some(format!("{} `{line}`", member.scalar_text()?))
                    })
                    .collect();
                let note = format!("members differ in {name}: {}", members.join(", "));
                found.notes.push(note);
            }
        }
    }

    /// The member whose block has this header.
    pub(super) fn member_in(
        &self,
        rule: &CliAttributeRule,
        block: &LineTemplate,
        header: &Node,
    ) -> Option<Value> {
        take_bound(block.read(&header.text, self)?, &rule.name)
    }

    fn referring(&self, rule: &CliAttributeRule, block: &LineTemplate, tree: &Tree) -> Referring {
        let mut referring = Referring::default();
        for node in nodes_of(Some(tree)) {
            let Some(member) = self.member_in(rule, block, node) else {
                continue;
            };
            for child in &node.children.nodes {
                let Some(bindings) = LineTemplate::first_match(&rule.lines, &child.text, self)
                else {
                    continue;
                };
                let references = bindings
                    .iter()
                    .filter(|(name, _)| name.ends_with(NUMBER) || self.is_namevar(name));
                let mut names = Vec::new();
                let mut text = String::new();
                for (name, value) in references {
                    names.push(name.to_string());
                    text.extend(value.scalar_text());
                    text.push_str(BETWEEN);
                }
                let by_text = referring.by_reference.entry(names).or_default();
                by_text.entry(text).or_default().push(referring.lines.len());
                referring.lines.push(Member {
                    member: member.clone(),
                    line: child.text.clone(),
                    bindings,
                });
            }
        }
        referring
    }

    /// Whether all names in a line are those of this instance.
    pub(super) fn refers(&self, bindings: &Bindings, attributes: &Attributes) -> bool {
        bindings.iter().all(|(name, value)| {
            let Some(name) = name.strip_suffix(NUMBER) else {
                return !self.is_namevar(name) || attributes.get(name) == Some(value);
            };
            let own = attributes.get(name).map(Value::unwrap_sensitive);
            own.and_then(Value::as_str).and_then(trailing_number) == value.as_str()
        })
    }
}
