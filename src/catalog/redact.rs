//! Redacts the secrets in the text of a catalog, for messages that quote it.
//!
//! A catalog contains the values of `sensitive_parameters` in clear text. The redacted text has the
//! same length, so positions stay valid.

use std::ops::Range;
use std::sync::Arc;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use switchtender_devices::diagnostic::Source;
use switchtender_devices::model::TypeModel;

use super::metaparameters;

/// Whether messages hide the value of an attribute: the model marks it as sensitive, or does not have
/// it, because the name can be that of a secret, misspelled.
pub(crate) fn hides_value(model: &TypeModel, attribute: &str) -> bool {
    match model.attributes.get(attribute) {
        Some(attribute) => attribute.sensitive,
        None => !metaparameters::NAMES.contains(&attribute),
    }
}

/// The source of a catalog with its secrets redacted, among them the attributes of types for which
/// `is_secret` is true. The text must be parsed JSON: the nesting is not limited here.
pub(crate) fn redact(source: &Arc<Source>, is_secret: &dyn Fn(&str, &str) -> bool) -> Arc<Source> {
    let text = source.text.as_str();
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = parsed.ok().and_then(|parsed| parsed.value);
    let mut spans = Vec::new();
    if let Some(Value::Object(root)) = &root
        && let Some(Value::Array(resources)) = value(root, "resources")
    {
        for resource in &resources.elements {
            if let Value::Object(resource) = resource {
                of_resource(resource, is_secret, &mut spans);
            }
        }
    }
    source.redacted(&spans)
}

/// The source of invalid JSON with every string redacted except keys: any of them can be secret.
pub(crate) fn redact_strings(source: &Arc<Source>) -> Arc<Source> {
    source.redacted(&strings(&source.text))
}

fn value<'a, 'text>(object: &'a Object<'text>, name: &str) -> Option<&'a Value<'text>> {
    object
        .properties
        .iter()
        .find(|property| property.name.as_str() == name)
        .map(|property| &property.value)
}

fn of_resource(
    resource: &Object<'_>,
    is_secret: &dyn Fn(&str, &str) -> bool,
    spans: &mut Vec<Range<usize>>,
) {
    let type_name = match value(resource, "type") {
        Some(Value::StringLit(name)) => name.value.to_lowercase(),
        _ => String::new(),
    };
    let named: Vec<&str> = match value(resource, "sensitive_parameters") {
        Some(Value::Array(Array { elements, .. })) => elements
            .iter()
            .filter_map(|element| match element {
                Value::StringLit(name) => Some(name.value.as_ref()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let Some(Value::Object(parameters)) = value(resource, "parameters") else {
        return;
    };
    for property in &parameters.properties {
        let name = property.name.as_str();
        if named.contains(&name) || is_secret(&type_name, name) {
            spans.push(range(&property.value));
        } else {
            wrapped(&property.value, spans);
        }
    }
}

/// Payloads of `{"__ptype": "Sensitive", …}` at any depth.
fn wrapped(of: &Value<'_>, spans: &mut Vec<Range<usize>>) {
    match of {
        Value::Array(array) => array.elements.iter().for_each(|item| wrapped(item, spans)),
        Value::Object(object) => {
            let kind = value(object, "__ptype");
            let payload = value(object, "__pvalue");
            if let (Some(Value::StringLit(kind)), Some(payload)) = (kind, payload)
                && kind.value == "Sensitive"
            {
                spans.push(range(payload));
                return;
            }
            let properties = object.properties.iter();
            properties.for_each(|property| wrapped(&property.value, spans));
        }
        _ => {}
    }
}

fn range(value: &Value<'_>) -> Range<usize> {
    let range = value.range();
    range.start..range.end
}

/// The strings of invalid JSON that are not followed by a colon.
fn strings(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        at = (at + 1).min(bytes.len());
        let follows = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
        if follows != Some(&b':') {
            spans.push(start..at);
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_overwrites_secrets_and_keeps_positions() {
        let cases = [
            (
                r#"{"resources": [{"title": "a", "parameters": {"x": "s3crét", "y": 1}, "sensitive_parameters": ["x"]}]}"#,
                r#"{"resources": [{"title": "a", "parameters": {"x": "*******", "y": 1}, "sensitive_parameters": ["x"]}]}"#,
            ),
            (
                r#"{"resources": [{"parameters": {"x": [{"k": {"__ptype": "Sensitive", "__pvalue": [12]}}]}}]}"#,
                r#"{"resources": [{"parameters": {"x": [{"k": {"__ptype": "Sensitive", "__pvalue": ****}}]}}]}"#,
            ),
            (
                r#"{"resources": [{"type": "T", "parameters": {"p": "s3cret", "q": "x"}}]}"#,
                r#"{"resources": [{"type": "T", "parameters": {"p": "******", "q": "x"}}]}"#,
            ),
            (
                r#"{"resources": [{"title": "a"}]}"#,
                r#"{"resources": [{"title": "a"}]}"#,
            ),
        ];
        for (text, expected) in cases {
            let is_secret = |_: &str, name: &str| name == "p";
            assert_eq!(redact(&Source::new("c", text), &is_secret).text, expected);
        }
    }

    #[test]
    fn redact_strings_keeps_only_the_keys_of_invalid_json() {
        let source = Source::new("c", r#"{"password": "s3crét", "a" : ["b\"c"#);
        let expected = r#"{"password": "*******", "a" : ["**"*"#;
        assert_eq!(redact_strings(&source).text, expected);
    }
}
