//! Validates catalog values and converts them to canonical values.
//!
//! Each value has one canonical form, so that values compare with `==`. Text for a boolean or
//! number is converted, sets are sorted, a single element of an array becomes a list, and secrets
//! are wrapped. The driver converts platform-specific values (interface names, VLAN ranges).
//!
//! This file converts the value of one attribute, `value_spec` one kind of value, `resource` all
//! attributes of a resource.

mod resource;
mod scalar_meaning;
mod value_spec;

use std::borrow::Cow;
use std::cmp::Ordering;

pub use resource::Defaults;
pub use scalar_meaning::ScalarMeaning;

use super::{ArrayKind, AttributeModel, Canon, TypeModel, ValueSpec};
use crate::diagnostic::did_you_mean;
use crate::number_list;
use crate::value::Value;

/// An invalid value. The text never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{attribute}: {message}")]
pub struct ValueError {
    /// Name of the attribute with the invalid value.
    pub attribute: String,
    /// The cause, for callers that handle errors differently.
    pub kind: ValueErrorKind,
    /// Lower case, without the attribute's name.
    pub message: String,
    /// The action for the user, such as a similar name or the valid values.
    pub help: Option<String>,
}

/// The kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueErrorKind {
    /// The type has no such attribute.
    Unknown,
    /// The value is invalid for the attribute.
    Refused,
    /// A required attribute has no value.
    Missing,
    /// A rule for several attributes is violated.
    Rule,
}

