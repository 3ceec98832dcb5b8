//! Types that are configured with command lines.
//!
//! [`CliType`] has the [`rules`] of one type on one platform, loaded by [`mod@load`]. [`template`]
//! reads and writes lines. [`instances`], [`find`] and [`members`] read instances. [`render`] makes
//! lines, [`predict`] predicts their effect, and [`audit`] checks the rules.

mod audit;
mod compare;
mod config_instances;
mod effects;
mod explain;
mod find;
mod found;
mod global_default;
mod identity;
mod instances;
mod line_text;
mod load;
mod members;
mod not_understood;
mod predict;
mod refresh;
mod render;
mod rewrite;
pub(crate) mod rules;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod whitespace;

use std::borrow::Cow;
use std::sync::Arc;

use crate::map::IndexMap;

use super::codec::{Codec, CodecError};
use super::context::Context;
use super::effect::{Effect, EffectSlot};
use super::implementation::{
    Explanation, HiddenFromDiff, Implementation, IsReadByOther, Problem, RenderError, SecretHistory,
};
use crate::change::{Change, Desired, Instance};
use crate::diagnostic::{Diagnostic, Source};
use crate::document::Table;
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::names::PlatformName;
use crate::not_understood::NotUnderstood;
use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::read::indent::Node;
use crate::read::{ReadError, ReadRequest, State};
use crate::value::{Attributes, Name, Value};
use refresh::RefreshRule;
use render::Goal;
use rewrite::Rewrite;
use rules::{CliAttributeRule, CliInstanceRule};
use template::Vocabulary;

/// A type on a platform with command lines.
#[derive(Debug)]
pub(crate) struct CliType {
    pub(crate) model: Arc<TypeModel>,
    pub(crate) platform: PlatformName,
    pub(crate) line_limit: usize,
    pub(crate) refused_characters: String,
    /// The end marker of a free text in the configuration.
    pub(crate) opaque_ends: Vec<Pattern>,
    pub(crate) source: Arc<Source>,
    pub(crate) requests: Vec<ReadRequest>,
    pub(crate) instance: CliInstanceRule,
    /// In the order in which their lines are sent.
    pub(crate) attributes: IndexMap<Name, CliAttributeRule>,
    pub(crate) codecs: IndexMap<String, Arc<Codec>>,
    /// In order; each gets the result of the one before it.
    pub(crate) rewrites: Vec<Rewrite>,
    /// The lines of a refresh.
    pub(crate) refresh: Option<RefreshRule>,
}

/// Reads the sections about command lines from a type's file.
pub(crate) fn load(context: &Context<'_>, root: &Table<'_>) -> Option<Arc<dyn Implementation>> {
    load::load(context, root).map(|cli| Arc::new(cli) as Arc<dyn Implementation>)
}

impl Vocabulary for CliType {
    fn read(&self, attribute: &str, text: &str) -> Option<Value> {
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
                Value::List(items) if model.array.is_some() => {
                    let items = items.iter().map(|item| model.canonicalize_element(item));
                    items.collect::<Option<_>>().map(Value::List)
                }
                one => model.canonicalize_element(one),
            },
        }
    }

    fn write(&self, attribute: &str, value: &Value) -> Option<String> {
        match self.codecs.get(attribute) {
            Some(codec) => codec.write(value),
            None => value.scalar_text(),
        }
    }

    fn is_secret(&self, attribute: &str) -> bool {
        self.model
            .attributes
            .get(attribute)
            .is_some_and(|model| model.sensitive)
    }
}

