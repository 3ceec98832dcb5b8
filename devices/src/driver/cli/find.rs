//! Finds instances in the answers and reads their attributes.

use foldhash::HashMap;

use super::CliType;
use super::found::FoundInstance;
use super::instances::{ContentLocation, IndexedInstance, nodes_at, nodes_of};
use super::named_lines::inner_blocks;
use super::row_rule::table_rows;
use super::rules::{CONFIG, Cell, CliAttributeRule, CliLocation, DefaultCell, part_of};
use super::template::{LineTemplate, Vocabulary};
use crate::model::Role;
use crate::read::State;
use crate::read::indent::Node;
use crate::read::predicted::PredictedRow;
use crate::read::row::{CellText, Row};
use crate::value::{Attributes, Name, Value};

/// What a row has of an attribute.
pub(super) enum CellValue {
    Value(Value),
    /// The cell does not exist or is empty.
    Missing,
    /// The text is no value.
    NotUnderstood,
}

impl CellValue {
    fn value(self) -> Option<Value> {
        match self {
            CellValue::Value(value) => Some(value),
            CellValue::Missing | CellValue::NotUnderstood => None,
        }
    }
}

impl From<Option<Value>> for CellValue {
    fn from(value: Option<Value>) -> Self {
        value.map_or(CellValue::NotUnderstood, CellValue::Value)
    }
}

impl CliType {
    /// The instance with the names of a resource, and with the identity that it selects.
    pub(crate) fn find(&self, desired: &Attributes, state: &State) -> Option<FoundInstance> {
        let mut found = self.find_all(state, Some(desired));
        if found.iter().any(|one| self.is_selected(desired, one)) {
            found.retain(|one| self.is_selected(desired, one));
        }
        found.into_iter().min_by_key(|one| !one.is_understood())
    }

    /// All instances, or those with the namevars of a resource.
    pub(crate) fn find_all(&self, state: &State, only: Option<&Attributes>) -> Vec<FoundInstance> {
        let instances = self.indexed_instances(state);
        let singleton = self.instance.kind.is_singleton();
        let mut all: Vec<FoundInstance> = match only {
            // The title of a singleton is a label only.
            Some(names) if !singleton => {
                let named = instances.named(self, names);
                let named = named.filter_map(|indexed| self.read_instance(indexed, state));
                let mut named: Vec<FoundInstance> = named.collect();
                if named.is_empty() {
                    named.extend(self.by_beginning(names, &instances));
                }
                named
            }
            _ => {
                let indexed = instances.iter();
                indexed
                    .filter_map(|indexed| self.read_instance(indexed, state))
                    .collect()
            }
        };
        if self.instance.kind.is_row() {
            self.add_predicted(&mut all, state, &instances, only);
        }
        self.add_inactive(&mut all, state, only);
        if let (true, true, Some(only)) = (all.is_empty(), self.instance.always, only) {
            let names = self.model.namevars();
            let names = names.filter_map(|name| Some((name.to_owned(), only.get(name)?.clone())));
            all.push(FoundInstance {
                attributes: names.collect(),
                spelling: self.new_spelling(only, None),
                ..FoundInstance::default()
            });
        }
        let further = self.take_further_lines(&mut all);
        for found in &mut all {
            self.complete(found, state);
        }
        self.mark_further_lines(&mut all, further);
        self.mark_equal_names(&mut all);
        all
    }

    /// An instance with the attributes from its block or row; `None` if it was removed.
    fn read_instance(&self, indexed: &IndexedInstance, state: &State) -> Option<FoundInstance> {
        #[cfg(test)]
        crate::driver::work_count::add();
        let mut found = indexed.found.clone();
        let nodes = nodes_of(state.tree(&self.instance.from));
        match &indexed.location {
            ContentLocation::Line if self.instance.kind.is_singleton() => {
                self.read_block(nodes, &mut found);
                found.notes.extend(self.other_lines(nodes));
            }
            ContentLocation::Line => {}
            ContentLocation::Block(position) => {
                let block = position
                    .split_last()
                    .map(|(last, outer)| &nodes_at(nodes, outer)[*last]);
                let text = block.into_iter().flat_map(|block| self.block_text(block));
                let text = text.map(|(rule, text)| (rule.name.clone(), text));
                found.attributes.extend(text);
                self.read_block(nodes_at(nodes, position), &mut found)
            }
            ContentLocation::Lines(lines) => self.read_block(lines, &mut found),
            ContentLocation::Row(index) => {
                let rows = self.rows(state);
                match self.predicted_row(&found.attributes, state) {
                    Some(predicted) => {
                        let predicted = predicted?;
                        let read = (!predicted.is_new).then(|| &rows[*index]);
                        self.read_cells(read, Some(predicted), &mut found);
                    }
                    None => self.read_cells(Some(&rows[*index]), None, &mut found),
                }
            }
        }
        self.forget_differing_lines(&mut found);
        Some(found)
    }

