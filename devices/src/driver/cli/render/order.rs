//! Renders the line that moves an instance to its position.

use super::Rendering;
use crate::driver::cli::order::FIRST;
use crate::driver::cli::rules::{CliAttributeRule, MoveRule};
use crate::driver::implementation::RenderError;
use crate::value::Value;

impl Rendering<'_> {
    /// The line that moves the instance. A new instance is the last one.
    pub(super) fn move_instance(
        &mut self,
        rule: &CliAttributeRule,
        order: &MoveRule,
        value: &Value,
    ) -> Result<(), RenderError> {
        let state = self.state;
        let mut names = state.map_or_else(Vec::new, |state| {
            self.cli.names_in_block(self.merged, state)
        });
        let own = self.cli.own_name(self.merged);
        names.retain(|name| Some(name) != own.as_ref());
        let is_first = rule.absent.as_ref() == Some(value);
        let is_last = match names.last() {
            Some(last) => value.scalar_text().as_ref() == Some(last),
            None => true,
        };
        if self.found.is_none() && is_last || is_first && names.is_empty() {
            return Ok(());
        }
        let first = names.first().map(|name| Value::from(name.as_str()));
        let template = if is_first {
            &order.before
        } else {
            &order.after
        };
        let values = |name: &str| match name {
            FIRST => first.as_ref(),
            name => self.value(name),
        };
        let text = template.write(&values, self.cli);
        let text = text.ok_or_else(|| self.error(&rule.name))?;
        let is_block = self.cli.instance.kind.blocks().is_some();
        let block = is_block.then(|| self.mode.pop()).flatten();
        self.push_rule(rule, text);
        self.mode.extend(block);
        Ok(())
    }
}
