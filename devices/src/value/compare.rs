//! Whether a value on a device is in sync with the desired one (`docs/reference/transaction.md`,
//! section 9, *In sync?*).
//!
//! The comparison is not symmetric: desired `1500` matches current `"1500"`, desired `"1500"` does
//! not match current `1500`.

use super::Value;

impl Value {
    /// Equality in which integers and decimal numbers of the same value are equal and the order
    /// of a hash's entries does not matter.
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Integer(a), Value::Float(b)) | (Value::Float(b), Value::Integer(a)) => {
                *a as f64 == *b
            }
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Value::Hash(a), Value::Hash(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| {
                        b.iter()
                            .find(|(other, _)| other.equals(key))
                            .is_some_and(|(_, other)| value.equals(other))
                    })
            }
            (Value::Sensitive(a), Value::Sensitive(b)) => a.equals(b),
            (Value::Absent, Value::Symbol(name)) | (Value::Symbol(name), Value::Absent) => {
                name == "absent"
            }
            (a, b) => a == b,
        }
    }

    /// Whether this current value matches one desired value: it is equal to it or to its text.
    pub fn matches(&self, desired: &Value) -> bool {
        self.equals(desired)
            || matches!(self, Value::String(text) if *text == desired.unwrap_sensitive().ruby_to_s())
    }

    /// Whether this current list matches the desired one: it is equal to it or to the list of its
    /// texts, in order. What is no list matches none.
    pub fn matches_list(&self, desired: &[Value]) -> bool {
        let Value::List(current) = self else {
            return false;
        };
        current.len() == desired.len()
            && (current
                .iter()
                .zip(desired)
                .all(|(is, want)| is.equals(want))
                || current.iter().zip(desired).all(
                    |(is, want)| matches!(is, Value::String(text) if *text == want.ruby_to_s()),
                ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compare_matches_a_current_text_with_a_desired_number_only() {
        let cases: [(Value, Value, bool); 8] = [
            ("1500".into(), 1500.into(), true),
            (1500.into(), "1500".into(), false),
            ("true".into(), Value::Symbol("true".into()), true),
            (true.into(), Value::Symbol("true".into()), false),
            (1.into(), Value::Float(1.0), true),
            ("1.5".into(), Value::Float(1.5), true),
            (Value::Absent, "absent".into(), false),
            (Value::Absent, Value::Symbol("absent".into()), true),
        ];
        for (current, desired, expected) in cases {
            assert_eq!(
                current.matches(&desired),
                expected,
                "{current:?} against {desired:?}"
            );
        }
    }

    #[test]
    fn compare_matches_lists_completely_or_as_texts() {
        let current: Value = vec!["1", "2"].into();
        assert!(current.matches_list(&[1.into(), 2.into()]));
        assert!(!current.matches_list(&[2.into(), 1.into()]));
        let mixed = Value::List(vec![1.into(), "2".into()]);
        assert!(
            !mixed.matches_list(&[1.into(), 2.into()]),
            "neither equal nor all texts"
        );
        assert!(!Value::string("1").matches_list(&["1".into()]));
    }
}
