//! Values of attributes, in catalogs and on devices.
//!
//! The kinds of values are Puppet's (`docs/reference/transaction.md`, section 1, *Rich data*): the
//! JSON kinds, enumerated values (interned names), the special value *absent*, and wrapped secrets.
//! `Debug` masks secrets.
//!
//! [`compare`] has Puppet's comparison, [`render`] the text forms.

mod attributes;
pub(crate) mod compare;
pub(crate) mod render;

use std::fmt;

use crate::secret::MASK;

pub use attributes::{Attributes, Name};

/// A value of an attribute.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Puppet's `undef`, JSON `null`.
    Undef,
    /// The special value of something that is not on the device; distinct from the string.
    Absent,
    /// The `default` literal.
    Default,
    /// `true` or `false`.
    Bool(bool),
    /// A signed 64-bit number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    String(String),
    /// An enumerated value: a name from the set that the type allows.
    Symbol(String),
    /// An array; the elements can have different kinds.
    List(Vec<Value>),
    /// A hash; keys need not be strings, order is the catalog's.
    Hash(Vec<(Value, Value)>),
    /// A value that is never shown.
    Sensitive(Box<Value>),
    /// A typed text, such as a regular expression or a timestamp.
    Typed(Box<Typed>),
    /// Bytes, which rich data encodes as Base64.
    Binary(Vec<u8>),
    /// A function call that is not resolved yet.
    Deferred(Box<Deferred>),
}

/// A typed text. Rare, so that [`Value`] only points to it and stays small.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// `Regexp`, `Timestamp`, `Timespan`, `SemVer`, `SemVerRange`, `URI`, `Type`.
    pub kind: String,
    /// The value in the notation of its kind.
    pub text: String,
}

/// A call that the agent makes while it loads the catalog. Rare as [`Typed`] is.
#[derive(Clone, PartialEq)]
pub struct Deferred {
    /// The name of the function.
    pub name: String,
    /// The positional arguments of the call.
    pub arguments: Vec<Value>,
}

impl Value {
    /// A string value.
    pub fn string(text: impl Into<String>) -> Self {
        Value::String(text.into())
    }

    /// The text of a string or enumerated value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) | Value::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// The number of an integer. `None` for other kinds, including numeric strings.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean. `None` for other kinds, including the strings `true` and `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The elements of a list; `None` for other kinds.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a hash entry whose key is this string.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Hash(entries) => entries
                .iter()
                .find(|(name, _)| name.as_str() == Some(key))
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of a string, an enumerated value, a number or a boolean; a secret in clear.
    /// `None` for everything else. For messages use [`Value::ruby_to_s`], which masks secrets.
    pub fn scalar_text(&self) -> Option<String> {
        match self.unwrap_sensitive() {
            Value::String(text) | Value::Symbol(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => None,
        }
    }

    /// Whether the value is wrapped as `Sensitive`, or contains such a value.
    pub fn contains_secret(&self) -> bool {
        match self {
            Value::Sensitive(_) => true,
            Value::List(items) => items.iter().any(Value::contains_secret),
            Value::Hash(entries) => entries.iter().any(|(_, value)| value.contains_secret()),
            _ => false,
        }
    }

    /// The value, marked as a secret.
    #[must_use]
    pub fn into_sensitive(self) -> Value {
        match self {
            Value::Sensitive(_) => self,
            value => Value::Sensitive(Box::new(value)),
        }
    }

    /// The value without its `Sensitive` wrapper, at the top level.
    pub fn unwrap_sensitive(&self) -> &Value {
        match self {
            Value::Sensitive(inner) => inner.unwrap_sensitive(),
            other => other,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Undef => f.write_str("undef"),
            Value::Absent => f.write_str("absent"),
            Value::Default => f.write_str("default"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::String(text) => write!(f, "{text:?}"),
            Value::Symbol(name) => write!(f, ":{name}"),
            Value::List(items) => f.debug_list().entries(items).finish(),
            Value::Hash(entries) => f
                .debug_map()
                .entries(entries.iter().map(|(key, value)| (key, value)))
                .finish(),
            Value::Sensitive(_) => f.write_str(MASK),
            Value::Typed(typed) => write!(f, "{}({:?})", typed.kind, typed.text),
            Value::Binary(bytes) => write!(f, "Binary({} bytes)", bytes.len()),
            Value::Deferred(call) => write!(f, "Deferred({}, {:?})", call.name, call.arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_masks_a_wrapped_secret_in_debug_output() {
        let value = Value::List(vec![
            Value::Sensitive(Box::new("s3cret".into())),
            "x".into(),
        ]);
        assert_eq!(format!("{value:?}"), "[••••, \"x\"]");
    }
}
