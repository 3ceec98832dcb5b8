//! Renders lines in the blocks of members: the ports of a bundle.

use super::Rendering;
use crate::driver::cli::rules::CliAttributeRule;
use crate::driver::cli::template::{LineTemplate, bound};
use crate::driver::implementation::RenderError;
use crate::secret::Text;
use crate::value::Value;

impl Rendering<'_> {
    /// Lines in the blocks of members, member by member.
    pub(super) fn elsewhere(
        &mut self,
        rule: &CliAttributeRule,
        block: &LineTemplate,
        value: &Value,
    ) -> Result<(), RenderError> {
        let desired = value.unwrap_sensitive().as_list();
        let desired = desired.filter(|_| self.cli.is_printed(&rule.name, value));
        let desired = desired.unwrap_or_default().to_vec();
        let lines = self
            .found
            .and_then(|found| found.lines.get(rule.name.as_str()));
        let current: &[(Value, String)] = lines.map_or(&[], Vec::as_slice);
        let template = self
            .member_spelling(rule, current)
            .ok_or_else(|| self.error(&rule.name))?;
        let global = std::mem::take(&mut self.mode);
        let leaving = current
            .iter()
            .filter(|(member, _)| !desired.contains(member));
        let excluded = current
            .iter()
            .filter(|(_, line)| self.excludes_members(rule, line));
        // Members that cannot stand beside the new ones leave before any of these joins.
        let emptied: Vec<&Value> = match excluded.clone().next() {
            Some(_) => excluded
                .chain(leaving.clone())
                .map(|(member, _)| member)
                .collect(),
            None => Vec::new(),
        };
        for (member, line) in current
            .iter()
            .filter(|(member, _)| emptied.contains(&member))
        {
            self.enter_member(rule, block, member)?;
            self.leave(rule, line);
        }
        for member in &desired {
            self.enter_member(rule, block, member)?;
            let before = current.iter().find(|(other, _)| other == member);
            let before = before.filter(|_| !emptied.contains(&member));
            if let Some((_, line)) = before {
                if self.is_member_line(rule, line) {
                    continue;
                }
                self.leave(rule, line);
            }
            let text = self.written(template);
            let text = text.ok_or_else(|| self.error(&rule.name))?;
            self.push(&self.changed(rule), text, rule.prompts);
        }
        for (member, line) in leaving.filter(|(member, _)| !emptied.contains(&member)) {
            self.enter_member(rule, block, member)?;
            self.leave(rule, line);
        }
        self.mode = global;
        Ok(())
    }

    /// Sets the mode of the lines of a member.
    fn enter_member(
        &mut self,
        rule: &CliAttributeRule,
        block: &LineTemplate,
        member: &Value,
    ) -> Result<(), RenderError> {
        let values = |name: &str| (name == rule.name).then_some(member);
        let header = block.write(&values, self.cli);
        self.mode = vec![header.ok_or_else(|| self.error(&rule.name))?];
        Ok(())
    }

    /// Removes the line of a member.
    fn leave(&mut self, rule: &CliAttributeRule, line: &str) {
        let text = self.cli.negation.negative(Text::plain(line));
        self.push(&self.changed(rule), text, rule.prompts);
    }

    /// The values of a member's line for the attributes that share it.
    fn shared_values<'r>(
        &'r self,
        rule: &'r CliAttributeRule,
        line: &str,
    ) -> impl Iterator<Item = (&'r CliAttributeRule, Option<Value>)> {
        let bindings = LineTemplate::first_match(&rule.lines, line, self.cli).unwrap_or_default();
        let shared = rule
            .with
            .iter()
            .filter_map(|name| self.cli.attributes.get(name));
        shared.map(move |shared| {
            let value = bound(&bindings, &shared.name);
            let value = value.map(|value| self.cli.finished(&shared.name, value.clone()));
            (shared, value.or_else(|| shared.implied.clone()))
        })
    }

    /// Whether a member's line has the desired values.
    fn is_member_line(&self, rule: &CliAttributeRule, line: &str) -> bool {
        let mut values = self.shared_values(rule, line);
        values.all(|(shared, value)| self.merged.get(&shared.name) == value.as_ref())
    }

    /// Whether members with the desired values cannot join while one has this line.
    fn excludes_members(&self, rule: &CliAttributeRule, line: &str) -> bool {
        let mut values = self.shared_values(rule, line);
        values.any(|(shared, value)| {
            let desired = self.merged.get(&shared.name);
            let named = |value: Option<&Value>| self.cli.value_name(&shared.name, value?);
            let (Some(own), Some(new)) = (named(value.as_ref()), named(desired)) else {
                return false;
            };
            let is_in = |group: &[String], name: &str| group.iter().any(|other| other == name);
            let are_in = |group: &Vec<String>| is_in(group, &own) && is_in(group, &new);
            own != new && !shared.compatible.is_empty() && !shared.compatible.iter().any(are_in)
        })
    }

    /// The syntax of the device's own lines if it expresses the desired value, otherwise the first.
    fn member_spelling<'r>(
        &self,
        rule: &'r CliAttributeRule,
        current: &[(Value, String)],
    ) -> Option<&'r LineTemplate> {
        let expresses = |line: &LineTemplate| {
            rule.with.iter().all(|name| {
                let other = self.cli.attributes.get(name);
                let without_words = other.and_then(|other| other.implied.as_ref());
                line.has_attribute(name)
                    || without_words.is_some() && self.merged.get(name) == without_words
            })
        };
        let reads = |line: &&LineTemplate| {
            let mut lines = current.iter();
            lines.any(|(_, text)| line.read(text, self.cli).is_some())
        };
        let mut own = rule.lines.iter().filter(reads);
        own.find(|line| expresses(line)).or(rule.lines.first())
    }
}