impl CliType {
    /// Converts the value from a template or table cell to its canonical form: lists in order,
    /// secrets wrapped.
    fn finished(&self, attribute: &str, value: Value) -> Value {
        let Some(model) = self.model.attributes.get(attribute) else {
            return value;
        };
        let value = match (model.array, value) {
            (Some(kind), Value::List(mut items)) => {
                kind.arrange(&mut items);
                Value::List(items)
            }
            // Several words of one text attribute.
            (None, Value::List(items)) if self.in_words(attribute) => {
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

    /// Whether a template reads the attribute as several words.
    fn in_words(&self, attribute: &str) -> bool {
        let lines = match &self.instance.kind {
            rules::InstanceKind::Line { spellings, .. } => spellings.as_slice(),
            _ => &[],
        };
        let own = self.attributes.values().flat_map(|rule| &rule.lines);
        lines
            .iter()
            .chain(own)
            .any(|line| line.takes_words(attribute))
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
            Value::String(text) if text.contains(' ') && self.in_words(name) => {
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

/// Whether a value means "not set": the word `unset`, alone or as the only element.
fn is_unset(value: &Value) -> bool {
    match value.unwrap_sensitive() {
        Value::List(items) => match items.as_slice() {
            [] => true,
            [one] => one.as_str() == Some("unset"),
            _ => false,
        },
        one => one.as_str() == Some("unset"),
    }
}

impl Implementation for CliType {
    fn reads(&self) -> Vec<ReadRequest> {
        self.requests.clone()
    }

    fn canonicalize(&self, mut attributes: Attributes) -> Result<Attributes, Vec<ValueError>> {
        let mut errors = Vec::new();
        for (name, value) in attributes.iter_mut() {
            if let Some(stored) = self.stored_value(name, value) {
                *value = stored;
            }
            if let Some(codec) = self.codecs.get(name.as_str())
                && !is_unset(value)
            {
                match self.in_canonical_words(name, codec, value) {
                    Ok(canonical) => *value = self.finished(name, canonical),
                    Err(error) => errors.push(ValueError::new(name, error.to_string())),
                }
            }
        }
        for rewrite in &self.rewrites {
            rewrite.apply(&mut attributes);
        }
        if errors.is_empty() {
            Ok(attributes)
        } else {
            Err(errors)
        }
    }

    fn check(&self, desired: &Desired) -> Vec<Problem> {
        self.problems(desired)
    }

    fn instances(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        let found = self.find_all(state, None);
        // In the model's order, not in the order of the device's lines.
        let order = |name: &Name| self.model.attributes.get_index_of(name);
        let present = found.into_iter().filter(found::FoundInstance::is_present);
        let in_order = present.map(|found| {
            let mut instance = found.into_instance();
            instance.attributes.sort_by_key(order);
            instance
        });
        Ok(in_order.collect())
    }

    fn instance(&self, desired: &Desired, state: &State) -> Result<Option<Instance>, ReadError> {
        self.check_unambiguous(&desired.attributes, state)?;
        let found = self
            .find(&desired.attributes, state)
            .filter(found::FoundInstance::is_present);
        Ok(found.map(found::FoundInstance::into_instance))
    }

    fn not_understood(
        &self,
        state: &State,
        is_read_by_other: &IsReadByOther<'_>,
    ) -> Vec<NotUnderstood> {
        self.unread(state, is_read_by_other)
    }

    fn reads_line(&self, read: &str, path: &[&Node]) -> bool {
        self.reads_path(read, path)
    }

    fn instances_so_far(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        self.instances_in_config(state)
    }

    fn resolve<'w>(&self, desired: &'w Desired, current: Option<&Instance>) -> Cow<'w, Desired> {
        let mut resolved = Cow::Borrowed(desired);
        for (name, codec) in &self.codecs {
            if let Some(ranges) = rules::range_set(Some(codec))
                && let Some(value) = desired.attributes.get(name)
            {
                let current = current.and_then(|current| current.attributes.get(name));
                let value = ranges.resolve(value, current);
                resolved.to_mut().attributes.insert(name.clone(), value);
            }
        }
        resolved
    }

    fn differs(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        _: &dyn SecretHistory,
    ) -> Vec<Name> {
        self.out_of_sync(desired, current)
    }

    fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, RenderError> {
        let names: Vec<&str> = change.attributes.iter().map(Name::as_str).collect();
        let goal = Goal {
            kind: change.kind,
            desired: &change.desired.attributes,
            names: &names,
        };
        self.operations(goal, state)
    }

    fn has_refresh(&self) -> bool {
        self.refresh.is_some()
    }

    fn refresh(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
    ) -> Result<Vec<Operation>, RenderError> {
        let Some(rule) = &self.refresh else {
            return Ok(Vec::new());
        };
        let mut attributes =
            current.map_or_else(Attributes::default, |current| current.attributes.clone());
        attributes.extend(desired.attributes.clone());
        let operations = rule.operations(self, &attributes)?;
        match self.unsendable_lines(&operations).into_iter().next() {
            Some(error) => Err(error),
            None => Ok(operations),
        }
    }

    fn predict(&self, state: &mut State, operations: &[Operation]) {
        self.apply(state, operations);
    }

    fn render_unconfigured(&self, state: &State) -> String {
        self.table_as_configuration(state)
    }

    fn supports_diff(&self, state: &State) -> Result<(), HiddenFromDiff> {
        let from = &self.instance.from;
        match self.instance.kind {
            rules::InstanceKind::Row { enter: Some(_), .. } => Ok(()),
            rules::InstanceKind::Row { .. } if state.tree(rules::CONFIG).is_none() => {
                Err(HiddenFromDiff::ConfigurationNotRead)
            }
            rules::InstanceKind::Row { .. } => Ok(()),
            _ if from == rules::CONFIG => Ok(()),
            _ => {
                let mut requests = self.requests.iter();
                let request = requests.find(|request| request.name == *from);
                let command = request.map_or(from, |request| &request.command).clone();
                Err(HiddenFromDiff::OtherRead { command })
            }
        }
    }

    fn effect_slots(&self) -> Vec<EffectSlot> {
        self.all_touches()
    }

    fn effects(&self, desired: &Desired, attributes: &[&str]) -> Vec<Effect> {
        self.settings_of(desired, attributes)
    }

    fn is_ensurable(&self) -> bool {
        self.model.is_ensurable()
            && !matches!(self.instance.kind, rules::InstanceKind::Singleton(_))
    }

    fn is_singleton(&self) -> bool {
        matches!(self.instance.kind, rules::InstanceKind::Singleton(_))
    }

    fn secrets(&self, state: &State) -> Vec<String> {
        if self.model.attributes.values().all(|model| !model.sensitive) {
            return Vec::new();
        }
        let mut secrets = Vec::new();
        for found in self.find_all(state, None) {
            for (name, value) in &found.attributes {
                if self.is_secret(name) {
                    secrets.extend(self.write(name, value));
                }
            }
        }
        secrets
    }

    fn explain(&self) -> Explanation {
        self.explanation()
    }

    fn audit(&self) -> Vec<Diagnostic> {
        self.findings()
    }
}
