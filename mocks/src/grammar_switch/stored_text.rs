//! Texts of rows with arguments, free numbers and encrypted passwords of the typed line.

use sha2::{Digest as _, Sha256};

use super::command_grammar::ParsedLine;
use super::config_node::ConfigNode;

/// The text that is stored for a typed line.
pub(super) fn stored_text(template: &str, parsed: &ParsedLine, block: &ConfigNode) -> String {
    let mut text = filled(template, &parsed.arguments);
    while let Some((before, name, number, after)) = function(&text) {
        let value = match name.as_str() {
            "rest" => parsed.words.get(number..).unwrap_or_default().join(" "),
            "next" => next_number(block, before.trim_end(), number).to_string(),
            "cipher" => digest(parsed, number)
                .get(..16)
                .unwrap_or_default()
                .to_owned(),
            _ => format!(
                "$5$MOCK$0{}",
                digest(parsed, number).get(..42).unwrap_or_default()
            ),
        };
        text = format!("{before}{value}{after}");
    }
    text
}

/// The first `{name:number}` of a text, with the texts before and behind it.
fn function(text: &str) -> Option<(String, String, usize, String)> {
    let (before, rest) = text.split_once('{')?;
    let (inner, after) = rest.split_once('}')?;
    let (name, number) = inner.split_once(':')?;
    let number = number.parse().ok()?;
    Some((before.to_owned(), name.to_owned(), number, after.to_owned()))
}

/// The next free number behind some words, in steps.
fn next_number(block: &ConfigNode, start: &str, step: usize) -> usize {
    let numbers = block.children.iter().filter_map(|node| {
        let rest = node.text.strip_prefix(start)?;
        rest.split_whitespace().next()?.parse::<usize>().ok()
    });
    numbers.max().map_or(step, |last| (last / step + 1) * step)
}

/// Letters that follow from an argument, for stored forms of secrets.
fn digest(parsed: &ParsedLine, number: usize) -> String {
    let secret = parsed.arguments.get(number.saturating_sub(1));
    hex::encode(Sha256::digest(secret.map_or("", String::as_str)))
}

/// A text with arguments: `{1}` is the first.
pub(super) fn filled(text: &str, arguments: &[String]) -> String {
    let numbered = arguments.iter().enumerate();
    numbered.fold(text.to_owned(), |text, (index, argument)| {
        text.replace(&format!("{{{}}}", index + 1), argument)
    })
}
