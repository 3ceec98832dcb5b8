//! Types that are configured with command lines.
//!
//! [`CliType`] has the [`rules`] of one type on one platform, loaded by [`mod@load`]. [`template`]
//! reads and writes lines, a [`slot`] is a form of a line at one of the [`places`] of the type, and the
//! [`walk`] visits all lines where the type reads. [`instances`], [`find`] and [`members`] read instances.
//! [`render`] makes lines, [`predict`] predicts their effect, and [`audit`] checks the rules.

mod attribute_lines;
mod audit;
mod beginnings;
mod block_path;
mod claims;
mod compare;
mod effects;
mod explain;
mod find;
mod found;
mod further_lines;
mod global_default;
mod identity;
mod implementation;
mod in_config;
mod inactive;
mod instances;
mod line_effect;
pub(crate) mod line_text;
pub(super) mod load;
mod members;
mod named_lines;
mod not_understood;
mod order;
mod outline;
mod parent;
mod places;
mod predict;
mod predicted_rows;
mod problems;
mod refresh;
mod render;
mod rewrite;
mod row_rule;
mod rows;
mod rule_lines;
pub(crate) mod rules;
mod secret_lines;
mod slot;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod text_body;
mod value_commands;
mod walk;
mod whitespace;

use std::borrow::Cow;
use std::sync::Arc;

use crate::map::IndexMap;
use crate::secret_text::SecretText;

use super::codec::{Codec, CodecError};
use super::context::Context;
use super::implementation::Implementation;
use super::negation::Negation;
use super::quoting::Quoting;
use crate::diagnostic::Source;
use crate::document::Table;
use crate::model::{ArrayKind, TypeModel};
use crate::names::PlatformName;
use crate::pattern::{Pattern, Patterns};
use crate::read::ReadRequest;
use crate::read::indent::SplitRule;
use crate::read::indent::inactive::InactiveLines;
use crate::value::{Attributes, Name, Value};
use line_text::LineRules;
use places::Places;
use refresh::RefreshRule;
use rewrite::Rewrite;
use rules::{CliAttributeRule, CliInstanceRule, WriteOnly};
use template::{Vocabulary, value_parts};

/// A type on a platform with command lines.
#[derive(Clone, Debug)]
pub(crate) struct CliType {
    pub(crate) model: Arc<TypeModel>,
    pub(crate) platform: PlatformName,
    /// What the platform accepts in a line.
    pub(crate) lines: LineRules,
    /// Where secrets stand in text of the platform.
    pub(crate) secrets: SecretText,
    /// How lines are removed.
    pub(crate) negation: Negation,
    pub(crate) quoting: Option<Quoting>,
    /// The end marker of a free text in the configuration.
    pub(crate) opaque_ends: Vec<Pattern>,
    /// Lines of several instances, in the read of the instances.
    pub(crate) split: Vec<SplitRule>,
    /// How lines mark others as inactive, in the read of the instances.
    pub(crate) inactive: Option<InactiveLines>,
    /// First lines of blocks that only begin like those of types.
    pub(crate) foreign: Patterns,
    pub(crate) source: Arc<Source>,
    pub(crate) requests: Vec<ReadRequest>,
    pub(crate) instance: CliInstanceRule,
    /// In the order in which their lines are sent.
    pub(crate) attributes: IndexMap<Name, CliAttributeRule>,
    /// Where the lines of attributes stand, by the syntax of the instance's block.
    places: Vec<Places>,
    pub(crate) codecs: IndexMap<String, Arc<Codec>>,
    /// In order; each gets the result of the one before it.
    pub(crate) rewrites: Vec<Rewrite>,
    /// The lines of a refresh.
    pub(crate) refresh: Option<RefreshRule>,
    /// The form of a type with a table for a device of which only the configuration is known.
    pub(crate) in_config: Option<Arc<dyn Implementation>>,
}

impl CliType {
    /// Converts a list of options in the line of an instance to its canonical form.
    fn convert_list(&self, attributes: &mut Attributes) {
        if let Some(template) = self.instance.kind.lines().first() {
            template.convert_list(attributes, self);
        }
    }
}

