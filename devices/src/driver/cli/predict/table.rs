//! The predicted instances of a table, and their lines for the diff.

use foldhash::HashSet;

use super::read;
use crate::driver::cli::CliType;
use crate::driver::cli::line_effect::ValueEffect;
use crate::driver::cli::rules::{CONFIG, CliAttributeRule};
use crate::driver::cli::template::{Bindings, LineTemplate};
use crate::model::Role;
use crate::operation::ConfigLine;
use crate::read::State;
use crate::read::indent::Node;
use crate::secret::Text;
use crate::value::{Attributes, Name, Value};

/// What a line does to an attribute of a row.
struct RowChange<'a> {
    rule: &'a CliAttributeRule,
    effect: ValueEffect,
}

impl CliType {
    pub(super) fn apply_to_table(&self, state: &mut State, line: &ConfigLine) {
        let enter = self.instance.kind.enter();
        let text = line.text.as_ref().map(Text::reveal);
        let headers: Vec<String> = line.mode.iter().map(Text::reveal).collect();
        let mode = self.instance.mode.as_ref();
        let in_header = mode.and_then(|mode| mode.read(&headers, self));
        let in_header = in_header.or_else(|| enter?.read(headers.first()?, self));
        let in_line = |templates: &[LineTemplate]| read(templates, text.as_deref()?, self);
        if in_header.is_none()
            && let Some(created) = in_line(&self.instance.create)
        {
            let mut attributes = self.row_before(state, &created);
            // The line is complete: it removes what it lacks.
            let lines = self.instance.create.iter();
            let names = lines.flat_map(LineTemplate::attributes);
            let set: Vec<Name> = names
                .filter(|name| !self.is_namevar(name))
                .map(Name::from)
                .collect();
            for name in &set {
                if created.iter().all(|(bound, _)| bound != name) {
                    self.unset(&mut attributes, name);
                }
            }
            self.set_values(&mut attributes, created);
            self.predict_row(state, &attributes, &set);
            return;
        }
        if in_header.is_none()
            && let Some(removed) = in_line(&self.instance.remove)
        {
            let names = self.names_among(&removed);
            self.predict_removal(state, &names);
            return;
        }
        let change = text.as_ref().and_then(|text| self.row_change(text));
        let in_change = || change.as_ref().map(|change| change.effect.values().clone());
        let Some(bindings) = in_header.or_else(in_change) else {
            return;
        };
        let mut attributes = self.row_before(state, &bindings);
        let mut set = Vec::new();
        if let Some(change) = change {
            let values = change.effect.values().iter();
            set.extend(values.map(|(name, _)| name.clone()));
            set.extend(
                [&change.rule.name]
                    .into_iter()
                    .chain(&change.rule.with)
                    .cloned(),
            );
            self.apply_row_change(&mut attributes, change);
        }
        self.predict_row(state, &attributes, &set);
    }

    /// The attributes of the instance with the names in a line; only the names, if it is new.
    fn row_before(&self, state: &State, bindings: &Bindings) -> Attributes {
        let names = self.names_among(bindings);
        let found = self.find_all(state, Some(&names)).pop();
        found.map_or(names, |found| found.attributes)
    }

    /// The namevars among the values of a line.
    fn names_among(&self, bindings: &Bindings) -> Attributes {
        let names = bindings.iter().filter(|(name, _)| self.is_namevar(name));
        let mut names: Attributes = names
            .map(|(name, value)| (name.clone(), self.finished(name, value.clone())))
            .collect();
        self.add_absent_names(&mut names);
        names
    }

    fn set_values(&self, attributes: &mut Attributes, values: Bindings) {
        for (name, value) in values {
            // A table shows neither parameters nor values that are only written.
            let model = self.model.attributes.get(&name);
            let is_read = model.is_some_and(|model| model.role != Role::Parameter)
                && self.write_only(&name).is_none();
            if is_read && !self.is_namevar(&name) {
                let value = self.finished(&name, value);
                attributes.insert(name, value);
            }
        }
    }

