//! Finding instances in what was read.

use indexmap::IndexMap;

use super::rules::{AttributeRule, CONFIG, Cell, Kind, Place};
use super::template::{Bindings, KEPT, Template, Vocabulary, trailing_number};
use super::{CliType, rules};
use crate::change::Instance;
use crate::change::Wanted;
use crate::read::columns::Row;
use crate::read::indent::{Node, Tree};
use crate::read::{Parsed, State};
use crate::value::{Attributes, Value};

/// An instance with the lines that tell it.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub attributes: Attributes,
    /// By attribute: each value (an element, for lists) and the line as the device has it.
    pub lines: IndexMap<String, Vec<(Value, String)>>,
    /// The line that is the instance, and what of it no attribute tells.
    pub line: Option<String>,
    pub kept: Attributes,
    /// The block that it is in, or that it is.
    pub block: Option<String>,
    /// How many instances the block has.
    pub siblings: usize,
}

impl Found {
    /// Whether the device has the instance: what is read for a type like `network_trunk` may tell
    /// that a port is there and is no trunk.
    pub fn is_present(&self) -> bool {
        self.attributes.get("ensure").and_then(Value::as_str) != Some("absent")
    }

    pub fn into_instance(self) -> Instance {
        let mut attributes = self.attributes;
        attributes.shift_remove("ensure");
        Instance { attributes }
    }
}

impl CliType {
    /// What is known of a resource: of several lines with its names the one that is most like it.
    pub fn find(&self, wanted: &Wanted, state: &State) -> Option<Found> {
        let found = self.find_all(state, Some(&wanted.attributes));
        let likeness = |found: &Found| {
            let same =
                |(name, value): &(&String, &Value)| wanted.attributes.get(*name) == Some(value);
            found.attributes.iter().filter(same).count()
        };
        // The first of several equal ones.
        found.into_iter().rev().max_by_key(likeness)
    }

    /// All instances, or those with the names of a resource.
    pub fn find_all(&self, state: &State, only: Option<&Attributes>) -> Vec<Found> {
        let mut all = match &self.instance.kind {
            Kind::Singleton(label) => self.singleton(state, label),
            Kind::Row { key, .. } => self.rows(state, key, only),
            Kind::Block(spellings) => self.blocks(state, spellings, only),
            Kind::Line { block, spellings } => self.lines(state, block, spellings, only),
        };
        if let (true, true, Some(only)) = (all.is_empty(), self.instance.always, only) {
            let names = self.model.namevars();
            let names = names.filter_map(|name| Some((name.to_owned(), only.get(name)?.clone())));
            all.push(Found {
                attributes: names.collect(),
                ..Found::default()
            });
        }
        for found in &mut all {
            self.complete(found, state);
        }
        all
    }

    fn has_names(&self, attributes: &Attributes, only: Option<&Attributes>) -> bool {
        only.is_none_or(|only| {
            self.model.namevars().all(|name| {
                attributes.get(name).map(Value::unwrap_sensitive)
                    == only.get(name).map(Value::unwrap_sensitive)
            })
        })
    }

    fn singleton(&self, state: &State, label: &str) -> Vec<Found> {
        let Some(tree) = state.tree(&self.instance.from) else {
            return Vec::new();
        };
        let mut found = Found::default();
        for name in self.model.namevars() {
            found.attributes.insert(name.to_owned(), label.into());
        }
        self.read_lines(&tree.nodes, &mut found);
        vec![found]
    }

    fn blocks(
        &self,
        state: &State,
        spellings: &[Template],
        only: Option<&Attributes>,
    ) -> Vec<Found> {
        let Some(tree) = state.tree(&self.instance.from) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for node in &tree.nodes {
            let Some(bindings) = first_match(spellings, &node.text, self) else {
                continue;
            };
            let mut found = Found {
                block: Some(node.text.clone()),
                ..Found::default()
            };
            self.bind(bindings, &mut found);
            if self.has_names(&found.attributes, only) {
                self.read_lines(&node.children.nodes, &mut found);
                for inner in &node.children.nodes {
                    let is_sub = |rule: &AttributeRule| rule.sub.contains(&inner.text);
                    if self.attributes.values().any(is_sub) {
                        self.read_lines(&inner.children.nodes, &mut found);
                    }
                }
                all.push(found);
            }
        }
        all
    }

