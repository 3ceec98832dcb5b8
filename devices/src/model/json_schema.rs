//! The values of an attribute as JSON Schema, for editors.

use serde_json::{Map, Value as Json, json};

use super::{AttributeModel, StructField, ValueSpec};
use crate::map::IndexMap;
use crate::value::Value;

impl AttributeModel {
    /// The valid values as JSON Schema. It accepts every valid value, and some that are invalid:
    /// values that are normalized before the check, and patterns that other programs do not support.
    pub fn json_schema(&self) -> Json {
        let element = if self.canon.is_empty() {
            any_of(&self.values)
        } else {
            json!({})
        };
        match self.array {
            Some(_) => json!({"anyOf": [element, {"type": "array", "items": element}]}),
            None => element,
        }
    }
}

fn any_of(specs: &[ValueSpec]) -> Json {
    match specs {
        [] => json!({}),
        [one] => schema(one),
        specs => json!({"anyOf": specs.iter().map(schema).collect::<Vec<_>>()}),
    }
}

fn schema(spec: &ValueSpec) -> Json {
    match spec {
        // Literals match values with their text.
        ValueSpec::Literal(literal) => {
            let text = Json::from(literal.ruby_to_s());
            match literal {
                Value::Bool(truth) => json!({"enum": [truth, text]}),
                Value::Integer(number) => json!({"enum": [number, text]}),
                _ => json!({"enum": [text]}),
            }
        }
        ValueSpec::Pattern { pattern, canon, .. } => {
            let scalar = ["string", "number", "boolean"];
            match portable(pattern.as_str()) {
                Some(pattern) if canon.is_empty() => json!({"type": scalar, "pattern": pattern}),
                _ => json!({"type": scalar}),
            }
        }
        ValueSpec::Integer { low, high, .. } => json!({"anyOf": [
            {"type": "integer", "minimum": low, "maximum": high},
            {"type": "string", "pattern": "^\\s*[-+]?[0-9]"},
        ]}),
        ValueSpec::Numbers { .. } => json!({"type": ["string", "integer", "array"]}),
        ValueSpec::Struct { fields, .. } => fields_schema(fields),
        ValueSpec::Tuple { items, .. } => {
            let items: Vec<Json> = items.iter().map(|specs| any_of(specs)).collect();
            json!({
                "type": "array", "minItems": items.len(), "maxItems": items.len(),
                "prefixItems": items,
            })
        }
    }
}

fn fields_schema(fields: &IndexMap<String, StructField>) -> Json {
    let properties = fields.iter();
    let properties: Map<String, Json> = properties
        .map(|(name, field)| (name.clone(), any_of(&field.values)))
        .collect();
    let required = fields.iter();
    let required = required.filter(|(_, field)| !field.optional && field.default.is_none());
    let required: Vec<&String> = required.map(|(name, _)| name).collect();
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

/// A pattern in the syntax of ECMAScript. `None`: it uses something else.
fn portable(pattern: &str) -> Option<String> {
    let pattern = pattern.strip_prefix(r"\A(?:")?.strip_suffix(r")\z")?;
    let has_flags = pattern.replace("(?:", "").contains("(?");
    let escapes = pattern.match_indices('\\');
    let mut escapes = escapes.filter_map(|(at, _)| pattern[at + 1..].chars().next());
    let is_known = escapes.all(|c| {
        matches!(c, 'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'b' | '\\') || c.is_ascii_punctuation()
    });
    let has_class = pattern.contains("[[") || pattern.contains("&&");
    (!has_flags && is_known && !has_class).then(|| format!("^(?:{pattern})$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_patterns_have_no_extensions() {
        assert_eq!(portable(r"\A(?:a|b\d{2})\z").unwrap(), r"^(?:a|b\d{2})$");
        for pattern in [r"\A(?:(?i)a)\z", r"\A(?:\h)\z", r"\A(?:[[:alpha:]])\z", "a"] {
            assert_eq!(portable(pattern), None, "{pattern}");
        }
    }
}