    /// Notes about lines of the type that no attribute expresses.
    fn other_lines(&self, nodes: &[Node]) -> impl Iterator<Item = String> {
        let is_other = |node: &&Node| {
            let mut lines = self.instance.other_lines.iter();
            lines.any(|line| line.read(&node.text, self).is_some())
        };
        let nodes = nodes.iter().filter(is_other);
        nodes.map(|node| {
            format!(
                "no attribute expresses `{}`",
                self.secrets.apply(&node.text)
            )
        })
    }

    /// The spelling of the block on the device: from the instance, else one with all names of the
    /// new instance: that of others of the type, else the first in the definition.
    pub(super) fn spelling_in_use(
        &self,
        state: &State,
        found: Option<&FoundInstance>,
        desired: &Attributes,
    ) -> usize {
        if let Some(found) = found {
            return found.spelling;
        }
        let kind = &self.instance.kind;
        if kind.paths().len() < 2 {
            return 0;
        }
        let is_of_others = !kind.is_line() || kind.has_forms();
        let indexed = is_of_others.then(|| self.indexed_instances(state));
        let mut others = indexed.iter().flat_map(|indexed| indexed.iter());
        let other = others.next().map(|other| other.found.spelling);
        self.new_spelling(desired, other)
    }

    /// The spelling of a new instance, if possible this one.
    pub(super) fn new_spelling(&self, desired: &Attributes, preferred: Option<usize>) -> usize {
        let spellings = 0..self.instance.kind.paths().len();
        let mut possible = preferred.into_iter().chain(spellings);
        let has_names = |spelling: &usize| {
            self.name_without_position(*spelling, desired).is_none()
                && self.has_values_of_headers(*spelling, desired)
        };
        possible.find(has_names).or(preferred).unwrap_or_default()
    }

    /// A name of an instance that other syntaxes of its place have, and this one lacks.
    pub(super) fn name_without_position(
        &self,
        spelling: usize,
        desired: &Attributes,
    ) -> Option<&str> {
        let kind = &self.instance.kind;
        let is_lost = |name: &&str| {
            let mut others = 0..kind.paths().len();
            desired
                .get(name)
                .is_some_and(|value| self.is_printed(name, value))
                && !kind.has_attribute(spelling, name)
                && others.any(|other| kind.has_attribute(other, name))
        };
        self.model.namevars().find(is_lost)
    }

    fn has_values_of_headers(&self, spelling: usize, desired: &Attributes) -> bool {
        let path = self.instance.kind.paths().get(spelling);
        let value = |name: &str| {
            let value = desired.get(name);
            value.filter(|value| self.is_printed(name, value))
        };
        path.is_none_or(|path| path.write(&value, self).is_ok())
    }

    /// Which syntax the global lines of `follows` show to be in use: with the desired value first,
    /// then with any.
    pub(super) fn followed(
        &self,
        rule: &CliAttributeRule,
        desired: &Attributes,
        state: &State,
    ) -> Option<usize> {
        let nodes = nodes_of(state.tree(CONFIG));
        let reads = |line: &LineTemplate, same: bool| {
            nodes.iter().any(|node| {
                line.read(&node.text, self).is_some_and(|bindings| {
                    let is_desired =
                        |(name, value): &(Name, Value)| desired.get(name) == Some(value);
                    !same || bindings.iter().all(is_desired)
                })
            })
        };
        let index = |same| rule.follows.iter().position(|line| reads(line, same));
        index(true).or_else(|| index(false))
    }

    /// Other instances in the same block that have these values apart from the last of the names.
    pub(super) fn lines_like(&self, values: &Attributes, state: &State) -> Vec<FoundInstance> {
        let Some(number) = self.model.namevars().last() else {
            return Vec::new();
        };
        let rest = |attributes: &Attributes| {
            let mut rest: Vec<(Name, Value)> = attributes
                .iter()
                .filter(|(name, value)| {
                    *name != number && *name != "ensure" && **value != Value::Bool(false)
                })
                .map(|(name, value)| (name.into(), value.clone()))
                .collect();
            rest.sort_by(|(a, _), (b, _)| a.cmp(b));
            rest
        };
        let desired = rest(values);
        let all = self.find_all(state, None).into_iter();
        all.filter(|other| {
            other.unmanaged.is_empty()
                && other.attributes.get(number) != values.get(number)
                && rest(&other.attributes) == desired
        })
        .collect()
    }

