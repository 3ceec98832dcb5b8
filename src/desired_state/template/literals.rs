//! Texts and numbers of a template as variables.
//!
//! minijinja computes what is constant while it compiles, before any limit counts: `'a' * 99999999 ~ …`.

use minijinja::Value;
use minijinja::machinery::{Token, WhitespaceConfig, tokenize};

/// Begins the names of the variables.
pub(super) const PREFIX: &str = "__literal_";

/// A template without literals.
#[derive(Debug, PartialEq)]
pub(super) struct ExtractedLiterals {
    pub(super) source: String,
    /// The value of `__literal_0` first.
    pub(super) values: Vec<Value>,
}

impl ExtractedLiterals {
    /// The variables by name.
    pub(super) fn variables(self) -> impl Iterator<Item = (String, Value)> {
        let values = self.values.into_iter().enumerate();
        values.map(|(number, value)| (format!("{PREFIX}{number}"), value))
    }
}

/// Whether a text is only one expression, or a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
    Template,
    Expression,
}

/// Replaces the literals of a template. `None`: it has more tokens than `most`. What follows an error of the
/// syntax is as it was.
pub(super) fn extract(source: &str, kind: SourceKind, most: usize) -> Option<ExtractedLiterals> {
    let whitespace = WhitespaceConfig {
        keep_trailing_newline: true,
        ..WhitespaceConfig::default()
    };
    let is_expression = kind == SourceKind::Expression;
    let tokens = tokenize(source, is_expression, Default::default(), whitespace);
    let mut extracted = ExtractedLiterals {
        source: String::with_capacity(source.len()),
        values: Vec::new(),
    };
    let mut done = 0;
    let mut is_after_dot = false;
    // The text that the next one continues: "a" "b" is "ab".
    let mut open_text: Option<String> = None;
    for (count, token) in tokens.map_while(Result::ok).enumerate() {
        if count == most {
            return None;
        }
        let (token, span) = token;
        let text = match &token {
            Token::Str(text) => Some(*text),
            Token::String(text) => Some(&**text),
            _ => None,
        };
        let value = match (&token, text) {
            (_, Some(text)) => Some(Value::from(text)),
            // `list.0`
            (Token::Int(_) | Token::Int128(_), _) if is_after_dot => None,
            (Token::Int(number), _) => Some(Value::from(*number)),
            (Token::Int128(number), _) => Some(Value::from(**number)),
            (Token::Float(number), _) => Some(Value::from(*number)),
            _ => None,
        };
        is_after_dot = matches!(token, Token::Dot);
        let Some(value) = value else {
            open_text = None;
            continue;
        };
        let offset = |offset: u32| usize::try_from(offset).expect("a template is shorter");
        let before = done..offset(span.start_offset);
        done = offset(span.end_offset);
        match (text, open_text.take(), extracted.values.last_mut()) {
            (Some(text), Some(open), Some(last)) => {
                let joined = open + text;
                *last = Value::from(joined.as_str());
                open_text = Some(joined);
            }
            _ => {
                let number = extracted.values.len();
                extracted.source.push_str(&source[before]);
                extracted.source += &format!(" {PREFIX}{number} ");
                extracted.values.push(value);
                open_text = text.map(str::to_owned);
            }
        }
    }
    extracted.source.push_str(&source[done..]);
    Some(extracted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_variables() {
        let cases = [
            ("a 1 'b'", SourceKind::Template, "a 1 'b'"),
            (
                "a{{ 'b' ~ x.0 + 1.5 }}c\n",
                SourceKind::Template,
                "a{{  __literal_0  ~ x.0 +  __literal_1  }}c\n",
            ),
            (
                "{% raw %}{{ 1 }}{% endraw %}{# {{ 1 }} #}{% if 1%}",
                SourceKind::Template,
                "{% raw %}{{ 1 }}{% endraw %}{# {{ 1 }} #}{% if  __literal_0 %}",
            ),
            (
                "'a' \"b\" 'c' 1",
                SourceKind::Expression,
                " __literal_0   __literal_1 ",
            ),
            ("1 + 'open", SourceKind::Expression, " __literal_0  + 'open"),
        ];
        for (source, kind, expected) in cases {
            let extracted = extract(source, kind, 100).unwrap();
            assert_eq!(extracted.source, expected, "{source}");
        }
        let texts = extract("'a' \"b\" 'c' 1", SourceKind::Expression, 100);
        assert_eq!(texts.unwrap().values, ["abc".into(), Value::from(1)]);
        assert_eq!(extract("1 + 1", SourceKind::Expression, 2), None);
    }
}
