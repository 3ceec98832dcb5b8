//! Matches a value against a declared kind and returns its canonical form.

use std::borrow::Cow;

use crate::model::ValueSpec;
use crate::number_list;
use crate::pattern::Pattern;
use crate::value::Value;

impl ValueSpec {
    /// Whether a value is of this kind.
    pub(super) fn takes(&self, value: &Value) -> bool {
        match self {
            ValueSpec::Literal(literal) => match (literal, value) {
                (Value::Bool(truth), Value::Bool(other)) => truth == other,
                (Value::Bool(truth), other) => {
                    other.as_str() == Some(if *truth { "true" } else { "false" })
                }
                (Value::Integer(number), _) => integral_number(value) == Some(*number),
                (Value::String(text), Value::Integer(number)) => *text == number.to_string(),
                (Value::String(text), other) => other.as_str() == Some(text),
                (literal, other) => literal == other,
            },
            ValueSpec::Pattern { pattern, .. } => matching(pattern, value).is_some(),
            ValueSpec::Integer { .. }
            | ValueSpec::Numbers { .. }
            | ValueSpec::Struct { .. }
            | ValueSpec::Tuple { .. } => self.canonicalize(value).is_some(),
        }
    }

    /// The canonical form of a value of this kind; `None` for other values.
    pub(super) fn canonicalize(&self, value: &Value) -> Option<Value> {
        match self {
            ValueSpec::Literal(literal) => self.takes(value).then(|| literal.clone()),
            ValueSpec::Pattern { pattern, canon, .. } => {
                if canon.is_empty() {
                    let text = matching(pattern, value)?;
                    return Some(Value::String(text.into_owned()));
                }
                let text = value.scalar_text()?;
                let text = canon.iter().fold(text, |text, canon| canon.text(text));
                pattern.is_match(&text).then_some(Value::String(text))
            }
            ValueSpec::Numbers { low, high, .. } => {
                let texts: Option<Vec<String>> = match value {
                    Value::List(items) => items.iter().map(Value::scalar_text).collect(),
                    one => one.scalar_text().map(|text| vec![text]),
                };
                let numbers = number_list::numbers(&texts?.join(","))?;
                let are_valid = !numbers.is_empty()
                    && numbers.iter().all(|number| (*low..=*high).contains(number));
                are_valid.then(|| number_list::text(&numbers.into_iter().collect(), 2).into())
            }
            ValueSpec::Integer { low, high, .. } => {
                let number = integral_number(value)?;
                (*low..=*high)
                    .contains(&number)
                    .then_some(Value::Integer(number))
            }
            ValueSpec::Struct { fields, .. } => {
                let Value::Hash(entries) = value else {
                    return None;
                };
                if !entries
                    .iter()
                    .all(|(key, _)| key.as_str().is_some_and(|key| fields.contains_key(key)))
                {
                    return None;
                }
                let mut canonical = Vec::new();
                for (name, field) in fields {
                    match value.get(name).or(field.default.as_ref()) {
                        Some(value) => {
                            canonical.push((name.as_str().into(), one_of(&field.values, value)?));
                        }
                        None if field.optional => {}
                        None => return None,
                    }
                }
                Some(Value::Hash(canonical))
            }
            ValueSpec::Tuple { items, canon, .. } => {
                let values = value.as_list()?;
                if values.len() != items.len() {
                    return None;
                }
                let canonical: Option<Vec<_>> = items
                    .iter()
                    .zip(values)
                    .map(|(specs, value)| one_of(specs, value))
                    .collect();
                let canonical = canon
                    .iter()
                    .fold(canonical?, |items, canon| canon.list(items));
                Some(Value::List(canonical))
            }
        }
    }

    /// The position of a list of numbers in a tuple.
    pub(super) fn position_of_numbers(&self) -> Option<usize> {
        let ValueSpec::Tuple { items, .. } = self else {
            return None;
        };
        let is_numbers = |specs: &Vec<ValueSpec>| {
            let mut specs = specs.iter();
            specs.any(|spec| matches!(spec, ValueSpec::Numbers { .. }))
        };
        items.iter().position(is_numbers)
    }

    /// Description for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            ValueSpec::Literal(_) => format!("`{}`", self.name()),
            ValueSpec::Pattern { doc, .. } if !doc.is_empty() => doc.clone(),
            ValueSpec::Pattern { name, pattern, .. } => {
                let pattern = pattern.as_str();
                let inner = pattern
                    .strip_prefix(r"\A(?:")
                    .and_then(|rest| rest.strip_suffix(r")\z"))
                    .unwrap_or(pattern);
                format!("{name} that matches `{inner}`")
            }
            ValueSpec::Integer { low, high, .. } if *low == i64::MIN && *high == i64::MAX => {
                "an integer".to_owned()
            }
            ValueSpec::Integer { low, high, .. } => format!("an integer from {low} to {high}"),
            ValueSpec::Numbers { low, high, .. } => {
                format!("numbers and ranges from {low} to {high}, such as `1-3,5`")
            }
            ValueSpec::Struct { fields, .. } => {
                let names: Vec<_> = fields.keys().map(String::as_str).collect();
                format!("a hash of {}", names.join(", "))
            }
            ValueSpec::Tuple { name, items, .. } => format!("{name} (a list of {})", items.len()),
        }
    }
}

fn one_of(specs: &[ValueSpec], value: &Value) -> Option<Value> {
    if specs.is_empty() {
        return Some(value.clone());
    }
    specs.iter().find_map(|spec| spec.canonicalize(value))
}

/// The text of a value if it matches.
fn matching<'v>(pattern: &Pattern, value: &'v Value) -> Option<Cow<'v, str>> {
    let text = match value {
        Value::Integer(number) => Cow::Owned(number.to_string()),
        other => Cow::Borrowed(other.as_str()?),
    };
    pattern.is_match(&text).then_some(text)
}

fn integral_number(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        other => other.as_str()?.parse().ok(),
    }
}
