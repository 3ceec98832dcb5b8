//! Finds secrets in text of any device: by the words before them, by the names of fields, and by their form.
//!
//! What a word means does not depend on the platform: `key-string`, `password` and `pre-shared-key` stand before
//! a secret in every command line, and are names of secrets in JSON and XML. A platform adds its own patterns
//! (`secrets`), and the templates of sensitive attributes say where secrets stand in its lines. Numbers of keys,
//! names of key chains, methods of authentication and messages of a device stay readable.
//!
//! [`command`] has the grammar of command lines, [`names`] and [`vocabulary`] the words, [`fields`] JSON, XML and assignments.
//! The time is linear in the length of the text. Known secrets are masked by [`crate::secret_mask`].

mod blocks;
mod command;
mod fields;
mod forms;
mod names;
mod position;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use self::blocks::Blocks;
pub(crate) use self::names::is_small_number;
pub(crate) use self::position::SecretPosition;
use crate::pattern::{Pattern, Patterns};
use crate::secret::MASK;
use crate::value::Value;

/// Where secrets stand in the text of a platform's devices. Clones share it.
#[derive(Clone, Default)]
pub struct SecretText(Arc<Rules>);

#[derive(Default)]
struct Rules {
    /// Patterns of the platform; group 1 is the secret.
    declared: Vec<Pattern>,
    /// Set when the definitions of the types are loaded, with the patterns of all lines.
    types: OnceLock<(SecretPositions, Patterns)>,
}

/// Where sensitive attributes stand.
#[derive(Default)]
pub struct SecretPositions {
    /// In lines.
    pub(crate) lines: Vec<SecretPosition>,
    /// Names of fields of JSON and XML.
    pub(crate) fields: BTreeSet<String>,
}

impl SecretPositions {
    /// The positions of several types, each once.
    pub(crate) fn all(types: impl Iterator<Item = SecretPositions>) -> Self {
        let mut all = Self::default();
        for positions in types {
            for position in positions.lines {
                if !all.lines.contains(&position) {
                    all.lines.push(position);
                }
            }
            all.fields.extend(positions.fields);
        }
        all
    }
}

impl SecretText {
    /// The secrets of all platforms, and those that patterns of a platform name by their first group.
    pub(crate) fn new(declared: Vec<Pattern>) -> Self {
        Self(Arc::new(Rules {
            declared,
            types: OnceLock::new(),
        }))
    }

    /// Adds the positions of sensitive attributes, once.
    pub(crate) fn complete(&self, positions: impl FnOnce() -> SecretPositions) {
        self.0.types.get_or_init(|| {
            let positions = positions();
            let patterns = positions
                .lines
                .iter()
                .map(|position| position.pattern.clone());
            let patterns = patterns.collect();
            (positions, patterns)
        });
    }

    /// The text with a mask in position of each secret. Lines remain lines, and JSON remains JSON.
    pub fn apply(&self, text: &str) -> String {
        masked(text, self.ranges(text))
    }

    /// The line below these blocks, outermost first, with a mask in position of each secret.
    pub(crate) fn apply_below<'a>(
        &self,
        blocks: impl IntoIterator<Item = &'a str>,
        line: &str,
    ) -> String {
        masked(line, self.ranges_below(blocks, line))
    }

    /// As [`ranges`](Self::ranges), for a line below these blocks.
    pub(crate) fn ranges_below<'a>(
        &self,
        blocks: impl IntoIterator<Item = &'a str>,
        line: &str,
    ) -> Vec<Range<usize>> {
        let mut scan = Scan::new(self);
        for (depth, block) in blocks.into_iter().enumerate() {
            scan.blocks.enter(depth, block);
        }
        let text = line.trim_start();
        scan.line(text, (line.len() - text.len(), text.len() < line.len()));
        ordered(scan.found)
    }

    /// Whether a text contains a secret.
    pub fn finds(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    /// The value, as sensitive if a text in it contains a secret.
    #[must_use]
    pub(crate) fn marked(&self, value: Value) -> Value {
        if self.is_in(&value) {
            value.into_sensitive()
        } else {
            value
        }
    }

    /// Whether a text in a value contains a secret.
    pub(crate) fn is_in(&self, value: &Value) -> bool {
        match value {
            // A program or a text of several lines is no setting.
            Value::String(text) => !text.contains('\n') && self.finds(text),
            Value::List(items) => items.iter().any(|item| self.is_in(item)),
            Value::Hash(entries) => entries.iter().any(|(_, value)| self.is_in(value)),
            _ => false,
        }
    }

    /// The byte ranges of the secrets in a text, in order. They do not overlap.
    pub(crate) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut scan = Scan::new(self);
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let end = line.trim_end_matches(['\r', '\n']);
            scan.indented(end, offset);
            offset += line.len();
        }
        ordered(scan.found)
    }
}

