//! Text forms of values: in Puppet's messages, in Ruby's error messages (`inspect`), and as Ruby
//! strings (`docs/reference/transaction.md`, section 9, *Formatting*).
//!
//! A sensitive value is masked in all forms, except through [`Value::unwrap_sensitive`].

use std::fmt::Write;

use super::Value;
use crate::secret::MASK;

impl Value {
    /// The text in change and audit messages: `'text'`, `1500`, `['a', 1]`, hashes over several
    /// lines. `Undef` alone is the empty text.
    pub fn display(&self) -> String {
        let mut out = String::new();
        if *self != Value::Undef {
            render(&mut out, self, 0, Nesting::Top);
        }
        out
    }

    /// Ruby's `inspect`: `"text"`, `:name`, `nil`, `["a", 1]`, `{"k"=>1}`.
    pub fn inspect(&self) -> String {
        match self {
            Value::Undef => "nil".to_owned(),
            Value::Absent => ":absent".to_owned(),
            Value::Default => ":default".to_owned(),
            Value::String(text) => inspect_text(text),
            Value::Symbol(name) => format!(":{name}"),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Value::inspect).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Hash(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}=>{}", key.inspect(), value.inspect()))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            Value::Typed(typed) if typed.kind == "Regexp" => format!("/{}/", typed.text),
            other => other.ruby_to_s(),
        }
    }

    /// Ruby's `to_s`: the text itself, a number's digits, the empty text for `Undef`.
    pub fn ruby_to_s(&self) -> String {
        match self {
            Value::Undef => String::new(),
            Value::Absent => "absent".to_owned(),
            Value::Default => "default".to_owned(),
            Value::Bool(truth) => truth.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::String(text) | Value::Symbol(text) => text.clone(),
            Value::List(_) | Value::Hash(_) => self.inspect(),
            Value::Sensitive(_) => MASK.to_owned(),
            Value::Typed(typed) if typed.kind == "Regexp" => format!("(?-mix:{})", typed.text),
            Value::Typed(typed) => typed.text.clone(),
            Value::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Deferred(call) => call.name.clone(),
        }
    }
}

/// Where a value stands, which decides how it begins.
#[derive(Clone, Copy, PartialEq)]
enum Nesting {
    Top,
    /// An element of a list.
    Element,
    /// The value of a hash entry.
    Entry,
}

fn render(out: &mut String, value: &Value, depth: usize, nesting: Nesting) {
    match value {
        Value::Undef => out.push_str("undef"),
        Value::Absent => out.push_str("'absent'"),
        Value::Default => out.push_str("default"),
        Value::Bool(truth) => write!(out, "{truth}").expect("a string takes all text"),
        Value::Integer(number) => write!(out, "{number}").expect("a string takes all text"),
        Value::Float(number) => write!(out, "{number:.6}").expect("a string takes all text"),
        Value::String(text) | Value::Symbol(text) => quote(out, text),
        Value::List(items) => render_list(out, items, depth, nesting),
        Value::Hash(entries) => render_hash(out, entries, depth, nesting),
        Value::Sensitive(_) => out.push_str(MASK),
        Value::Typed(typed) => out.push_str(&typed.text),
        Value::Binary(bytes) => quote(out, &String::from_utf8_lossy(bytes)),
        Value::Deferred(call) => write!(out, "Deferred({})", call.name).expect("as above"),
    }
}

fn render_list(out: &mut String, items: &[Value], depth: usize, nesting: Nesting) {
    if nesting == Nesting::Element {
        line(out, depth);
    }
    out.push('[');
    let mut after_nested = false;
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if nested(item) {
            // Brings its own line.
            render(out, item, depth + 1, Nesting::Element);
            after_nested = true;
        } else {
            if after_nested {
                line(out, depth + 1);
            } else if index > 0 {
                out.push(' ');
            }
            render(out, item, depth + 1, Nesting::Element);
            after_nested = false;
        }
    }
    out.push(']');
}

