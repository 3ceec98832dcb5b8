//! Secrets in fields: JSON, XML, assignments and `name: value`. Other text is read as a command line.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::blocks::Blocks;
use super::command::command_secrets;
use super::names::{is_number, is_secret_field};

/// Whether a field is one of a sensitive attribute.
type IsField<'a> = dyn Fn(&str) -> bool + 'a;

/// The name of a field and the beginning of its value: `"name": `, `name=`.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:(?i:(community) (?:name|string))|([\w.$-]+))\\?["']?(?: *= *|[ \t]*: +)"#)
        .expect("is a pattern")
});

/// An element with a text.
static ELEMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<([\w.:-]+)(?:\s[^<>]*)?>([^<>]+)<").expect("is a pattern"));

/// Adds the secrets of a line.
pub(super) fn line_secrets(
    line: &str,
    blocks: &Blocks<'_>,
    is_field: &IsField<'_>,
    found: &mut Vec<Range<usize>>,
) {
    if blocks.are_public_keys() {
        return;
    }
    if is_json(line) {
        return json(line, is_field, found);
    }
    if line.starts_with('<') || line.contains("</") {
        for element in ELEMENT.captures_iter(line) {
            if let (Some(name), Some(text)) = (element.get(1), element.get(2))
                && is_named(name.as_str(), is_field)
            {
                found.extend(value_at((line, name.as_str()), text.start(), |c| c == '<'));
            }
        }
        if line.starts_with('<') {
            return;
        }
    }
    assigned(line, is_field, found);
    command_secrets(line, blocks, found);
}

/// Whether the value of a field is a secret.
fn is_named(name: &str, is_field: &IsField<'_>) -> bool {
    let local = name.rsplit([':', '.']).next().unwrap_or(name);
    is_secret_field(name) || is_field(local)
}

/// Whether a line is JSON, or a part of it.
fn is_json(line: &str) -> bool {
    let end = line.trim_end_matches(',');
    let is_text = line.starts_with('"') && end.len() > 1 && end.ends_with('"');
    is_text || line.contains("\":") || line.contains("\" :")
}

/// Texts of JSON, and what is between them.
fn json(line: &str, is_field: &IsField<'_>, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut name: Option<&str> = None;
    let is_map = line.contains("\"map\"");
    while let Some(start) = line[at..].find('"').map(|start| at + start + 1) {
        let Some(length) = text_length(&line[start..]) else {
            return;
        };
        let text = &line[start..start + length];
        at = start + length + 1;
        let rest = line[at..].trim_start();
        if let Some(value) = rest.strip_prefix(':') {
            name = Some(text);
            // A value that is no text ends at the next name.
            let value = value.trim_start();
            if !value.starts_with(['"', '[']) {
                name = None;
            }
            continue;
        }
        match name {
            Some(name) if is_named(name, is_field) => {
                found.extend(is_value(name, text).then_some(start..start + length));
            }
            _ => embedded(text, start, is_field, found),
        }
        // OVSDB has maps as lists of pairs.
        if is_map && rest.starts_with(',') && line[..start - 1].trim_end().ends_with('[') {
            name = Some(text);
            continue;
        }
        if !rest.starts_with(',') || line[at..].trim_start_matches([',', ' ']).starts_with('{') {
            name = None;
        }
    }
}

/// The length of a text of JSON up to its quotation mark.
fn text_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// The lines of a text of JSON, which are separated by an escape.
fn embedded(text: &str, offset: usize, is_field: &IsField<'_>, found: &mut Vec<Range<usize>>) {
    let mut blocks = Blocks::default();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].find("\\n").unwrap_or(text.len() - at);
        let line = text[at..at + length].trim_end_matches("\\r");
        let inner = line.trim_start();
        let indentation = line.len() - inner.len();
        let start = offset + at + indentation;
        if !inner.is_empty() {
            blocks.leave(indentation);
            let mut own = Vec::new();
            if !blocks.are_public_keys() {
                assigned(inner, is_field, &mut own);
                command_secrets(inner, &blocks, &mut own);
            }
            found.extend(
                own.into_iter()
                    .map(|range| range.start + start..range.end + start),
            );
            blocks.enter(indentation, inner);
        }
        at += length + 2;
    }
}

/// `name = value`, `name: value`, `name="value"`.
fn assigned(line: &str, is_field: &IsField<'_>, found: &mut Vec<Range<usize>>) {
    for assignment in ASSIGNED.captures_iter(line) {
        let name = assignment.get(1).or(assignment.get(2));
        let (Some(all), Some(name)) = (assignment.get(0), name) else {
            continue;
        };
        let is_sentence = all.as_str().ends_with(' ') && all.as_str().contains(':');
        let rest = &line[all.end()..];
        // `password: it is too short` is a message.
        if is_sentence && rest.split_whitespace().count() > 2 && !rest.starts_with(['"', '\'']) {
            continue;
        }
        if is_named(name.as_str(), is_field) {
            found.extend(value_at((line, name.as_str()), all.end(), |c: char| {
                c.is_whitespace() || matches!(c, '&' | ';')
            }));
        }
    }
}

/// The value that begins here: up to its quotation mark, or up to a character that ends it.
fn value_at(
    (line, name): (&str, &str),
    start: usize,
    ends: impl Fn(char) -> bool,
) -> Option<Range<usize>> {
    let text = &line[start..];
    let quote = ["\\\"", "\"", "'"]
        .into_iter()
        .find(|quote| text.starts_with(quote));
    let (start, length) = match quote {
        Some(quote) => {
            let start = start + quote.len();
            let inner = &line[start..];
            let length = match quote {
                "\"" => text_length(inner),
                _ => inner.find(quote),
            };
            (start, length.unwrap_or(inner.len()))
        }
        None => (start, text.find(ends).unwrap_or(text.len())),
    };
    let value = line[start..start + length].trim_end_matches([',', '}', ']']);
    is_value(name, value.trim()).then_some(start..start + value.len())
}

/// Whether the text of a field can be a secret: no path, number, flag or public key.
fn is_value(name: &str, text: &str) -> bool {
    let is_flag = || {
        let words = [
            "none", "null", "true", "false", "unset", "enabled", "disabled", "yes", "no", "flow",
            "{", "[", "<", "****",
        ];
        words.iter().any(|word| text.eq_ignore_ascii_case(word))
    };
    let is_bgp = || {
        name.to_ascii_lowercase().contains("communit")
            && text.contains(':')
            && text.split(':').all(is_number)
    };
    let is_path = || {
        text.starts_with('/')
            || text.ends_with(".pem")
            || text.ends_with(".key")
            || text.ends_with(".crt")
    };
    let is_public = || {
        text.starts_with("ssh-")
            || text.starts_with("ecdsa-")
            || text.starts_with("-----BEGIN CERT")
    };
    !text.is_empty()
        && text.len() > 1
        && !is_small(text)
        && !is_flag()
        && !is_bgp()
        && !is_path()
        && !is_public()
}

fn is_small(text: &str) -> bool {
    super::names::is_small_number(text)
}