impl ValueError {
    pub(crate) fn new(attribute: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            attribute: attribute.into(),
            kind: ValueErrorKind::Refused,
            message: message.into(),
            help: None,
        }
    }

    #[must_use]
    pub(crate) fn of(mut self, kind: ValueErrorKind) -> Self {
        self.kind = kind;
        self
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl TypeModel {
    /// The canonical form of an attribute's value.
    ///
    /// # Errors
    /// The type has no such attribute, or the value is invalid.
    pub fn canonicalize(&self, attribute: &str, value: &Value) -> Result<Value, ValueError> {
        match self.attributes.get(attribute) {
            Some(model) => model.canonicalize(value),
            None => Err(self.unknown_attribute(attribute)),
        }
    }

    fn unknown_attribute(&self, attribute: &str) -> ValueError {
        let names = self.attributes.keys().map(|name| name.as_str());
        ValueError {
            help: did_you_mean(attribute, names),
            ..ValueError::new(attribute, format!("unknown attribute of {}", self.name))
                .of(ValueErrorKind::Unknown)
        }
    }
}

impl ArrayKind {
    /// Brings canonical elements into the canonical order, without duplicates where these mean
    /// nothing.
    pub(crate) fn arrange(self, items: &mut Vec<Value>) {
        match self {
            ArrayKind::Set => {
                items.sort_by(order);
                items.dedup();
            }
            ArrayKind::Sequence => {
                let mut seen: Vec<Value> = Vec::with_capacity(items.len());
                items.retain(|item| {
                    let is_new = !seen.contains(item);
                    if is_new {
                        seen.push(item.clone());
                    }
                    is_new
                });
            }
            ArrayKind::List => {}
        }
    }
}

impl AttributeModel {
    /// The canonical form of a value, wrapped if the attribute is sensitive.
    ///
    /// # Errors
    /// The value is invalid for the attribute.
    pub(crate) fn canonicalize(&self, value: &Value) -> Result<Value, ValueError> {
        if let Value::Sensitive(inner) = value {
            let inner = self.canonical(inner).ok_or_else(|| self.refuse(None))?;
            return Ok(Value::Sensitive(Box::new(inner)));
        }
        let canonical = self.canonical(value);
        if self.sensitive {
            let inner = canonical.ok_or_else(|| self.refuse(None))?;
            return Ok(Value::Sensitive(Box::new(inner)));
        }
        canonical.ok_or_else(|| self.refuse(Some(value)))
    }

    /// The declared value that matches a canonical value (an element, for arrays).
    pub(crate) fn kind_of(&self, value: &Value) -> Option<&ValueSpec> {
        let value = value.unwrap_sensitive();
        self.values.iter().find(|spec| spec.takes(value))
    }

    /// The canonical form of an array element, or of a value that is not an array.
    pub(crate) fn canonicalize_element(&self, value: &Value) -> Option<Value> {
        self.canonical_one(value)
    }

    fn canonical(&self, value: &Value) -> Option<Value> {
        let Some(kind) = self.array else {
            // An array with one element equals the element (`cisco_ios`, R4).
            return match value {
                Value::List(items) if items.len() == 1 && !self.takes_lists() => {
                    self.canonical_one(&items[0])
                }
                other => self.canonical_one(other),
            };
        };
        let items = match value {
            Value::List(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut items: Vec<Value> = items
            .iter()
            .map(|item| self.canonical_one(item))
            .collect::<Option<_>>()?;
        self.arrange(kind, &mut items);
        Some(Value::List(items))
    }

    /// Brings canonical elements into the canonical order. Elements of a set that differ in a list of
    /// numbers only become one.
    pub(crate) fn arrange(&self, kind: ArrayKind, items: &mut Vec<Value>) {
        if kind == ArrayKind::Set {
            for position in self
                .values
                .iter()
                .filter_map(ValueSpec::position_of_numbers)
            {
                merge_numbers(position, items);
            }
        }
        kind.arrange(items);
    }

    fn takes_lists(&self) -> bool {
        self.values.is_empty()
            || self
                .values
                .iter()
                .any(|spec| matches!(spec, ValueSpec::Tuple { .. }))
    }

    fn canonical_one(&self, value: &Value) -> Option<Value> {
        if let Value::Sensitive(inner) = value {
            return Some(Value::Sensitive(Box::new(self.canonical_one(inner)?)));
        }
        let value = self.before_matching(value);
        if self.values.is_empty() {
            return Some(value.into_owned());
        }
        self.values
            .iter()
            .find_map(|spec| self.canonical_as(spec, &value))
    }

    fn canonical_as(&self, spec: &ValueSpec, value: &Value) -> Option<Value> {
        let value = spec.canonicalize(value)?;
        Some(match &value {
            Value::Integer(number) if self.canon.contains(&Canon::Decimal) => {
                number.to_string().into()
            }
            _ => value,
        })
    }

    fn before_matching<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        let text = match value {
            Value::String(text) if !self.canon.is_empty() => text,
            Value::Symbol(name) => name,
            other => return Cow::Borrowed(other),
        };
        let mut text = text.to_owned();
        for canon in &self.canon {
            text = canon.text(text);
        }
        Cow::Owned(Value::String(text))
    }

    /// The valid values, as text for users.
    pub fn describe_values(&self) -> String {
        if self.values.is_empty() {
            return "any value".to_owned();
        }
        let values: Vec<String> = self.values.iter().map(ValueSpec::describe).collect();
        match self.array {
            Some(_) => format!("a list of {}", values.join(" or ")),
            None => values.join(" or "),
        }
    }

    /// The valid values; of many, the first ones.
    fn describe_some_values(&self) -> String {
        const MANY: usize = 8;
        if self.values.len() <= MANY {
            return self.describe_values();
        }
        let first: Vec<String> = self
            .values
            .iter()
            .take(MANY)
            .map(ValueSpec::describe)
            .collect();
        let others = self.values.len() - MANY;
        format!(
            "{} or one of {others} others, which `switchtender type` lists",
            first.join(" or ")
        )
    }

    fn refuse(&self, value: Option<&Value>) -> ValueError {
        let what = value.map_or_else(|| "the value".to_owned(), Value::inspect);
        let expected = self.describe_some_values();
        let error = ValueError::new(
            &self.name,
            format!("{what} is not valid: expected {expected}"),
        );
        let words = self.values.iter().filter_map(|spec| match spec {
            ValueSpec::Literal(Value::String(word)) => Some(word.as_str()),
            _ => None,
        });
        let word = value.and_then(Value::as_str);
        match word.and_then(|word| did_you_mean(word, words)) {
            Some(help) if !self.sensitive => error.help(help),
            _ => error,
        }
    }
}

/// Merges lists that differ in the numbers at this position only.
fn merge_numbers(position: usize, items: &mut Vec<Value>) {
    let mut merged: Vec<Value> = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        let is_same = |other: &&mut Value| {
            let (Value::List(item), Value::List(other)) = (&item, other) else {
                return false;
            };
            let pairs = item.iter().zip(other.iter()).enumerate();
            item.len() == other.len()
                && item.len() > position
                && pairs
                    .filter(|(index, _)| *index != position)
                    .all(|(_, (item, other))| item == other)
        };
        let numbers = |items: &[Value]| items[position].as_str().map(str::to_owned);
        match (merged.iter_mut().find(is_same), &item) {
            (Some(Value::List(other)), Value::List(item)) => {
                if let (Some(a), Some(b)) = (numbers(other), numbers(item))
                    && let Some(all) = number_list::canonical(&format!("{a},{b}"))
                {
                    other[position] = all.into();
                }
            }
            _ => merged.push(item),
        }
    }
    *items = merged;
}

/// The order of set elements: numbers, then text, then other values by their text.
pub(crate) fn order(a: &Value, b: &Value) -> Ordering {
    fn rank(value: &Value) -> u8 {
        match value {
            Value::Integer(_) => 0,
            Value::String(_) | Value::Symbol(_) => 1,
            _ => 2,
        }
    }
    let (a, b) = (a.unwrap_sensitive(), b.unwrap_sensitive());
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        _ => match (a.as_str(), b.as_str()) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => rank(a)
                .cmp(&rank(b))
                .then_with(|| order_of_parts(a, b))
                .then_with(|| a.inspect().cmp(&b.inspect())),
        },
    }
}