/// Reads the sections about command lines from a type's file.
pub(crate) fn load(context: &Context<'_>, root: &Table<'_>) -> Option<Arc<dyn Implementation>> {
    load::load(context, root).map(|cli| Arc::new(cli) as Arc<dyn Implementation>)
}

impl Vocabulary for CliType {
    fn read(&self, attribute: &str, text: &str) -> Option<Value> {
        // Another form of the value is not one of its values.
        if self.write_only(attribute).is_some() {
            return Some(text.into());
        }
        // A text of the device that the catalog takes for something else.
        if self.is_default_word(attribute, text) {
            return None;
        }
        let codec = self.codecs.get(attribute);
        let value = match codec {
            Some(codec) => codec.read(text)?,
            None => text.into(),
        };
        if rules::range_set(codec).is_some() {
            return Some(value);
        }
        match self.model.attributes.get(attribute) {
            // Elements of tuples and members of other blocks have no model of their own.
            None => Some(value),
            Some(model) => match &value {
                // A word or line of the device may have several elements.
                Value::List(items) if model.array.is_some() || items.is_empty() => {
                    let items = items.iter().map(|item| model.canonicalize_element(item));
                    items.collect::<Option<_>>().map(Value::List)
                }
                one => model.canonicalize_element(one),
            },
        }
    }

    fn write(&self, attribute: &str, value: &Value) -> Option<String> {
        let text = match self.codecs.get(attribute) {
            Some(codec) => codec.write(value),
            None => value.scalar_text(),
        };
        text.filter(|text| !self.is_default_word(attribute, text))
    }

    fn is_secret(&self, attribute: &str) -> bool {
        self.model
            .attributes
            .get(attribute)
            .is_some_and(|model| model.sensitive)
    }

    fn reads_each_word(&self, attribute: &str) -> bool {
        if value_parts::split(attribute).is_some() {
            return false;
        }
        let model = self.model.attributes.get(attribute);
        self.codecs.contains_key(attribute) || model.is_none_or(|model| model.array.is_some())
    }

    fn quoting(&self) -> Option<&Quoting> {
        self.quoting.as_ref()
    }
}

impl CliType {
    /// Whether a value stands for the default of the device, so that it has no line.
    fn is_unset(&self, attribute: &str, value: &Value) -> bool {
        self.model.is_unset(attribute, value)
    }

    /// Whether a line has words for a value: it is no default, and not what the device has without a
    /// line.
    fn is_printed(&self, attribute: &str, value: &Value) -> bool {
        let rule = self.attributes.get(attribute);
        let absent = rule.and_then(|rule| rule.absent.as_ref());
        !self.is_unset(attribute, value) && absent != Some(value.unwrap_sensitive())
    }

    /// The elements of a list that have lines.
    fn elements(&self, attribute: &str, value: Option<&Value>) -> Vec<Value> {
        match value.map(Value::unwrap_sensitive) {
            Some(value) if !self.is_printed(attribute, value) => Vec::new(),
            Some(Value::List(items)) => items.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        }
    }

    /// Whether a text is the catalog's word for the default of the device. No line has it.
    fn is_default_word(&self, attribute: &str, text: &str) -> bool {
        let model = self.model.attributes.get(attribute);
        model.is_some_and(|model| model.default_word.as_deref() == Some(text))
    }

    /// What the device shows of an attribute that cannot be read.
    fn write_only(&self, attribute: &str) -> Option<WriteOnly> {
        self.attributes.get(attribute)?.write_only
    }

    /// Converts the value from a template or table cell to its canonical form: lists in order,
    /// secrets wrapped.
    fn finished(&self, attribute: &str, value: Value) -> Value {
        let Some(model) = self.model.attributes.get(attribute) else {
            return value;
        };
        let value = match (model.array, value) {
            (Some(kind), Value::List(mut items)) => {
                model.arrange(kind, &mut items);
                Value::List(items)
            }
            // Several words of one text attribute.
            (None, Value::List(items)) if self.is_in_words(attribute) => {
                let words: Vec<String> = items.iter().filter_map(Value::scalar_text).collect();
                words.join(" ").into()
            }
            (Some(_), one) if rules::range_set(self.codecs.get(attribute)).is_none() => {
                Value::List(vec![one])
            }
            (_, value) => value,
        };
        if model.sensitive && !matches!(value, Value::Sensitive(_)) {
            Value::Sensitive(Box::new(value))
        } else {
            value
        }
    }

