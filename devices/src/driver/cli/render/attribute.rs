//! Renders the lines of one attribute.

use super::Rendering;
use super::number_set::SetLines;
use crate::driver::cli::rules::{CliAttributeRule, CliLocation, range_set};
use crate::driver::cli::template::{CAPTURE_MARK, LineTemplate};
use crate::driver::implementation::RenderError;
use crate::map::IndexMap;
use crate::model::ArrayKind;
use crate::secret::Text;
use crate::value::{Name, Value};

impl Rendering<'_> {
    /// The lines of one attribute, and of attributes in the same lines.
    pub(super) fn attribute(&mut self, rule: &CliAttributeRule) -> Result<(), RenderError> {
        if rule.is_group() {
            let names = [&rule.name].into_iter().chain(&rule.with);
            let mut values = names
                .filter_map(|name| Some((self.cli.attributes.get(name)?, self.merged.get(name)?)));
            // A new instance has the defaults of the device: there is nothing to remove.
            let is_due = self.found.is_some()
                || values.any(|(rule, value)| self.cli.must_be_sent(rule, value, self.merged));
            return if is_due { self.group(rule) } else { Ok(()) };
        }
        let Some(value) = self.merged.get(&rule.name) else {
            return Ok(());
        };
        // A new instance has some values without a line.
        let by_itself = rule.default_value(self.merged) == Some(value);
        let is_due =
            self.found.is_some() || (!by_itself && self.cli.must_be_sent(rule, value, self.merged));
        if self.cli.is_managed(&rule.name, value) && is_due {
            self.set(rule, value)?;
        }
        Ok(())
    }

    /// Adds the lines for a value.
    pub(super) fn set(
        &mut self,
        rule: &CliAttributeRule,
        value: &Value,
    ) -> Result<(), RenderError> {
        match &rule.location {
            CliLocation::Body(body) => self.body(rule, body, value),
            CliLocation::Elsewhere(block) => self.elsewhere(rule, block, value),
            CliLocation::Order(order) => self.move_instance(rule, order, value),
            CliLocation::InnerBlock => {
                self.inner_block(rule, *value == Value::Bool(true));
                Ok(())
            }
            _ if rule.many => match self.cli.added_set(rule) {
                Some(set) => self.set_elements(rule, set, value),
                None => self.many(rule, value),
            },
            _ => self.scalar(rule, value),
        }
    }

    /// Enters the inner block of an attribute, which creates it, or removes it.
    fn inner_block(&mut self, rule: &CliAttributeRule, exists: bool) {
        if exists {
            self.enter(&rule.name);
        } else if let Some(header) = self.mode.pop() {
            self.push_rule(rule, self.cli.negation.negative(header));
        }
    }

    /// A line with one value.
    pub(super) fn scalar(
        &mut self,
        rule: &CliAttributeRule,
        value: &Value,
    ) -> Result<(), RenderError> {
        let cli = self.cli;
        if let Some(line) = cli.set_line(rule, value) {
            if let Some(template) = line {
                let text = self
                    .written(template)
                    .ok_or_else(|| self.error(&rule.name))?;
                let old = self.current_line(rule).filter(|_| rule.replace_first);
                if let Some(old) = old {
                    let negation = &cli.negation;
                    let removal = match negation.positive(old) {
                        Some(positive) => Text::plain(positive),
                        None => negation.negative(Text::plain(old)),
                    };
                    self.push_rule(rule, removal);
                }
                self.push_rule(rule, text);
            }
            return Ok(());
        }
        let own = self.found.and_then(|found| found.defaults.get(&rule.name));
        let by_itself = own.or(rule.absent.as_ref());
        let is_default = cli.is_unset(&rule.name, value) || by_itself == Some(value);
        let is_removed = is_default && !rule.prints_only_no() || *value == Value::Bool(false);
        if is_removed {
            if let Some(text) = self.removal(rule)? {
                self.push_rule(rule, text);
            }
            return Ok(());
        }
        // A line without the value stands for `true` alone.
        if !is_default && !rule.has_own_hole() && *value != Value::Bool(true) {
            return Err(self.error(&rule.name));
        }
        if rule.replace_first && self.has_current_value(rule) {
            let text = self.no_form(rule, None)?;
            self.push_rule(rule, text);
        }
        let template = self.spelling(rule)?;
        let text = self
            .written(template)
            .ok_or_else(|| self.unwritable(rule, template, value))?;
        match (
            &rule.more,
            &rule.less,
            range_set(cli.codecs.get(rule.name.as_str())),
        ) {
            (Some(more), Some(less), Some(set)) => {
                let lines = SetLines {
                    complete: template,
                    more,
                    less,
                };
                self.changed_set(rule, set, &lines, text, value)
            }
            _ => {
                self.push_rule(rule, text);
                Ok(())
            }
        }
    }

    /// The line that removes the value. It may have words of the device's line, which are not known
    /// if the device was not read, and which a new instance does not have.
    fn removal(&self, rule: &CliAttributeRule) -> Result<Option<Text>, RenderError> {
        if let Some(rest) = self.rest_of_line(rule) {
            return Ok(Some(rest));
        }
        match self.no_form(rule, None) {
            Err(_) if self.is_unread || self.found.is_none() => Ok(None),
            removal => removal.map(Some),
        }
    }

    /// The line of an attribute without its value, if the device's line has words without an attribute.
    fn rest_of_line(&self, rule: &CliAttributeRule) -> Option<Text> {
        let found = self.found?;
        let template = rule.lines.first()?;
        let captures = template.captures();
        if !captures
            .iter()
            .any(|name| found.unmanaged.contains_key(name))
        {
            return None;
        }
        let values = |name: &str| {
            if name.starts_with(CAPTURE_MARK) {
                found.unmanaged.get(name)
            } else {
                None
            }
        };
        template.write(&values, self.cli)
    }

    /// One line per element: additions, then removals, or the other way round.
    fn many(&mut self, rule: &CliAttributeRule, value: &Value) -> Result<(), RenderError> {
        let desired = self.cli.elements(&rule.name, Some(value));
        // Elements that stand elsewhere are the value of an attribute without lines of its own.
        let own = self
            .found
            .filter(|found| rule.cell().is_some() || found.lines.contains_key(rule.name.as_str()));
        let current = own.and_then(|found| found.attributes.get(&rule.name));
        let current = self.cli.elements(&rule.name, current);
        let retained = self.retained(rule, &current, &desired);
        let mut removals = Vec::new();
        for element in current.iter().filter(|element| !retained.contains(element)) {
            removals.push(self.no_form(rule, Some(element))?);
        }
        let mut additions = Vec::new();
        for element in desired.iter().filter(|element| !retained.contains(element)) {
            let template = self.element_line(rule, element)?;
            // An element of another form has another line: a prefix, or a pair of a prefix and a route map.
            let mut templates = std::iter::once(template).chain(&rule.lines);
            let text = templates.find_map(|line| self.element(rule, line, element));
            additions.push(text.ok_or_else(|| self.error(&rule.name))?);
        }
        // An element that is sent again must be removed first.
        let moves = current
            .iter()
            .any(|element| desired.contains(element) && !retained.contains(element));
        let removes_first = rule.replace_first || moves;
        let (first, second) = if removes_first {
            (removals, additions)
        } else {
            (additions, removals)
        };
        let (count, is_replaced) = (first.len(), removes_first && !second.is_empty());
        for (number, text) in first.into_iter().chain(second).enumerate() {
            self.push_rule(rule, text);
            if is_replaced && number + 1 == count && self.is_sequence(rule) {
                let word = if count == 1 {
                    "entry is"
                } else {
                    "entries are"
                };
                self.warn(format!("{count} {word} missing for a moment"));
            }
        }
        Ok(())
    }

    /// The line of an element: its own one of `set`, or that of all others.
    pub(super) fn element_line<'r>(
        &self,
        rule: &'r CliAttributeRule,
        element: &Value,
    ) -> Result<&'r LineTemplate, RenderError> {
        match self.own_line(rule, element) {
            Some(line) => Ok(line),
            None => self.spelling(rule),
        }
    }

    /// The line of `set` for an element.
    pub(super) fn own_line<'r>(
        &self,
        rule: &'r CliAttributeRule,
        element: &Value,
    ) -> Option<&'r LineTemplate> {
        let list = Value::List(vec![element.clone()]);
        self.cli.named(&rule.set, &rule.name, &list)?.as_ref()
    }

    /// Whether the device uses the elements in order.
    fn is_sequence(&self, rule: &CliAttributeRule) -> bool {
        let model = self.cli.model.attributes.get(&rule.name);
        model.is_some_and(|model| model.array == Some(ArrayKind::Sequence))
    }

    /// The elements that stay: all common ones, unless the order counts and new elements, which the
    /// device appends, would be in a wrong place.
    fn retained(
        &self,
        rule: &CliAttributeRule,
        current: &[Value],
        desired: &[Value],
    ) -> Vec<Value> {
        let common = |element: &&Value| desired.contains(element);
        let retained: Vec<Value> = current.iter().filter(common).cloned().collect();
        if !self.is_sequence(rule) || desired.starts_with(&retained) {
            return retained;
        }
        let pairs = current.iter().zip(desired);
        pairs
            .take_while(|(current, desired)| current == desired)
            .map(|(element, _)| element.clone())
            .collect()
    }

    /// A line with several attributes: sent completely when one of them differs.
    pub(super) fn group(&mut self, rule: &CliAttributeRule) -> Result<(), RenderError> {
        let cli = self.cli;
        let names: Vec<&Name> = [&rule.name].into_iter().chain(&rule.with).collect();
        let own_line = |name: &Name, value: &Value| {
            let rule = cli.attributes.get(name)?;
            cli.named(&rule.set, name, value)?.as_ref()
        };
        let mut desired = names
            .iter()
            .filter_map(|name| own_line(name, self.goal.desired.get(name)?));
        let instead = desired.next_back().and_then(|line| self.written(line));
        let present: IndexMap<&Name, &Value> = names
            .iter()
            .filter_map(|name| Some((*name, self.merged.get(name)?)))
            .filter(|(name, value)| cli.is_printed(name, value))
            .filter(|(name, value)| own_line(name, value).is_none())
            .collect();
        let is_off = self.is_turned_off(rule);
        let declared = |name: &&Name| self.goal.desired.contains_key(name);
        if let Some(other) = present.keys().copied().find(declared).filter(|_| is_off) {
            let message = format!("has no line without `{}`", rule.name);
            return Err(RenderError::new(other.as_str(), message));
        }
        let text = if let Some(text) = instead {
            text
        } else if present.is_empty() || is_off {
            match self.removal(rule)? {
                Some(text) => text,
                None => return Ok(()),
            }
        } else {
            let template = rule.lines.first().ok_or_else(|| self.error(&rule.name))?;
            let values = |name: &str| match names.iter().find(|other| **other == name) {
                Some(name) => present.get(*name).copied(),
                None => self.value(name),
            };
            let others = names.iter().copied().filter(|name| {
                **name != rule.name
                    && self.goal.desired.contains_key(name)
                    && present.contains_key(*name)
            });
            let with_defaults = |name: &str| match names.iter().find(|other| **other == name) {
                Some(name) => self.value_or_default(name),
                None => self.value(name),
            };
            let line = template.write(&values, cli);
            // Words that the line requires can be those of the default.
            let line = line.or_else(|| template.write(&with_defaults, cli));
            match (line, others.into_iter().next()) {
                (Some(text), _) => {
                    self.check_complete(template, &text, &present)?;
                    text
                }
                // The device may have the line.
                (None, _) if self.is_unread => return Ok(()),
                // Without the value that the line is about, the others go with it.
                (None, other)
                    if self.is_unset_after(&rule.name)
                        && (other.is_none() || self.goal.desired.contains_key(&rule.name)) =>
                {
                    self.no_form(rule, None)?
                }
                (None, other) => {
                    return Err(self.also_needs(other.unwrap_or(&rule.name), template));
                }
            }
        };
        let changed = self.changed(rule);
        if rule.replace_first && self.has_current_value(rule) {
            let removal = self.no_form(rule, None)?;
            if text != removal {
                self.push(&changed, removal, rule.prompts);
            }
        }
        self.push(&changed, text, rule.prompts);
        Ok(())
    }

    /// A value for a line, or the one without a line if a line can have it.
    fn value_or_default(&self, name: &str) -> Option<&Value> {
        let rule = self.cli.attributes.get(name)?;
        let values = [self.merged.get(name), rule.absent.as_ref()];
        let mut values = values.into_iter().flatten();
        values.find(|value| !self.cli.is_unset(name, value))
    }

    /// Whether the catalog removes a line that stands for `true`. The other values of the line go with
    /// it.
    fn is_turned_off(&self, rule: &CliAttributeRule) -> bool {
        let stands_for_true = !rule.has_own_hole() && !rule.prints_only_no();
        let value = self.goal.desired.get(&rule.name);
        stands_for_true
            && value.is_some_and(|value| {
                let is_off =
                    *value == Value::Bool(false) || !self.cli.is_printed(&rule.name, value);
                is_off && self.cli.named(&rule.set, &rule.name, value).is_none()
            })
    }

    /// A line that is sent again has all values of the device's line. A value that the device does not
    /// show can be missing, and others with it.
    fn check_complete(
        &self,
        template: &LineTemplate,
        text: &Text,
        present: &IndexMap<&Name, &Value>,
    ) -> Result<(), RenderError> {
        let Some(found) = self.found else {
            return Ok(());
        };
        let written = template.read(&text.reveal(), self.cli).unwrap_or_default();
        let is_lost = |name: &Name| {
            template.has_attribute(name)
                && found.attributes.contains_key(name)
                && !self.goal.desired.contains_key(name)
                && written.iter().all(|(other, _)| other != name)
        };
        let hidden = template
            .attributes()
            .into_iter()
            .filter(|name| self.cli.write_only(name).is_some());
        let hidden = hidden.filter(|name| !self.merged.contains_key(name));
        match (
            present.keys().find(|name| is_lost(name)),
            hidden.into_iter().next(),
        ) {
            (Some(lost), Some(hidden)) => {
                let message = format!(
                    "cannot be kept without `{hidden}`, which the device does not show: \
                     the line would remove it"
                );
                Err(RenderError::new(lost.as_str(), message))
            }
            _ => Ok(()),
        }
    }

    /// The attributes in the lines of a rule that must be set.
    pub(super) fn changed<'r>(&self, rule: &'r CliAttributeRule) -> Vec<&'r str> {
        let names = [&rule.name].into_iter().chain(&rule.with);
        let names = names.map(Name::as_str);
        names
            .filter(|name| self.goal.names.contains(name))
            .collect()
    }

    /// The syntax in which a line is written: that of the device's own line, else the one that
    /// `follows` finds in use, else the first.
    pub(super) fn spelling<'r>(
        &self,
        rule: &'r CliAttributeRule,
    ) -> Result<&'r LineTemplate, RenderError> {
        let reads = |text: &str| {
            let mut lines = rule.lines.iter();
            lines.find(|line| line.read(text, self.cli).is_some())
        };
        let followed = self.state.and_then(|state| {
            let index = self.cli.followed(rule, self.merged, state)?;
            rule.lines.get(index)
        });
        let own = self.current_line(rule).and_then(reads);
        let can_write = |line: &&LineTemplate| rule.many || self.written(line).is_some();
        let chosen = followed.or(own).filter(can_write);
        chosen
            .or(rule.lines.first())
            .ok_or_else(|| self.error(&rule.name))
    }

    /// Whether the device has a value that a line sets.
    fn has_current_value(&self, rule: &CliAttributeRule) -> bool {
        let cell = || self.found?.attributes.get(&rule.name);
        let is_set = |value: &Value| self.cli.is_printed(&rule.name, value);
        if rule.cell().is_some() {
            cell().is_some_and(is_set)
        } else {
            self.current_line(rule).is_some()
        }
    }

    fn current_line(&self, rule: &CliAttributeRule) -> Option<&str> {
        let lines = self.found?.lines.get(rule.name.as_str())?;
        lines.first().map(|(_, line)| line.as_str())
    }
}