    /// Adds what stands in a block and in its inner blocks. Lines of the block itself that may also
    /// belong into an inner block are the value of attributes without lines there.
    pub(super) fn read_block(&self, nodes: &[Node], found: &mut FoundInstance) {
        let spelling = found.spelling;
        self.read_lines(nodes, found, self.own_rules(spelling));
        for (headers, rules) in self.inner_places(spelling) {
            for inner in inner_blocks(nodes, headers) {
                for rule in rules.clone() {
                    if rule.is_inner_block() {
                        found.attributes.insert(rule.name.clone(), true.into());
                    }
                }
                self.read_lines(&inner.children.nodes, found, rules.clone());
            }
        }
        let mut outer = FoundInstance::default();
        self.read_lines(nodes, &mut outer, self.shared_rules(spelling));
        for (name, value) in outer.attributes {
            if !found.attributes.contains_key(&name) {
                found.attributes.insert(name.clone(), value.clone());
            }
            found.defaults.insert(name, value);
        }
    }

    /// Adds the values of the cells of a row: those that operations have set, and the others.
    pub(super) fn read_cells(
        &self,
        row: Option<&Row>,
        predicted: Option<&PredictedRow>,
        found: &mut FoundInstance,
    ) {
        for rule in self.attributes.values() {
            let Some(cell) = rule.cell() else {
                continue;
            };
            let content = predicted.and_then(|row| row.cells.get(&cell.name));
            let value = match (content, row) {
                (Some(content), _) => self.predicted_value(&rule.name, cell, content),
                (None, Some(row)) => self.cell_value(&rule.name, cell, row),
                (None, None) => CellValue::Missing,
            };
            match value {
                CellValue::Value(value) => {
                    found.attributes.insert(rule.name.clone(), value);
                }
                CellValue::NotUnderstood => found.unknown.push(rule.name.clone()),
                CellValue::Missing => {}
            }
        }
        for rule in self.attributes.values() {
            if self.has_no_effect(rule, &|name| found.attributes.get(name)) {
                found.attributes.remove(&rule.name);
            }
        }
    }