    /// Which spelling of the block a device uses: that of the instance, else that of others of the
    /// type, else the first.
    pub(super) fn spelling_in_use(&self, state: &State, found: Option<&Found>) -> usize {
        let Kind::Block(spellings) = &self.instance.kind else {
            return 0;
        };
        let spelling_of = |text: &str| {
            spellings
                .iter()
                .position(|spelling| spelling.read(text, self).is_some())
        };
        if let Some(block) = found.and_then(|found| found.block.as_deref()) {
            return spelling_of(block).unwrap_or(0);
        }
        let tree = state.tree(&self.instance.from);
        let others = tree.iter().flat_map(|tree| &tree.nodes);
        others
            .filter_map(|node| spelling_of(&node.text))
            .next()
            .unwrap_or(0)
    }

    fn lines(
        &self,
        state: &State,
        block: &[Template],
        spellings: &[Template],
        only: Option<&Attributes>,
    ) -> Vec<Found> {
        let Some(tree) = state.tree(&self.instance.from) else {
            return Vec::new();
        };
        if block.is_empty() {
            return self.lines_of(&tree.nodes, None, spellings, only);
        }
        let mut all = Vec::new();
        for node in &tree.nodes {
            if let Some(bindings) = first_match(block, &node.text, self) {
                let context = Some((&bindings, node.text.as_str()));
                all.extend(self.lines_of(&node.children.nodes, context, spellings, only));
            }
        }
        all
    }

    fn lines_of(
        &self,
        nodes: &[Node],
        block: Option<(&Bindings, &str)>,
        spellings: &[Template],
        only: Option<&Attributes>,
    ) -> Vec<Found> {
        let mut all = Vec::new();
        for node in nodes {
            let Some(bindings) = first_match(spellings, &node.text, self) else {
                continue;
            };
            let mut found = Found {
                line: Some(node.text.clone()),
                siblings: nodes.len(),
                ..Found::default()
            };
            if let Some((bindings, header)) = block {
                found.block = Some(header.to_owned());
                self.bind(bindings.clone(), &mut found);
            }
            self.bind(bindings, &mut found);
            if self.has_names(&found.attributes, only) {
                all.push(found);
            }
        }
        all
    }

    fn rows(
        &self,
        state: &State,
        key: &[(String, String)],
        only: Option<&Attributes>,
    ) -> Vec<Found> {
        let rows: &[Row] = match state.get(&self.instance.from) {
            Some(Parsed::Columns(table)) => &table.rows,
            Some(Parsed::Stanzas(stanzas)) => stanzas,
            _ => &[],
        };
        let mut all = Vec::new();
        let mut seen = Vec::new();
        for row in rows {
            let mut found = Found::default();
            let complete = key.iter().all(|(attribute, column)| {
                let value = row.get(column).and_then(|cell| self.read(attribute, cell));
                value.is_some_and(|value| {
                    found
                        .attributes
                        .insert(attribute.clone(), self.finished(attribute, value));
                    true
                })
            });
            if !complete || !self.has_names(&found.attributes, only) {
                continue;
            }
            let name = self.instance_name(&found.attributes);
            let predicted = state.predicted(&self.model.name, &name);
            seen.push(name);
            match predicted {
                Some(None) => continue,
                Some(Some(attributes)) => found.attributes = attributes.clone(),
                None => {
                    for rule in self.attributes.values() {
                        let Place::Cell(cell) = &rule.place else {
                            continue;
                        };
                        if let Some(value) = row
                            .get(&cell.name)
                            .and_then(|text| self.cell_value(&rule.name, cell, text))
                        {
                            found.attributes.insert(rule.name.clone(), value);
                        }
                    }
                }
            }
            all.push(found);
        }
        for (name, attributes) in state.predictions(&self.model.name) {
            if let Some(attributes) = attributes
                && !seen.iter().any(|seen| seen == name)
                && self.has_names(attributes, only)
            {
                all.push(Found {
                    attributes: attributes.clone(),
                    ..Found::default()
                });
            }
        }
        all
    }

