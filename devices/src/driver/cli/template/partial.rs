//! Recognizes lines that begin like a template and that it cannot read completely.

use super::part::{HoleKind, Part, Piece};
use super::read::{Line, Matcher};
use super::{Bindings, LineTemplate, Vocabulary};

/// The match of a template with the beginning of a line.
#[derive(Debug)]
pub(crate) struct PartialMatch {
    /// Values up to the first part that does not match.
    pub(crate) bindings: Bindings,
    /// Every part matches: the line has further words.
    pub(crate) has_all_parts: bool,
}

impl LineTemplate {
    /// Whether the line has the literal words before the first placeholder. If the template begins
    /// with a placeholder: the literal words after the leading placeholders, at their place.
    pub(crate) fn begins(&self, line: &str) -> bool {
        if !self.has_first_word(line) {
            return false;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let parts: Vec<&Part> = self.parts.iter().collect();
        begins(&parts, &words, false)
    }

    /// Whether the line has the literal words that stand at a fixed position.
    pub(crate) fn has_literals(&self, line: &str) -> bool {
        let fixed = self.parts.iter().take_while(|part| match part {
            Part::Word(_) | Part::Compound(_) => true,
            Part::Hole(hole) => !matches!(
                hole.kind,
                HoleKind::Rest
                    | HoleKind::Numbers
                    | HoleKind::Words
                    | HoleKind::Each(_)
                    | HoleKind::Phrase(_)
            ),
            _ => false,
        });
        let mut words = line.split_whitespace();
        fixed.into_iter().all(|part| match (part, words.next()) {
            (Part::Word(word), actual) => {
                actual.is_some_and(|actual| actual.eq_ignore_ascii_case(word))
            }
            _ => true,
        })
    }

    /// Whether it has a placeholder, so that a complete match identifies something.
    pub(crate) fn has_placeholder(&self) -> bool {
        !self.attributes().is_empty()
    }

    /// The values at the beginning of a line that has the whole template there, and the position
    /// behind it in bytes.
    pub(crate) fn read_start(
        &self,
        line: &str,
        vocabulary: &dyn Vocabulary,
    ) -> Option<(Bindings, usize)> {
        if !self.has_first_word(line) {
            return None;
        }
        let line = Line::new(line, vocabulary);
        let matcher = Matcher::new(&line, vocabulary, &self.literals);
        let mut bindings = Bindings::new();
        let end = matcher.sequence(&self.parts, 0, false, &mut bindings)?;
        Some((bindings, line.end_of(end)))
    }

    /// The values of a line that the template does not read completely.
    pub(crate) fn read_beginning(&self, line: &str, vocabulary: &dyn Vocabulary) -> PartialMatch {
        let line = Line::new(line, vocabulary);
        let matcher = Matcher::new(&line, vocabulary, &self.literals);
        let mut bindings = Bindings::new();
        let mut at = 0;
        let has_all_parts = self.parts.iter().all(|part| {
            let next = matcher.part(part, at, false, &mut bindings);
            at = next.unwrap_or(at);
            next.is_some()
        });
        PartialMatch {
            bindings,
            has_all_parts,
        }
    }
}

/// Whether words begin with the literal words of parts. `found`: literal words were compared.
pub(super) fn begins(parts: &[&Part], words: &[&str], found: bool) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return true;
    };
    let with = |option: &[Part]| {
        let parts: Vec<&Part> = option.iter().chain(rest.iter().copied()).collect();
        begins(&parts, words, found)
    };
    match first {
        Part::Word(word) => words.split_first().is_some_and(|(actual, words)| {
            actual.eq_ignore_ascii_case(word) && begins(rest, words, true)
        }),
        Part::Where { .. } => begins(rest, words, found),
        Part::Compound(pieces) if let Some(Piece::Text(text)) = pieces.first() => {
            let start = words.first().and_then(|word| word.get(..text.len()));
            start.is_some_and(|start| start.eq_ignore_ascii_case(text))
        }
        _ if found => true,
        Part::Compound(_) => words
            .split_first()
            .is_none_or(|(_, words)| begins(rest, words, false)),
        Part::Hole(hole) => match &hole.kind {
            HoleKind::Rest
            | HoleKind::Numbers
            | HoleKind::Words
            | HoleKind::Each(_)
            | HoleKind::Phrase(_) => true,
            _ => words
                .split_first()
                .is_none_or(|(_, words)| begins(rest, words, false)),
        },
        Part::Optional(option) => with(option) || begins(rest, words, found),
        Part::Choice(options) => options.iter().any(|option| with(option)),
        Part::AnyOrder { .. } => true,
    }
}