    /// What a line does to an attribute that the table shows.
    fn row_change(&self, text: &str) -> Option<RowChange<'_>> {
        let node = Node::new(text);
        let rules = self.attributes.values();
        let mut rules = rules.filter(|rule| rule.is_set_by_lines());
        rules.find_map(|rule| {
            let effect = self.line_effect(rule, text)?;
            let is_own = match &effect {
                ValueEffect::Set(_) => self.read_line(rule, &node).is_some(),
                ValueEffect::Change(_) => true,
                ValueEffect::Remove(removed) => self.removes_own_line(rule, removed),
            };
            is_own.then_some(RowChange { rule, effect })
        })
    }

    fn apply_row_change(&self, attributes: &mut Attributes, change: RowChange<'_>) {
        let RowChange { rule, effect } = change;
        let current = attributes.get(&rule.name);
        let own = effect.value_of(&rule.name);
        let own = self.elements(&rule.name, own.filter(|_| rule.many));
        let mut items = self.elements(&rule.name, current.filter(|_| rule.many));
        match effect {
            ValueEffect::Change(relative) => {
                let changed = self.changed_set(rule, &relative, current);
                attributes.insert(rule.name.clone(), changed);
                return;
            }
            ValueEffect::Set(bindings) if own.is_empty() => {
                for name in &rule.with {
                    if bindings.iter().all(|(bound, _)| bound != name) {
                        self.unset(attributes, name);
                    }
                }
                self.set_values(attributes, bindings);
                return;
            }
            ValueEffect::Set(_) => {
                let mut added = own;
                added.retain(|item| !items.contains(item));
                items.extend(added);
            }
            ValueEffect::Remove(_) if own.is_empty() => items.clear(),
            ValueEffect::Remove(_) => items.retain(|item| !own.contains(item)),
        }
        if items.is_empty() {
            self.unset(attributes, &rule.name);
        } else {
            let list = self.finished(&rule.name, Value::List(items));
            attributes.insert(rule.name.clone(), list);
        }
    }

    /// Gives an attribute the value that it has without a line.
    fn unset(&self, attributes: &mut Attributes, name: &Name) {
        let rule = self.attributes.get(name);
        match rule.and_then(|rule| rule.absent.as_ref()) {
            Some(absent) => {
                attributes.insert(name.clone(), absent.clone());
            }
            None => {
                attributes.remove(name);
            }
        }
    }

    /// The instances of rows as the lines that write them. Those whose lines are in the configuration
    /// are left out.
    pub(in crate::driver::cli) fn rows_as_lines(&self, state: &State) -> Vec<Node> {
        if !self.instance.kind.is_row() {
            return Vec::new();
        }
        let enter = self.instance.kind.enter();
        let nodes = state.tree(CONFIG).into_iter().flat_map(|tree| &tree.nodes);
        let in_config: HashSet<&str> = nodes.map(|node| node.text.as_str()).collect();
        let mut lines = Vec::new();
        for found in self.find_all(state, None) {
            let attributes = &found.attributes;
            let values = |name: &str| {
                let value = attributes.get(name)?;
                let is_set = !self.is_unset(name, value) && *value != Value::Bool(false);
                is_set.then_some(value)
            };
            let created = self.instance.create.iter();
            let created = created.map(|line| line.write(&values, self));
            let Some(created) = created.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let header = match enter.map(|header| header.write(&values, self)) {
                Some(None) => continue,
                header => header.flatten(),
            };
            let is_read = |header: &Text| in_config.contains(header.reveal().as_str());
            if header.as_ref().is_some_and(is_read) {
                continue;
            }
            let set = self.attributes.values().filter_map(|rule| {
                let value = values(&rule.name)?;
                let line = self.set_line(rule, value);
                let line = line.cloned().flatten();
                let line = line.or_else(|| rule.lines.first().cloned());
                line?.write(&values, self)
            });
            let own = created.into_iter().chain(set);
            let mut own: Vec<Node> = own.map(|line| Node::new(line.reveal())).collect();
            // The line that creates a row can be that of an attribute, too.
            own.dedup();
            match &header {
                Some(header) => lines.push(Node::block(header.reveal(), own)),
                None => lines.extend(own),
            }
        }
        lines
    }
}
