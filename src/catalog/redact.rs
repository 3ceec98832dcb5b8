//! Redacts the secrets in the text of a catalog, for messages that quote it.
//!
//! A catalog contains the values of `sensitive_parameters` in clear text. The redacted text has the
//! same length, so positions stay valid.

use std::ops::Range;
use std::sync::Arc;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::model::TypeModel;
use switchtender_devices::model::view::METAPARAMETERS;

/// Whether messages hide the value of an attribute: the model marks it as sensitive, or does not have
/// it, because the name can be that of a secret, misspelled.
pub(crate) fn hides_value(model: &TypeModel, attribute: &str) -> bool {
    match model.attributes.get(attribute) {
        Some(attribute) => attribute.sensitive,
        None => !METAPARAMETERS.contains(&attribute),
    }
}

/// The source of a catalog with its secrets redacted, among them the attributes of types for which
/// `is_secret` is true. The text must be parsed JSON: the nesting is not limited here.
pub(crate) fn redact(source: &Arc<Source>, is_secret: &dyn Fn(&str, &str) -> bool) -> Arc<Source> {
    source.redacted(&secret_values(&source.text, is_secret))
}

/// Errors about the secrets that a catalog has in clear text. Values that the agent computes are none.
pub(crate) fn clear_secrets(
    source: &Arc<Source>,
    is_secret: &dyn Fn(&str, &str) -> bool,
) -> Vec<Diagnostic> {
    let mut spans = secret_values(&source.text, is_secret);
    spans.retain(|span| {
        let value = &source.text[span.clone()];
        let is_computed = value.starts_with('{') && value.contains("\"Deferred\"");
        !is_computed && !matches!(value, "null" | "\"unset\"" | "\"absent\"")
    });
    let masked = source.redacted(&spans);
    let error = |span: Range<usize>| {
        Diagnostic::error("clear-secret", "a secret is in clear text")
            .at(&masked, span, "")
            .help("use a deferred function in the manifest, or desired state with {secret: …}")
    };
    spans.iter().cloned().map(error).collect()
}

/// The values of secrets.
fn secret_values(text: &str, is_secret: &dyn Fn(&str, &str) -> bool) -> Vec<Range<usize>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = parsed.ok().and_then(|parsed| parsed.value);
    let mut spans = Vec::new();
    if let Some(Value::Object(root)) = &root {
        for resource in values(root, "resources").flat_map(elements) {
            if let Value::Object(resource) = resource {
                of_resource(resource, is_secret, &mut spans);
            }
        }
    }
    spans
}

/// The source of invalid JSON with every string redacted except keys and names of types: any of them can be secret.
pub(crate) fn redact_strings(source: &Arc<Source>) -> Arc<Source> {
    source.redacted(&strings(&source.text))
}

/// The values of a key, which can be repeated: the text may be invalid.
fn values<'a, 'text>(
    object: &'a Object<'text>,
    name: &str,
) -> impl Iterator<Item = &'a Value<'text>> {
    object
        .properties
        .iter()
        .filter(move |property| property.name.as_str() == name)
        .map(|property| &property.value)
}

fn elements<'a, 'text>(of: &'a Value<'text>) -> &'a [Value<'text>] {
    match of {
        Value::Array(array) => &array.elements,
        _ => &[],
    }
}

fn text<'a>(of: &'a Value<'_>) -> Option<&'a str> {
    match of {
        Value::StringLit(text) => Some(text.value.as_ref()),
        _ => None,
    }
}

fn of_resource(
    resource: &Object<'_>,
    is_secret: &dyn Fn(&str, &str) -> bool,
    spans: &mut Vec<Range<usize>>,
) {
    let types = values(resource, "type").filter_map(text);
    let types: Vec<String> = types.map(str::to_lowercase).collect();
    let named = values(resource, "sensitive_parameters").flat_map(elements);
    let named: Vec<&str> = named.filter_map(text).collect();
    let is_secret = |name: &str| {
        let of_type = |type_name: &String| is_secret(type_name, name);
        named.contains(&name)
            || types.iter().any(of_type)
            || (types.is_empty() && is_secret("", name))
    };
    for parameters in values(resource, "parameters") {
        let Value::Object(parameters) = parameters else {
            continue;
        };
        for property in &parameters.properties {
            if is_secret(property.name.as_str()) {
                spans.push(range(&property.value));
            } else {
                wrapped(&property.value, spans);
            }
        }
    }
}

/// Payloads of `{"__ptype": "Sensitive", …}` at any depth.
fn wrapped(of: &Value<'_>, spans: &mut Vec<Range<usize>>) {
    match of {
        Value::Array(array) => array.elements.iter().for_each(|item| wrapped(item, spans)),
        Value::Object(object) => {
            let mut kinds = values(object, "__ptype").filter_map(text);
            if kinds.any(|kind| kind == "Sensitive") {
                spans.extend(values(object, "__pvalue").map(range));
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

/// The strings of invalid JSON that are not followed by a colon and are no names of types.
fn strings(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    let mut key = "";
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
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'_' | b':');
        if follows == Some(&b':') {
            key = &text[start..at];
        } else if key != "\"type\"" || !bytes[start..at].iter().copied().all(is_name) {
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
            // Repeated keys are invalid, and each value can be the secret.
            (
                r#"{"resources": [{"parameters": {"p": "s3", "p": "cret"}}], "resources": [{"parameters": {"p": 1}, "parameters": {"p": 2}}]}"#,
                r#"{"resources": [{"parameters": {"p": "**", "p": "****"}}], "resources": [{"parameters": {"p": *}, "parameters": {"p": *}}]}"#,
            ),
            (
                r#"{"resources": [{"parameters": {"x": {"__ptype": "Sensitive", "__ptype": "Odd", "__pvalue": 12, "__pvalue": 34}}}]}"#,
                r#"{"resources": [{"parameters": {"x": {"__ptype": "Sensitive", "__ptype": "Odd", "__pvalue": **, "__pvalue": **}}}]}"#,
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
        let source = Source::new(
            "c",
            r#"{"type": "Ntp_server", "title": "a", "type": "a b",, }"#,
        );
        let expected = r#"{"type": "Ntp_server", "title": "*", "type": "***",, }"#;
        assert_eq!(redact_strings(&source).text, expected);
    }
}
