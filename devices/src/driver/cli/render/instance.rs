//! Renders the lines that create and remove an instance, and the lines of the instance itself.

use super::Rendering;
use crate::driver::cli::found::FoundInstance;
use crate::driver::cli::rules::{CliAttributeRule, Replacement};
use crate::driver::cli::template::LineTemplate;
use crate::driver::implementation::RenderError;
use crate::secret::Text;
use crate::value::Value;

impl Rendering<'_> {
    pub(super) fn remove(&mut self) -> Result<(), RenderError> {
        let cli = self.cli;
        let Some(found) = self.found else {
            return Ok(());
        };
        // `ensure` as an ordinary attribute: the instance is a property of a permanent object.
        if let Some(rule) = cli.attributes.get("ensure") {
            self.enter_instance()?;
            return self.existence(rule, "absent");
        }
        let kind = &cli.instance.kind;
        if !kind.paths().is_empty() {
            self.mode = self.mode_path()?;
        }
        if kind.blocks().is_some() {
            self.mode.pop();
        }
        let ensure = ["ensure"];
        let warning = cli.instance.warn.as_ref();
        let warning = warning.and_then(|line| line.write(&|name| found.attributes.get(name), cli));
        if let Some(template) = &cli.instance.remove_empty
            && found.siblings <= 1
        {
            self.mode.pop();
            let text = template.write(&|name| found.value_of(name), cli);
            let text = text.ok_or_else(|| self.error("ensure"))?;
            self.push(&ensure, text, cli.instance.prompts);
            return Ok(());
        }
        for text in self.removals(found)? {
            self.push(&ensure, text, cli.instance.prompts);
        }
        if let Some(warning) = warning {
            self.warn(warning.to_string());
        }
        Ok(())
    }

    /// The lines that remove an instance, with its current values.
    fn removals(&self, found: &FoundInstance) -> Result<Vec<Text>, RenderError> {
        let cli = self.cli;
        let templates = cli.instance.removal(found.spelling);
        let value = |name: &str| {
            let value = found.value_of(name);
            value.filter(|value| cli.is_printed(name, value))
        };
        let texts: Option<Vec<Text>> = if templates.is_empty() {
            let line = || found.line.as_ref().or(found.block.last());
            let text = match cli.instance.kind.prefix() {
                Some(prefix) => self.written(prefix),
                None => line().map(|line| self.hidden(line)),
            };
            text.map(|text| vec![cli.negation.negative(text)])
        } else {
            // Of several lines, those whose values the instance has.
            let texts: Vec<Text> = templates
                .iter()
                .filter_map(|line| line.write(&value, cli))
                .collect();
            (templates.len() > 1 || !texts.is_empty()).then_some(texts)
        };
        texts.ok_or_else(|| self.error("ensure"))
    }

    /// The lines that create an instance. They contain only values that the device does not have by
    /// itself.
    pub(super) fn create(&mut self) -> Result<(), RenderError> {
        let cli = self.cli;
        // Rows have no block.
        let is_row = cli.instance.kind.is_row();
        let mode = self.mode.clone();
        if is_row {
            self.mode.clear();
        }
        for template in &cli.instance.create {
            let value = |name: &str| {
                let value = self.merged.get(name);
                value.filter(|value| self.cli.is_printed(name, value))
            };
            let text = template.write(&value, cli);
            let text = text.ok_or_else(|| self.missing_in(template))?;
            let names = template.attributes().into_iter();
            let set: Vec<&str> = names.filter(|name| value(name).is_some()).collect();
            let changed = set.iter().filter(|name| self.goal.names.contains(name));
            let changed: Vec<&str> = ["ensure"].into_iter().chain(changed.copied()).collect();
            self.push(&changed, text, cli.instance.prompts);
            self.created.extend(set);
        }
        self.mode = mode;
        Ok(())
    }

    /// The line for a value of `ensure` as an ordinary attribute.
    pub(super) fn existence(
        &mut self,
        rule: &CliAttributeRule,
        value: &str,
    ) -> Result<(), RenderError> {
        self.scalar(rule, &value.into())
    }

    /// The line of the instance.
    pub(super) fn line(&mut self, spellings: &[LineTemplate]) -> Result<(), RenderError> {
        let cli = self.cli;
        self.mode = self.mode_path()?;
        let template = spellings.first().ok_or_else(|| self.error("ensure"))?;
        // Beside words that remain, a default is written: `transport tcp port 514`.
        let preserved = self.found.filter(|_| cli.instance.keep_unmanaged);
        let companions = template.companions(&|name| {
            let words = preserved.map(|found| &found.unmanaged);
            words.is_some_and(|words| words.contains_key(name))
        });
        let mut values = self.merged.clone();
        values.retain(|name, value| {
            self.cli.is_printed(name, value)
                || !cli.is_unset(name, value) && companions.contains(&name.as_str())
        });
        if let Some(found) = preserved {
            values.extend(found.unmanaged.clone());
        }
        for (name, value) in &cli.instance.assume {
            if !values.contains_key(name) {
                values.insert(name.clone(), value.clone());
            }
        }
        let attributes = self.goal.names;
        if cli.instance.replace == Some(Replacement::EqualLines)
            && let Some(state) = self.state
        {
            for other in cli.lines_like(&values, state) {
                self.remove_line(&other, attributes)?;
                self.rendered.displaced.push(other);
            }
        }
        if let Some(found) = self.found {
            // `remove` identifies the line. Without it the device would have the old line and the
            // new one.
            let identity = cli
                .instance
                .remove
                .iter()
                .flat_map(LineTemplate::attributes);
            let printed = |value: Option<&Value>, name| {
                let value = value.filter(|value| self.cli.is_printed(name, value));
                value.map(|value| value.unwrap_sensitive().clone())
            };
            let other = identity.into_iter().any(|name| {
                printed(values.get(name), name) != printed(found.attributes.get(name), name)
            });
            if other || cli.instance.replace.is_some() {
                self.remove_line(found, attributes)?;
            }
        }
        let text = template.write(&|name| values.get(name), cli);
        let text = text.ok_or_else(|| {
            let missing = template
                .required()
                .into_iter()
                .find(|name| !values.contains_key(name));
            self.error(missing.unwrap_or("ensure"))
        })?;
        let inactive = self.found.filter(|found| found.is_inactive());
        let line = inactive.and_then(|found| found.line.as_ref());
        if line.is_none_or(|line| *line != text.reveal()) {
            self.push(attributes, text, cli.instance.prompts);
        }
        Ok(())
    }

    /// Removes the line of an instance before its new line is sent.
    fn remove_line(
        &mut self,
        found: &FoundInstance,
        attributes: &[&str],
    ) -> Result<(), RenderError> {
        let cli = self.cli;
        for text in self.removals(found)?.into_iter().take(1) {
            self.push(attributes, text, cli.instance.prompts);
        }
        if let Some(object) = &cli.model.object {
            let text = |name: &str| found.value_of(name).and_then(Value::scalar_text);
            let (entry, object) = (cli.model.namevars().last().and_then(text), text(object));
            if let (Some(entry), Some(object)) = (entry, object) {
                self.warn(format!("entry {entry} of {object} is missing for a moment"));
            }
        }
        Ok(())
    }
}