/// The order of two lists or hashes, by the first elements that differ.
fn order_of_parts(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::List(a), Value::List(b)) => orders(a.iter().zip(b)),
        (Value::Hash(a), Value::Hash(b)) => {
            let entries = a.iter().zip(b);
            orders(entries.flat_map(|(a, b)| [(&a.0, &b.0), (&a.1, &b.1)]))
        }
        _ => Ordering::Equal,
    }
}

fn orders<'a>(mut pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Ordering {
    pairs
        .find_map(|(a, b)| Some(order(a, b)).filter(|order| order.is_ne()))
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::model::load;

    fn model() -> TypeModel {
        load::load(&Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "thing"
            doc = "x"
            [attr.name]
            role = "namevar"
            [attr.id]
            values = [{ name = "id", integer = [1, 4094] }]
            canon = ["decimal"]
            [attr.flag]
            values = [true, false]
            [attr.tags]
            array = "set"
            values = ["unset", { name = "tag", pattern = '\w+' }]
            [attr.address]
            canon = ["ip"]
            values = [{ name = "ip", pattern = '[\da-f.:/]+' }]
            [attr.password]
            sensitive = true
            values = [{ name = "text", pattern = '\S+' }]
            [attr.member]
            array = "set"
            values = [{ name = "member", struct = { name = "path", port = "port" } }]
            [attr.vlans]
            values = [{ name = "change", tuple = [["add", "remove"], "text"] }, false]
            "#,
        ))
        .unwrap()
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| Value::from(*item)).collect())
    }

    #[test]
    fn canonical_form_is_unique() {
        let hash = |port: Value| {
            Value::Hash(vec![
                ("port".into(), port),
                ("name".into(), "/Common/n1".into()),
            ])
        };
        let member = Value::List(vec![Value::Hash(vec![
            ("name".into(), "/Common/n1".into()),
            ("port".into(), "80".into()),
        ])]);
        let cases = [
            ("id", "042".into(), "42".into()),
            ("id", 42.into(), "42".into()),
            ("flag", "true".into(), true.into()),
            ("tags", "b".into(), list(&["b"])),
            ("tags", list(&["b", "a", "b"]), list(&["a", "b"])),
            ("address", "2001:DB8:0::1".into(), "2001:db8::1".into()),
            ("address", "192.0.2.0/24".into(), "192.0.2.0/24".into()),
            ("member", hash(80.into()), member.clone()),
            ("vlans", list(&["add", "1-3"]), list(&["add", "1-3"])),
            ("vlans", "false".into(), false.into()),
        ];
        let model = model();
        for (attribute, value, expected) in cases {
            let value: Value = value;
            assert_eq!(
                model.canonicalize(attribute, &value),
                Ok(expected),
                "{attribute} {value:?}"
            );
        }
    }

    #[test]
    fn canonical_errors_name_the_expected_value_and_mask_secrets() {
        let model = model();
        let cases = [
            (
                "id",
                Value::from("broken-80"),
                "\"broken-80\" is not valid: expected an integer from 1 to 4094",
            ),
            (
                "flag",
                "maybe".into(),
                "\"maybe\" is not valid: expected `true` or `false`",
            ),
            (
                "password",
                "two words".into(),
                "the value is not valid: expected text that matches `\\S+`",
            ),
            ("colour", "red".into(), "unknown attribute of thing"),
        ];
        for (attribute, value, message) in cases {
            assert_eq!(
                model.canonicalize(attribute, &value).unwrap_err().message,
                message
            );
        }
    }

    #[test]
    fn canonical_values_of_secrets_stay_wrapped() {
        let model = model();
        let wrapped = |text: &str| Value::Sensitive(Box::new(text.into()));
        assert_eq!(
            model.canonicalize("password", &"x".into()),
            Ok(wrapped("x"))
        );
        assert_eq!(model.canonicalize("id", &wrapped("042")), Ok(wrapped("42")));
    }
}