    /// Whether an attribute has no effect with these values of others.
    pub(super) fn has_no_effect<'v>(
        &self,
        rule: &CliAttributeRule,
        values: &dyn Fn(&str) -> Option<&'v Value>,
    ) -> bool {
        let holds = |(name, names): &(String, Vec<String>)| {
            let named = values(name).and_then(|value| self.value_name(name, value));
            named.is_some_and(|named| names.iter().any(|name| *name == named))
        };
        !rule.no_effect.is_empty() && rule.no_effect.iter().all(holds)
    }

    /// The value of an attribute in a row.
    pub(super) fn cell_value(&self, attribute: &str, cell: &Cell, row: &Row) -> CellValue {
        self.text_value(attribute, cell, row.get(&cell.name))
    }

    /// The value of an attribute in the text of a cell.
    pub(super) fn text_value(
        &self,
        attribute: &str,
        cell: &Cell,
        content: Option<&CellText>,
    ) -> CellValue {
        let Some(content) = content else {
            return CellValue::Missing;
        };
        let text = content.text();
        let mut named = cell.when.iter();
        if let Some((name, _)) = named.find(|(_, pattern)| pattern.is_match(&text)) {
            return self.named_value(attribute, name).into();
        }
        if content.is_empty() {
            return CellValue::Missing;
        }
        let value = match (content, &cell.pattern) {
            (CellText::List(elements), None) => self.list(attribute, elements),
            (_, Some(pattern)) => {
                let part = pattern.captures(&text).and_then(|found| found.get(1));
                part.and_then(|part| self.read(attribute, part.as_str()))
            }
            (CellText::One(text), None) => self.read(attribute, text),
        };
        match value {
            Some(Value::List(items)) if items.is_empty() => CellValue::Missing,
            value => value.map(|value| self.finished(attribute, value)).into(),
        }
    }

    /// The value of a list of texts; `None` if one of them is no element.
    fn list(&self, attribute: &str, elements: &[String]) -> Option<Value> {
        let model = self.model.attributes.get(attribute)?;
        model.array?;
        let mut items = Vec::new();
        for element in elements {
            match self.read(attribute, element)? {
                Value::List(several) => items.extend(several),
                one => items.push(one),
            }
        }
        Some(Value::List(items))
    }

    /// Adds attributes from other blocks and reads, and the values of missing lines.
    fn complete(&self, found: &mut FoundInstance, state: &State) {
        for rule in self.attributes.values() {
            match &rule.location {
                CliLocation::Elsewhere(block) => self.read_members(rule, block, found, state),
                CliLocation::Part { of, pattern } => {
                    let text = found.attributes.get(of).and_then(Value::as_str);
                    let part = text.and_then(|text| part_of(text, pattern));
                    if let Some(value) = part.and_then(|part| self.read(&rule.name, part)) {
                        found.attributes.insert(rule.name.clone(), value);
                    }
                }
                CliLocation::Order(_) => {
                    if let Some(value) = self.position(rule, &found.attributes, state) {
                        found.attributes.insert(rule.name.clone(), value);
                    }
                }
                CliLocation::Exists(_) if !found.attributes.contains_key(&rule.name) => {
                    found.attributes.insert(rule.name.clone(), false.into());
                }
                _ => {}
            }
        }
        for rule in self.attributes.values().filter(|rule| rule.many) {
            let value = found.attributes.get(&rule.name);
            if let Some(value) = value.and_then(|value| self.without_implied(&rule.name, value)) {
                found.attributes.insert(rule.name.clone(), value);
            }
        }
        for rule in self.attributes.values() {
            let default = self.global_default(rule, &found.attributes, state);
            let default = default.or_else(|| rule.default_value(&found.attributes).cloned());
            if let Some(value) = default {
                found.defaults.insert(rule.name.clone(), value);
            }
            // The line has words that may be the value.
            if found.is_not_understood && rule.is_in_instance() {
                continue;
            }
            // Without members there is no line, and members that disagree have no common value.
            if found.attributes.contains_key(&rule.name)
                || found.unknown.contains(&rule.name)
                || self.stands_elsewhere(rule)
            {
                continue;
            }
            if let Some(value) = self.implied(rule, found) {
                found.attributes.insert(rule.name.clone(), value.clone());
                continue;
            }
            let chosen = rule.default_cell.as_ref();
            let chosen = chosen.and_then(|other| self.value_elsewhere(rule, other, found, state));
            if let (Some(_), Some(absent)) = (&chosen, &rule.absent) {
                // The other table shows what the device chose without a line.
                found.defaults.insert(rule.name.clone(), absent.clone());
            }
            let has_own = rule.default_line.is_some() || !rule.default_values.is_empty();
            let own = found.defaults.get(&rule.name).filter(|_| has_own);
            if let Some(value) = chosen.or(own.cloned()).or_else(|| rule.absent.clone()) {
                found.attributes.insert(rule.name.clone(), value);
            }
        }
        self.convert_list(&mut found.attributes);
    }

    /// The value that a line without a word for the attribute has.
    fn implied<'r>(&self, rule: &'r CliAttributeRule, found: &FoundInstance) -> Option<&'r Value> {
        let value = rule.implied.as_ref()?;
        let leader = self.attributes.get(rule.inside.as_deref()?)?;
        let mut sharing = [&leader.name].into_iter().chain(&leader.with);
        let has_line = sharing.any(|name| found.lines.contains_key(name.as_str()));
        has_line.then_some(value)
    }

    /// Whether an attribute is part of lines in other blocks.
    pub(super) fn stands_elsewhere(&self, rule: &CliAttributeRule) -> bool {
        let outer = rule.inside.as_deref();
        let outer = outer.and_then(|outer| self.attributes.get(outer));
        outer.is_some_and(|outer| outer.member_block().is_some())
    }

    /// The value in the row of another table for the instance. The table is indexed once.
    fn value_elsewhere(
        &self,
        rule: &CliAttributeRule,
        DefaultCell { read, key, cell }: &DefaultCell,
        found: &FoundInstance,
        state: &State,
    ) -> Option<Value> {
        struct Keys(HashMap<String, usize>);
        if let Some(predicted) = self.predicted_elsewhere(rule, &found.attributes, state) {
            return predicted.value();
        }
        let name = self.model.namevars().next()?;
        let own = found.attributes.get(name).and_then(Value::scalar_text)?;
        let rows = table_rows(state.get(read)?);
        let keys = state.derived((&self.model.name, key), read, || {
            let mut keys = HashMap::default();
            for (index, row) in rows.iter().enumerate() {
                let key = self.read(name, &row.text(key));
                if let Some(key) = key.and_then(|key| key.scalar_text()) {
                    keys.entry(key).or_insert(index);
                }
            }
            Keys(keys)
        });
        let row = &rows[*keys.0.get(&own)?];
        self.cell_value(&rule.name, cell, row).value()
    }

    pub(super) fn is_namevar(&self, name: &str) -> bool {
        self.model.namevars().any(|namevar| namevar == name)
    }

    pub(super) fn is_read_only(&self, name: &str) -> bool {
        let attribute = self.model.attributes.get(name);
        attribute.is_some_and(|attribute| attribute.role == Role::ReadOnly)
    }
}
