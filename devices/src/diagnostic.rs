//! Findings about files: definitions, inventories, catalogs.
//!
//! A [`Diagnostic`] is data: code, severity, message, positions and help. The command line renders
//! it (terminal, JSON, SARIF, JUnit). It is part of this package, because the loader of definitions
//! creates diagnostics.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Severity of a finding.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information that requires no action.
    Note,
    /// A probable error that does not prevent the use of the file.
    Warning,
    /// An error that makes the file or a part of it unusable.
    Error,
}

/// The text that findings refer to, and its name.
#[derive(Debug)]
pub struct Source {
    /// A path as given by the user, or the name of a shipped file such as
    /// `cisco_ios/ntp_server.toml`.
    pub name: String,
    /// The complete content of the file.
    pub text: String,
    /// The files that the text names as inputs: by name, the text or why it cannot be read.
    inputs: BTreeMap<String, Result<String, String>>,
    /// Positions of the text at every [`STEP`]th byte, created with the first position.
    /// Ranges that are overwritten.
    hidden: Vec<Range<usize>>,
    positions: OnceLock<Vec<TextPosition>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.text == other.text
    }
}

impl Eq for Source {}

/// Distance in bytes between two positions of a text that are stored. A catalog is one line of
/// megabytes with thousands of findings.
const STEP: usize = 1024;

/// A position in a text.
#[derive(Clone, Copy, Debug)]
struct TextPosition {
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
}

impl TextPosition {
    const START: Self = Self { line: 1, column: 1 };

    /// The position after these bytes. Bytes within a character do not count.
    fn after(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            if *byte == b'\n' {
                self.line += 1;
                self.column = 1;
            } else if byte & 0xc0 != 0x80 {
                self.column += 1;
            }
        }
        self
    }
}

impl Source {
    /// A shared source from its name and its content.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Self::with_inputs(name, text, BTreeMap::new())
    }

    /// A source with the files that it names as inputs.
    pub(crate) fn with_inputs(
        name: impl Into<String>,
        text: impl Into<String>,
        inputs: BTreeMap<String, Result<String, String>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            text: text.into(),
            inputs,
            hidden: Vec::new(),
            positions: OnceLock::new(),
        })
    }

    /// The text of an input, or why it cannot be read.
    pub(crate) fn input(&self, name: &str) -> Result<&str, &str> {
        match self.inputs.get(name) {
            Some(Ok(text)) => Ok(text),
            Some(Err(reason)) => Err(reason),
            None => Err("built-in definitions have no files"),
        }
    }

    /// The source with some byte ranges overwritten by asterisks. It has the same length, and quotes
    /// and line feeds remain. Excerpts have a mask in place of each range.
    #[must_use]
    pub fn redacted(self: &Arc<Self>, ranges: &[Range<usize>]) -> Arc<Self> {
        if ranges.is_empty() {
            return Arc::clone(self);
        }
        let mut bytes = self.text.clone().into_bytes();
        for range in ranges {
            // A character of several bytes becomes as many asterisks.
            for byte in bytes.get_mut(range.clone()).into_iter().flatten() {
                if !matches!(*byte, b'\n' | b'"') {
                    *byte = b'*';
                }
            }
        }
        // Ranges end at character boundaries, so the result is text.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut hidden = [self.hidden.as_slice(), ranges].concat();
        hidden.sort_by_key(|range| range.start);
        Arc::new(Self {
            name: self.name.clone(),
            text,
            inputs: BTreeMap::new(),
            hidden,
            positions: OnceLock::new(),
        })
    }

    /// The byte ranges that [`redacted`](Self::redacted) has overwritten, in order.
    pub fn hidden(&self) -> &[Range<usize>] {
        &self.hidden
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let bytes = self.text.as_bytes();
        let positions = self.positions.get_or_init(|| {
            let parts = bytes.chunks(STEP);
            let next = |position: &mut TextPosition, part: &[u8]| {
                let begin = *position;
                *position = position.after(part);
                Some(begin)
            };
            parts.scan(TextPosition::START, next).collect()
        });
        let number = end / STEP;
        let (begin, from) = match positions.get(number) {
            Some(begin) => (*begin, number * STEP),
            None => match positions.last() {
                Some(begin) => (*begin, (number - 1) * STEP),
                None => (TextPosition::START, 0),
            },
        };
        let TextPosition { line, column } = begin.after(&bytes[from..end]);
        (line, column)
    }
}

