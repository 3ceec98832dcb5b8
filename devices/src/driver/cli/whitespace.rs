//! Normalizes white space that a device does not store: spaces at the ends of a value in a line,
//! and a free text without content. They are not differences.

use super::CliType;
use crate::value::Value;

impl CliType {
    /// A value as the device stores it; `None` if unchanged.
    pub(super) fn stored_value(&self, name: &str, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => {
                let rule = self.attributes.get(name);
                if let Some(rule) = rule
                    && let Some(body) = rule.body()
                {
                    let empty = body.lines(text).is_empty();
                    return rule.absent.clone().filter(|_| empty);
                }
                let trimmed = text.trim();
                let changes = trimmed.len() != text.len()
                    && !self.is_unset(name, value)
                    && self.is_in_line(name);
                changes.then(|| trimmed.into())
            }
            Value::List(items) => {
                let trimmed: Vec<Option<Value>> = items
                    .iter()
                    .map(|item| self.stored_value(name, item))
                    .collect();
                trimmed.iter().any(Option::is_some).then(|| {
                    let items = trimmed.into_iter().zip(items);
                    Value::List(
                        items
                            .map(|(trimmed, item)| trimmed.unwrap_or_else(|| item.clone()))
                            .collect(),
                    )
                })
            }
            // A secret is unchanged: spaces may be part of it.
            _ => None,
        }
    }

    /// Whether the attribute is in a line where the device splits words at spaces.
    fn is_in_line(&self, name: &str) -> bool {
        let mut templates = self.templates_with(name).into_iter();
        templates.any(|template| template.takes_rest(name))
    }
}
