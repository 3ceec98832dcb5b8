//! What a device does not keep of a text, so that no difference comes of it: blanks at the ends of
//! what stands in a line, and a free text without content, which is none.

use super::rules::CliLocation;
use super::{CliType, is_unset};
use crate::value::Value;

impl CliType {
    /// A value as the device keeps it; `None` where that is as it is.
    pub(super) fn stored_value(&self, name: &str, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => {
                let rule = self.attributes.get(name);
                if let Some(rule) = rule
                    && let CliLocation::Opaque { .. } = rule.location
                {
                    let empty = text.trim_matches(['\r', '\n']).is_empty();
                    return rule.absent.clone().filter(|_| empty);
                }
                let trimmed = text.trim();
                let changes =
                    trimmed.len() != text.len() && !is_unset(value) && self.in_a_line(name);
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
            // A secret is taken as it is: blanks may be part of it.
            _ => None,
        }
    }

    /// Whether the attribute stands in a line with blanks of its own, which end where the device
    /// takes the line apart.
    fn in_a_line(&self, name: &str) -> bool {
        let mut templates = self.templates_with(name).into_iter();
        templates.any(|template| template.takes_blanks(name))
    }
}