    pub(super) fn cell_value(&self, attribute: &str, cell: &Cell, text: &str) -> Option<Value> {
        for (name, pattern) in &cell.when {
            if pattern.is_match(text) {
                return self.named_value(attribute, name);
            }
        }
        let text = match &cell.pattern {
            Some(pattern) => pattern.captures(text)?.get(1)?.as_str(),
            None => text,
        };
        if text.is_empty() {
            return None;
        }
        self.read(attribute, text)
            .map(|value| self.finished(attribute, value))
    }

    /// Adds what the lines of a block tell about the attributes that have lines of their own.
    fn read_lines(&self, nodes: &[Node], found: &mut Found) {
        for node in nodes {
            for rule in self.attributes.values() {
                let Some(bindings) = self.read_line(rule, node) else {
                    continue;
                };
                for (name, value) in bindings {
                    self.add(&name, value, &node.text, found);
                }
                // That a line exists is one thing, what it says may be another's.
                if !matches!(rule.place, Place::Exists(_)) {
                    break;
                }
            }
        }
    }

    /// What a line tells about an attribute (and those that share its lines).
    pub(super) fn read_line(&self, rule: &AttributeRule, node: &Node) -> Option<Bindings> {
        match &rule.place {
            Place::Lines => self.read_own_line(rule, &node.text),
            Place::Opaque { words, .. } => {
                let body = node.body.as_deref()?;
                let start = node.text.get(..words.len())?;
                start
                    .eq_ignore_ascii_case(words)
                    .then(|| vec![(rule.name.clone(), body.trim_matches('\n').into())])
            }
            Place::Exists(texts) => {
                let begins = |text: &String| begins_with(&node.text, text);
                texts
                    .iter()
                    .any(begins)
                    .then(|| vec![(rule.name.clone(), true.into())])
            }
            Place::Instance
            | Place::Cell(_)
            | Place::Elsewhere(_)
            | Place::NumberOf(_)
            | Place::Nowhere => None,
        }
    }

    fn read_own_line(&self, rule: &AttributeRule, text: &str) -> Option<Bindings> {
        for (value, line) in &rule.set {
            let Some(bindings) = line.as_ref().and_then(|line| line.read(text, self)) else {
                continue;
            };
            if bindings.iter().any(|(name, _)| *name == rule.name) {
                return Some(bindings);
            }
            let mut all = vec![(rule.name.clone(), self.named_value(&rule.name, value)?)];
            all.extend(bindings);
            return Some(all);
        }
        for line in rule.lines.iter().chain(&rule.more) {
            if rule.default_on
                && let Some(text) = without_no(text)
                && line.read(text, self).is_some()
            {
                return Some(vec![(rule.name.clone(), false.into())]);
            }
            let Some(bindings) = line.read(text, self) else {
                continue;
            };
            return Some(self.own_value(rule, line, bindings)).filter(|bindings| {
                !bindings.iter().any(|(name, value)| {
                    *name == rule.name
                        && self
                            .write(name, value)
                            .is_some_and(|text| rule.skip.contains(&text))
                })
            });
        }
        None
    }