    /// A list of lines without the elements that the device has without a line; `None` if it has none of
    /// them.
    fn without_implied(&self, name: &str, value: &Value) -> Option<Value> {
        let rule = self.attributes.get(name).filter(|rule| rule.many)?;
        let implied = rule.implied.as_ref()?.as_list()?;
        let model = self.model.attributes.get(name)?;
        let items = value.as_list()?;
        let is_implied = |item: &Value| {
            let mut both = implied.to_vec();
            both.push(item.clone());
            let kind = model.array.unwrap_or(ArrayKind::Set);
            model.arrange(kind, &mut both);
            both == implied
        };
        let others: Vec<Value> = items
            .iter()
            .filter(|item| !is_implied(item))
            .cloned()
            .collect();
        if others.len() == items.len() {
            return None;
        }
        let absent = rule.absent.clone().filter(|_| others.is_empty());
        Some(absent.unwrap_or(Value::List(others)))
    }

    /// Whether a template reads the attribute as several words.
    fn is_in_words(&self, attribute: &str) -> bool {
        let own = self.attributes.values().flat_map(|rule| &rule.lines);
        let mut lines = self.instance.kind.lines().iter().chain(own);
        lines.any(|line| line.takes_words(attribute))
    }

    /// The model's name of a canonical value.
    fn value_name(&self, attribute: &str, value: &Value) -> Option<Cow<'_, str>> {
        let model = self.model.attributes.get(attribute)?;
        let value = match (model.array, value.unwrap_sensitive()) {
            (Some(_), Value::List(items)) => items.first()?,
            (_, value) => value,
        };
        model.kind_of(value).map(crate::model::ValueSpec::name)
    }

    /// The entry of a rule for a value, by the value's name. Most rules have no entries, so that
    /// the name is not computed.
    fn named<'r, T>(
        &self,
        stored: &'r IndexMap<String, T>,
        attribute: &str,
        value: &Value,
    ) -> Option<&'r T> {
        if stored.is_empty() {
            return None;
        }
        stored.get(self.value_name(attribute, value)?.as_ref())
    }

    /// The line of `set` for a value; none for a list with a line for each element.
    fn set_line<'r>(
        &self,
        rule: &'r CliAttributeRule,
        value: &Value,
    ) -> Option<&'r Option<template::LineTemplate>> {
        if rule.many {
            return None;
        }
        self.named(&rule.set, &rule.name, value)
    }

    /// The value with this name in the model, if the name has exactly one value.
    fn named_value(&self, attribute: &str, name: &str) -> Option<Value> {
        use crate::model::ValueSpec;
        let model = self.model.attributes.get(attribute)?;
        let spec = model.values.iter().find(|spec| spec.name() == name)?;
        let value = match spec {
            ValueSpec::Literal(value) => value.clone(),
            ValueSpec::Integer { low, high, .. } if low == high => Value::Integer(*low),
            _ => return None,
        };
        Some(self.finished(attribute, value))
    }

    /// The codec's canonical form. If a line has the value as several words, each word is
    /// converted.
    fn in_canonical_words(
        &self,
        name: &str,
        codec: &Codec,
        value: &Value,
    ) -> Result<Value, CodecError> {
        match value {
            Value::String(text) if text.contains(' ') && self.is_in_words(name) => {
                let words = text.split_whitespace();
                let words = words.map(|word| codec.canonicalize(&word.into()));
                words.collect::<Result<_, _>>().map(Value::List)
            }
            value => codec.canonicalize(value),
        }
    }

    /// The namevars of a resource as one text.
    fn instance_name(&self, attributes: &Attributes) -> String {
        let names: Vec<String> = self
            .model
            .namevars()
            .filter_map(|name| attributes.get(name)?.scalar_text())
            .collect();
        names.join(" ")
    }
}