fn render_hash(out: &mut String, entries: &[(Value, Value)], depth: usize, nesting: Nesting) {
    if nesting == Nesting::Element {
        line(out, depth);
    }
    out.push_str("{\n");
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 {
            out.push_str(",\n");
        }
        indent(out, depth + 1);
        render(out, key, depth + 1, Nesting::Entry);
        out.push_str(" => ");
        render(out, value, depth + 1, Nesting::Entry);
    }
    line(out, depth);
    out.push('}');
}

fn nested(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Hash(_))
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    indent(out, depth);
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Single quotes, unless there is a control character, which needs double ones.
fn quote(out: &mut String, text: &str) {
    if !text.chars().any(|c| c < ' ') {
        out.push('\'');
        let mut before = None;
        for c in text.chars() {
            if c == '\'' && before != Some('\\') {
                out.push('\\');
            }
            out.push(c);
            before = Some(c);
        }
        out.push('\'');
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' | '$' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c < ' ' => write!(out, "\\u{{{:X}}}", u32::from(c)).expect("as above"),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn inspect_text(text: &str) -> String {
    let mut out = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '#' if matches!(chars.peek(), Some('{' | '$' | '@')) => out.push_str("\\#"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' || c == '\u{7f}' => {
                write!(out, "\\x{:02X}", u32::from(c)).expect("a string takes all text");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(entries: Vec<(&str, Value)>) -> Value {
        Value::Hash(
            entries
                .into_iter()
                .map(|(k, v)| (Value::string(k), v))
                .collect(),
        )
    }

    /// Texts from recorded runs of Puppet 7.23.
    #[test]
    fn render_in_messages_equals_puppet() {
        let cases: Vec<(Value, &str)> = vec![
            ("it's".into(), r"'it\'s'"),
            ("say \"hi\"".into(), "'say \"hi\"'"),
            ("tab\t$x \"q\"".into(), r#""tab\t\$x \"q\"""#),
            ("\u{1}".into(), r#""\u{1}""#),
            ("back\\slash\\".into(), r"'back\slash\'"),
            (Value::Float(1.5), "1.500000"),
            (Value::Undef, ""),
            (Value::Absent, "'absent'"),
            (Value::List(vec![]), "[]"),
            (Value::Default, "default"),
            (
                Value::List(vec![
                    "x".into(),
                    vec!["y", "z"].into(),
                    "w".into(),
                    hash(vec![]),
                    1.into(),
                ]),
                "['x',\n  ['y', 'z'],\n  'w',\n  {\n\n  },\n  1]",
            ),
            (
                Value::List(vec![
                    vec!["one"].into(),
                    Value::List(vec![vec!["two", "three"].into()]),
                ]),
                "[\n  ['one'],\n  [\n    ['two', 'three']]]",
            ),
            (
                hash(vec![
                    ("b", Value::List(vec![1.into(), "two".into(), Value::Undef])),
                    ("a", hash(vec![("c", true.into())])),
                ]),
                "{\n  'b' => [1, 'two', undef],\n  'a' => {\n    'c' => true\n  }\n}",
            ),
            (
                hash(vec![(
                    "c",
                    Value::List(vec![
                        hash(vec![(
                            "x",
                            Value::List(vec![1.into(), Value::List(vec![2.into()])]),
                        )]),
                        3.into(),
                    ]),
                )]),
                "{\n  'c' => [\n    {\n      'x' => [1,\n        [2]]\n    },\n    3]\n}",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(value.display(), expected);
        }
    }

    #[test]
    fn render_in_errors_equals_ruby() {
        let value = Value::List(vec![
            "a \"b\"".into(),
            Value::Undef,
            Value::Symbol("on".into()),
        ]);
        assert_eq!(value.inspect(), r#"["a \"b\"", nil, :on]"#);
    }
}