    /// The bindings of a line with the attribute's own value put together.
    fn own_value(&self, rule: &AttributeRule, line: &Template, bindings: Bindings) -> Bindings {
        if line.is_tuple() {
            let (items, mut others): (Bindings, Bindings) = bindings
                .into_iter()
                .partition(|(name, _)| name.parse::<usize>().is_ok());
            let items = items.into_iter().map(|(_, value)| value).collect();
            others.insert(
                0,
                (rule.name.clone(), Value::List(vec![Value::List(items)])),
            );
            return others;
        }
        if line.attributes().contains(&rule.name.as_str()) {
            return bindings;
        }
        let mut all = vec![(rule.name.clone(), Value::Bool(true))];
        all.extend(bindings);
        all
    }

    /// Adds a value; elements of a list are collected.
    fn add(&self, name: &str, value: Value, text: &str, found: &mut Found) {
        if name.starts_with(KEPT) || name.contains('|') {
            return;
        }
        let rule = self.attributes.get(name);
        let many = rule.is_some_and(|rule| rule.many);
        let elements = match value {
            Value::List(items) if many => items,
            value => vec![value],
        };
        for value in elements {
            let lines = found.lines.entry(name.to_owned()).or_default();
            lines.push((value.clone(), text.to_owned()));
            let value = match found.attributes.get(name).map(Value::unwrap_sensitive) {
                Some(Value::List(items)) if many => {
                    let mut items = items.clone();
                    items.push(value);
                    Value::List(items)
                }
                Some(before) if rules::range_set(self.codecs.get(name)).is_some() => {
                    union(self, name, before, &value)
                }
                _ if many => Value::List(vec![value]),
                _ => value,
            };
            found
                .attributes
                .insert(name.to_owned(), self.finished(name, value));
        }
    }

    /// Takes over what the line or the header of an instance tells.
    fn bind(&self, bindings: Bindings, found: &mut Found) {
        for (name, value) in bindings {
            if name.starts_with(KEPT) {
                found.kept.insert(name, value);
            } else if !name.contains('|') {
                let value = self.finished(&name, value);
                found.attributes.insert(name, value);
            }
        }
    }

    /// Adds what stands in other blocks and other reads, and what no line means.
    fn complete(&self, found: &mut Found, state: &State) {
        for rule in self.attributes.values() {
            match &rule.place {
                Place::Elsewhere(block) => self.members(rule, block, found, state),
                Place::NumberOf(other) => {
                    let number = found.attributes.get(other).and_then(Value::as_str);
                    let number = number.and_then(trailing_number);
                    if let Some(value) = number.and_then(|number| self.read(&rule.name, number)) {
                        found.attributes.insert(rule.name.clone(), value);
                    }
                }
                Place::Exists(_) if !found.attributes.contains_key(&rule.name) => {
                    found.attributes.insert(rule.name.clone(), false.into());
                }
                _ => {}
            }
        }
        for rule in self.attributes.values() {
            if found.attributes.contains_key(&rule.name) {
                continue;
            }
            let other = rule.fallback.as_ref().and_then(|fallback| {
                let Some(Parsed::Columns(table)) = state.get(&fallback.read) else {
                    return None;
                };
                let name = self.model.namevars().next()?;
                let own = found.attributes.get(name)?;
                let row = table.rows.iter().find(|row| {
                    row.get(&fallback.key)
                        .and_then(|cell| self.read(name, cell))
                        .as_ref()
                        == Some(own)
                })?;
                self.cell_value(&rule.name, &fallback.cell, row.get(&fallback.cell.name)?)
            });
            if let Some(value) = other.or_else(|| rule.absent.clone()) {
                found.attributes.insert(rule.name.clone(), value);
            }
        }
        // In the model's order, whatever the order of the device's lines.
        let order = |name: &String| self.model.attributes.get_index_of(name);
        found
            .attributes
            .sort_by(|a, _, b, _| order(a).cmp(&order(b)));
    }

