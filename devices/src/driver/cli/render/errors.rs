//! Why the lines of a change cannot be written.

use super::Rendering;
use crate::driver::cli::rules::CliAttributeRule;
use crate::driver::cli::template::{LineTemplate, value_parts};
use crate::driver::implementation::RenderError;
use crate::value::Value;

impl Rendering<'_> {
    /// The error about an attribute in a line with others, which have no value.
    pub(super) fn also_needs(&self, attribute: &str, template: &LineTemplate) -> RenderError {
        let mut names = template.required().into_iter();
        let missing = names.find(|name| self.is_unset_after(name));
        let message = format!(
            "also needs `{}`, for the line `{}`",
            missing.unwrap_or(attribute),
            template.text
        );
        RenderError::new(attribute, message)
    }

    /// The error about a line without the value of an attribute that it needs.
    pub(super) fn missing_in(&self, template: &LineTemplate) -> RenderError {
        let mut names = template.required().into_iter();
        match names.find(|name| !self.merged.contains_key(name)) {
            Some(name) if self.cli.is_read_only(name) => {
                let mut attributes = template.attributes().into_iter();
                let named = attributes.rfind(|other| self.cli.is_namevar(other));
                let message = match named {
                    Some(_) => {
                        format!("does not exist on the device, so that its {name} is not known")
                    }
                    None => format!("is not known: the device has no block `{}`", template.text),
                };
                RenderError::lacking_object(named.unwrap_or(name), message)
            }
            Some(name) => {
                let message = format!("is required by the line `{}`", template.text);
                RenderError::new(name, message)
            }
            None => self.error("ensure"),
        }
    }

    /// The error about a value that a template cannot write.
    pub(super) fn unwritable(
        &self,
        rule: &CliAttributeRule,
        template: &LineTemplate,
        value: &Value,
    ) -> RenderError {
        let parts = template.placeholders().into_iter();
        let count = parts.filter_map(value_parts::split).count();
        match value.unwrap_sensitive() {
            Value::List(items) if count > 0 && items.len() != count => {
                let message = format!(
                    "the line `{}` has {count} elements; the value has {}",
                    template.text,
                    items.len()
                );
                RenderError::new(rule.name.as_str(), message)
            }
            _ => self.error(&rule.name),
        }
    }

    pub(super) fn error(&self, attribute: &str) -> RenderError {
        let message = format!("{} has no line for this value", self.cli.platform);
        RenderError::new(attribute, message)
    }
}