fn masked(text: &str, found: Vec<Range<usize>>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for range in found {
        masked.push_str(&text[at..range.start]);
        masked.push_str(MASK);
        at = range.end;
    }
    masked + &text[at..]
}

/// The ranges in order; overlapping ones are one range.
fn ordered(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.retain(|range| !range.is_empty());
    found.sort_by_key(|range| range.start);
    found.dedup_by(|next, range| {
        let overlaps = next.start < range.end;
        range.end = if overlaps {
            range.end.max(next.end)
        } else {
            range.end
        };
        overlaps
    });
    found
}

/// A text that is searched line by line.
struct Scan<'a> {
    rules: &'a Rules,
    blocks: Blocks<'a>,
    /// Between the first and the last line of a private key.
    is_private_key: bool,
    /// The two lines before, the last one first.
    previous: [&'a str; 2],
    found: Vec<Range<usize>>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a SecretText) -> Self {
        Self {
            rules: &text.0,
            blocks: Blocks::default(),
            is_private_key: false,
            previous: [""; 2],
            found: Vec::new(),
        }
    }

    /// Searches a line of a text with blocks by indentation.
    fn indented(&mut self, line: &'a str, offset: usize) {
        let text = line.trim_start();
        if text.is_empty() {
            return;
        }
        let indentation = line.len() - text.len();
        self.blocks.leave(indentation);
        self.line(text, (offset + indentation, indentation > 0));
        self.blocks.enter(indentation, text);
        self.pair(text, offset + indentation);
        self.previous = [text, self.previous[0]];
    }

    /// Finds the second text of a list of two in JSON with a line for each: OVSDB has maps as lists of pairs.
    fn pair(&mut self, line: &str, offset: usize) {
        let [name, opening] = self.previous;
        let name = name
            .strip_prefix('"')
            .and_then(|name| name.strip_suffix("\","));
        let is_text = line.len() > 2 && line.starts_with('"') && line.ends_with('"');
        if is_text && opening == "[" && name.is_some_and(names::is_secret_field) {
            self.found.push(offset + 1..offset + line.len() - 1);
        }
    }

    /// Searches a line without its indentation.
    fn line(&mut self, line: &str, (offset, is_indented): (usize, bool)) {
        if self.private_key(line, offset) {
            return;
        }
        let mut found = Vec::new();
        let types = self.rules.types.get();
        let fields = types.map(|(positions, _)| &positions.fields);
        let has_field = fields
            .into_iter()
            .flatten()
            .any(|field| line.contains(field));
        if has_field || names::may_have_secrets(line) {
            let is_field = |name: &str| fields.is_some_and(|fields| fields.contains(name));
            fields::line_secrets(line, &self.blocks, &is_field, &mut found);
            forms::secrets(line, &mut found);
        }
        for pattern in &self.rules.declared {
            let captures = pattern.captures_iter(line);
            found.extend(captures.filter_map(|captures| Some(captures.get(1)?.range())));
        }
        if let Some((positions, patterns)) = types {
            // A command of a transcript is in any block.
            let prompt = command::prompt_of(line).len();
            let none = Blocks::default();
            let blocks = if prompt == 0 { &self.blocks } else { &none };
            let command = &line[prompt..];
            let mut own = Vec::new();
            if patterns.is_match(command) {
                let sent = (command, is_indented || prompt > 0);
                let known = found.iter().filter(|range| range.start >= prompt);
                own.extend(known.map(|range| range.start - prompt..range.end - prompt));
                for position in &positions.lines {
                    position.secrets(sent, blocks, &mut own);
                }
            }
            found.extend(
                own.into_iter()
                    .map(|range| range.start + prompt..range.end + prompt),
            );
        }
        found.retain(|range| !line[range.clone()].contains(MASK));
        let moved = found.into_iter();
        self.found
            .extend(moved.map(|range| range.start + offset..range.end + offset));
    }

    /// Whether a line is one of a private key, which is found.
    fn private_key(&mut self, line: &str, offset: usize) -> bool {
        let is_marker = |word: &str| line.starts_with(word) && line.contains("PRIVATE KEY-----");
        if is_marker("-----BEGIN") {
            self.is_private_key = true;
        } else if line.starts_with("-----END") {
            self.is_private_key = false;
        } else if self.is_private_key {
            self.found.push(offset..offset + line.len());
            return true;
        }
        false
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0.declared).finish()
    }
}