    /// The lines in other blocks that refer to the instance.
    fn members(&self, rule: &AttributeRule, block: &Template, found: &mut Found, state: &State) {
        let Some(tree) = state.tree(CONFIG) else {
            return;
        };
        let mut members = Vec::new();
        let mut shared: IndexMap<String, Vec<Value>> = IndexMap::new();
        for (member, line, bindings) in self.member_lines(rule, block, &found.attributes, tree) {
            for (name, value) in bindings {
                if !name.contains('|') {
                    let values = shared.entry(name).or_default();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
            found
                .lines
                .entry(rule.name.clone())
                .or_default()
                .push((member.clone(), line));
            members.push(member);
        }
        found.attributes.insert(
            rule.name.clone(),
            self.finished(&rule.name, Value::List(members)),
        );
        for (name, values) in shared {
            // Where the members disagree nothing can be said, so the attribute differs.
            if let [one] = &values[..] {
                found
                    .attributes
                    .insert(name.clone(), self.finished(&name, one.clone()));
            }
        }
    }

    /// Member, line and what it tells, for each line of another block that refers to the instance.
    pub(super) fn member_lines(
        &self,
        rule: &AttributeRule,
        block: &Template,
        attributes: &Attributes,
        tree: &Tree,
    ) -> Vec<(Value, String, Bindings)> {
        let mut all = Vec::new();
        for node in &tree.nodes {
            let Some(header) = block.read(
                &node.text,
                &Member {
                    cli: self,
                    of: &rule.name,
                },
            ) else {
                continue;
            };
            let Some((_, member)) = header.into_iter().find(|(name, _)| name == "member") else {
                continue;
            };
            for child in &node.children.nodes {
                let Some(bindings) = first_match(&rule.lines, &child.text, self) else {
                    continue;
                };
                let refers = bindings.iter().all(|(name, value)| {
                    let Some(name) = name.strip_suffix("|number") else {
                        let known = attributes.get(name);
                        return !self.is_namevar(name) || known == Some(value);
                    };
                    let own = attributes
                        .get(name)
                        .and_then(Value::as_str)
                        .and_then(trailing_number);
                    own == value.as_str()
                });
                if refers {
                    all.push((member.clone(), child.text.clone(), bindings));
                }
            }
        }
        all
    }

    pub(super) fn is_namevar(&self, name: &str) -> bool {
        self.model.namevars().any(|namevar| namevar == name)
    }
}

/// Reads `{member}` as an element of the attribute whose lines stand elsewhere.
struct Member<'a> {
    cli: &'a CliType,
    of: &'a str,
}

impl Vocabulary for Member<'_> {
    fn read(&self, attribute: &str, text: &str) -> Option<Value> {
        let attribute = if attribute == "member" {
            self.of
        } else {
            attribute
        };
        self.cli.read(attribute, text)
    }

    fn write(&self, attribute: &str, value: &Value) -> Option<String> {
        let attribute = if attribute == "member" {
            self.of
        } else {
            attribute
        };
        self.cli.write(attribute, value)
    }

    fn is_secret(&self, attribute: &str) -> bool {
        self.cli.is_secret(attribute)
    }
}

fn first_match(templates: &[Template], text: &str, cli: &CliType) -> Option<Bindings> {
    templates
        .iter()
        .find_map(|template| template.read(text, cli))
}

fn union(cli: &CliType, name: &str, before: &Value, more: &Value) -> Value {
    let change = Value::List(vec!["add".into(), more.clone()]);
    match cli.codecs.get(name) {
        Some(codec) => codec.resolve(&change, Some(before)),
        None => more.clone(),
    }
}

/// The line without a leading `no`.
pub(super) fn without_no(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once(' ')?;
    first.eq_ignore_ascii_case("no").then(|| rest.trim_start())
}

/// Whether the words of a line begin with those of a text.
pub(super) fn begins_with(line: &str, text: &str) -> bool {
    let mut words = line.split_whitespace();
    text.split_whitespace().all(|word| {
        words
            .next()
            .is_some_and(|actual| actual.eq_ignore_ascii_case(word))
    })
}
