//! Resources as Puppet code, as one would write them in a manifest.

use std::fmt::Write as _;

use switchtender_devices::printable::is_printable;
use switchtender_devices::value::{Attributes, Value};

/// A resource declaration: title, then one attribute a line with the arrows below each other.
/// `comments` are lines after the attributes. Secrets are in clear text.
pub(crate) fn resource(
    type_name: &str,
    title: &str,
    attributes: &Attributes,
    comments: &[String],
) -> String {
    let width = attributes.keys().map(|name| name.len()).max().unwrap_or(0);
    let mut code = format!("{type_name} {{ {}:\n", string(title));
    for (name, value) in attributes {
        let _ = writeln!(code, "  {name:width$} => {},", literal(value));
    }
    for comment in comments {
        let _ = writeln!(code, "  # {comment}");
    }
    code.push_str("}\n");
    code
}

/// A value as Puppet's parser reads it back.
fn literal(value: &Value) -> String {
    match value {
        Value::Undef | Value::Absent => "undef".to_owned(),
        Value::Default => "default".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) | Value::Symbol(text) => string(text),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Hash(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{} => {}", literal(key), literal(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Sensitive(secret) => format!("Sensitive({})", literal(secret)),
        Value::Typed(typed) if typed.kind == "Regexp" => {
            format!("/{}/", typed.text.replace('/', "\\/"))
        }
        Value::Typed(typed) => format!("{}({})", typed.kind, string(&typed.text)),
        Value::Binary(bytes) => {
            use base64::Engine as _;
            format!(
                "Binary('{}')",
                base64::engine::general_purpose::STANDARD.encode(bytes)
            )
        }
        Value::Deferred(call) => {
            let arguments: Vec<_> = call.arguments.iter().map(literal).collect();
            format!(
                "Deferred({}, [{}])",
                string(&call.name),
                arguments.join(", ")
            )
        }
    }
}

/// A string literal: single quotes where they do, double quotes for control characters.
fn string(text: &str) -> String {
    if text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    }
    let mut code = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => code.push_str("\\n"),
            '\r' => code.push_str("\\r"),
            '\t' => code.push_str("\\t"),
            '"' | '\\' | '$' => {
                code.push('\\');
                code.push(c);
            }
            c if !is_printable(c) => {
                let _ = write!(code, "\\u{{{:x}}}", u32::from(c));
            }
            c => code.push(c),
        }
    }
    code.push('"');
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puppet_code_has_the_style_of_a_manifest() {
        let member = Value::Hash(vec![
            ("name".into(), "/shop/web1".into()),
            ("port".into(), "80".into()),
        ]);
        let attributes: Attributes = [
            ("ensure".to_owned(), Value::Symbol("present".into())),
            ("mtu".to_owned(), Value::Integer(1500)),
            ("description".to_owned(), "it's a \\ path".into()),
            ("definition".to_owned(), "when HTTP {\n  $x \"y\"\n}".into()),
            ("members".to_owned(), Value::List(vec![member])),
            (
                "key".to_owned(),
                Value::Sensitive(Box::new("s3cret".into())),
            ),
        ]
        .into_iter()
        .collect();
        let expected = r#"thing { 'a':
  ensure      => 'present',
  mtu         => 1500,
  description => 'it\'s a \\ path',
  definition  => "when HTTP {\n  \$x \"y\"\n}",
  members     => [{ 'name' => '/shop/web1', 'port' => '80' }],
  key         => Sensitive('s3cret'),
  # a note
}
"#;
        let code = resource("thing", "a", &attributes, &["a note".to_owned()]);
        assert_eq!(code, expected);
    }
}
