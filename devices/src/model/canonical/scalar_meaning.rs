//! The meaning of a scalar that is written without quotation marks: `0x1F` is a number or a text.

use crate::model::{AttributeModel, ValueSpec};
use crate::value::Value;

/// The meaning of an unquoted scalar for an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarMeaning {
    /// The text as written.
    Text,
    /// A number or boolean.
    Value(Value),
    /// It cannot be decided.
    Several,
}

impl AttributeModel {
    /// The meaning of a scalar with this text, of which the language of the file makes `value`: a
    /// boolean, an integer or a float. `key` is that of the hash around it.
    pub fn meaning(&self, written: &str, value: &Value, key: Option<&str>) -> ScalarMeaning {
        let value = integral(value);
        let specs = scalar_specs(&self.values, key);
        let text = Value::String(written.to_owned());
        let is_accepted = |spec: &ValueSpec, value| {
            self.canonical_as(spec, &self.before_matching(value))
                .is_some()
        };
        let takes_text = self.values.is_empty()
            || specs
                .iter()
                .any(|spec| is_text(spec) && is_accepted(spec, &text));
        let is_usual = value.ruby_to_s() == written;
        let takes_value = self.values.is_empty() && is_usual
            || specs
                .iter()
                .any(|spec| !is_text(spec) && is_accepted(spec, &value));
        match (takes_text, takes_value) {
            (_, true) if is_usual => ScalarMeaning::Value(value),
            // The same text: a catalog of a manifest has the number, too.
            (true, _) if is_usual && value.as_integer().is_some() => ScalarMeaning::Value(value),
            (true, true) => ScalarMeaning::Several,
            // Octal in YAML 1.1, decimal in YAML 1.2.
            (false, true) if has_leading_zero(written) => ScalarMeaning::Several,
            (false, true) => ScalarMeaning::Value(value),
            (_, false) => ScalarMeaning::Text,
        }
    }
}

/// A float without a fraction is an integer: `1e3`.
fn integral(value: &Value) -> Value {
    /// Integers up to here are exact in a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "integral and in range")]
        Value::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
            Value::Integer(*number as i64)
        }
        other => other.clone(),
    }
}

/// The kinds of a scalar: those of the elements, or of the key of a hash.
fn scalar_specs<'a>(specs: &'a [ValueSpec], key: Option<&str>) -> Vec<&'a ValueSpec> {
    let mut found = Vec::new();
    for spec in specs {
        match spec {
            ValueSpec::Struct { fields, .. } => {
                let field = key.and_then(|key| fields.get(key));
                found.extend(
                    field
                        .iter()
                        .flat_map(|field| scalar_specs(&field.values, key)),
                );
            }
            ValueSpec::Tuple { items, .. } => {
                found.extend(items.iter().flat_map(|specs| scalar_specs(specs, key)));
            }
            scalar => found.push(scalar),
        }
    }
    found
}

fn is_text(spec: &ValueSpec) -> bool {
    matches!(
        spec,
        ValueSpec::Pattern { .. } | ValueSpec::Literal(Value::String(_) | Value::Symbol(_))
    )
}

fn has_leading_zero(written: &str) -> bool {
    let digits = written.trim_start_matches(['+', '-']);
    digits.len() > 1
        && digits.starts_with('0')
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::model::load;

    #[test]
    fn meaning_of_a_scalar_is_that_of_its_attribute() {
        let source = Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "thing"
            doc = "x"
            [attr.name]
            role = "namevar"
            [attr.text]
            values = [{ name = "text", pattern = '.+' }]
            [attr.number]
            values = ["unset", { name = "number", integer = [0, 5000] }]
            [attr.switch]
            values = [true, false]
            [attr.both]
            values = [{ name = "number", integer = [0, 100] }, { name = "text", pattern = '.+' }]
            "#,
        );
        let model = load::load(&source).expect("valid");
        let (number, float) = (Value::Integer, Value::Float);
        let value = |number| ScalarMeaning::Value(Value::Integer(number));
        let cases = [
            ("text", "0x1F", number(31), ScalarMeaning::Text),
            ("text", "1_000", number(1000), ScalarMeaning::Text),
            ("text", "1e3", float(1000.0), ScalarMeaning::Text),
            ("text", "+1", number(1), ScalarMeaning::Text),
            ("text", "0123", float(123.0), ScalarMeaning::Text),
            (
                "text",
                "13061E010803",
                float(f64::INFINITY),
                ScalarMeaning::Text,
            ),
            ("text", "true", Value::Bool(true), ScalarMeaning::Text),
            ("number", "0x1F", number(31), value(31)),
            ("number", "1_000", number(1000), value(1000)),
            ("number", "1e3", float(1000.0), value(1000)),
            ("number", "+1", number(1), value(1)),
            ("number", "0123", float(123.0), ScalarMeaning::Several),
            ("number", "9999", number(9999), ScalarMeaning::Text),
            (
                "switch",
                "True",
                Value::Bool(true),
                ScalarMeaning::Value(Value::Bool(true)),
            ),
            ("both", "10", number(10), value(10)),
            ("both", "0x1F", number(31), ScalarMeaning::Several),
        ];
        for (attribute, written, value, expected) in cases {
            let found = model
                .attributes
                .get(attribute)
                .expect("declared")
                .meaning(written, &value, None);
            assert_eq!(found, expected, "{attribute}: {written}");
        }
    }
}