/// A marked range of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file that contains the range.
    pub source: Arc<Source>,
    /// Byte range in the source's text.
    pub span: Range<usize>,
    /// The text next to the mark; may be empty.
    pub text: String,
    /// Whether it is the main position and not context.
    pub primary: bool,
}

/// A position in a manifest: file and line, as recorded by the compiler. The file is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestPosition {
    /// Shared: many resources come from one file.
    pub file: Arc<str>,
    /// Line number, from 1.
    pub line: u64,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Short, stable name of the rule, such as `unknown-key`.
    pub code: &'static str,
    /// Whether it is an error, a warning or a note.
    pub severity: Severity,
    /// The problem in one sentence, lower case and without a full stop.
    pub message: String,
    /// Position in the manifest, printed first.
    pub position: Option<ManifestPosition>,
    /// Marked ranges of files; the first one is primary.
    pub labels: Vec<Label>,
    /// The action for the user.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without position, labels and help.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// A warning without position, labels and help.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// A finding without position, labels and help.
    pub fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            position: None,
            labels: Vec::new(),
            help: None,
        }
    }

    /// Adds a label at a byte range of `source`. The first one is the primary label.
    #[must_use]
    pub fn at(mut self, source: &Arc<Source>, span: Range<usize>, text: impl Into<String>) -> Self {
        let primary = self.labels.iter().all(|label| !label.primary);
        self.labels.push(Label {
            source: Arc::clone(source),
            span,
            text: text.into(),
            primary,
        });
        self
    }

    /// Sets the position in the manifest, replacing an earlier one.
    #[must_use]
    pub fn in_manifest(mut self, position: Option<ManifestPosition>) -> Self {
        self.position = position;
        self
    }

    /// Sets the action for the user, replacing an earlier one.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Maximum number of candidates that end with a word.
const MOST: usize = 3;

/// A hint with the candidate most similar to a misspelled word, if one is similar enough, else with
/// those that end with the word, a few at most: `network_vlan` for `vlan`.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let ending_with = |word: &str| -> Vec<&str> {
        let ends = |candidate: &&str| {
            let start = candidate.strip_suffix(word);
            !word.is_empty() && start.is_some_and(|start| start.ends_with('_'))
        };
        candidates.iter().copied().filter(ends).take(MOST).collect()
    };
    let found = match nearest(word, candidates.iter().copied()) {
        Some(near) => vec![near],
        None => match (ending_with(word), word.strip_suffix('s')) {
            (found, Some(singular)) if found.is_empty() => ending_with(singular),
            (found, _) => found,
        },
    };
    let names: Vec<String> = found.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

/// [`did_you_mean`], or another hint if no candidate is similar.
pub fn suggest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<String>,
) -> String {
    did_you_mean(word, candidates).unwrap_or_else(|| otherwise.into())
}

/// The candidate most similar to a misspelled word, if it is similar enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + word.len().max(candidate.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_lines_and_characters_from_one() {
        let source = Source::new("x", "a\nZürich = 1\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(2), (2, 1));
        assert_eq!(source.position("a\nZü".len()), (2, 3));
        assert_eq!(source.position(1000), (3, 1));
    }

    #[test]
    fn positions_in_a_long_text_are_counted_from_the_nearest_step() {
        let text = "ü\nabc€".repeat(2000);
        let source = Source::new("x", text.clone());
        for (offset, _) in text.char_indices().step_by(7).chain([(text.len(), ' ')]) {
            let before = &text[..offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
            assert_eq!(source.position(offset), (line, column), "{offset}");
        }
        assert_eq!(
            source.positions.get().unwrap().len(),
            text.len().div_ceil(STEP)
        );
    }

    #[test]
    fn nearest_finds_similar_words_only() {
        let keys = ["description", "enable", "mtu", "speed"];
        assert_eq!(nearest("descripton", keys), Some("description"));
        assert_eq!(nearest("enabel", keys), Some("enable"));
        assert_eq!(nearest("colour", keys), None);
        let types = ["f5_vlan", "network_vlan", "vlan_group", "ntp_server"];
        let hint = "did you mean `f5_vlan` or `network_vlan`?".to_owned();
        assert_eq!(did_you_mean("vlan", types), Some(hint));
        assert_eq!(did_you_mean("vlans", types), did_you_mean("vlan", types));
        assert_eq!(did_you_mean("lan", types), None);
    }
}
