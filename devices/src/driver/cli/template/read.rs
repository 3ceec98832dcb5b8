//! Matches lines against templates and returns the values.
//!
//! Words are matched from left to right without backtracking, so that the time is linear. An
//! optional part is used if it matches.

use std::collections::BTreeSet;

use super::part::{Hole, HoleKind, Part, collect_holes, is_one_of, is_phrase};
use super::{Bindings, CAPTURE_MARK, LineTemplate, UNREAD, Vocabulary};
use super::{compound, ordered};
use crate::value::Value;

impl LineTemplate {
    /// The values in a line; `None` if the line does not match, or if `{*}` takes an option with
    /// an unknown value.
    pub(crate) fn read_known(&self, line: &str, vocabulary: &dyn Vocabulary) -> Option<Bindings> {
        let bindings = self.read(line, vocabulary);
        bindings.filter(|bindings| !bindings.iter().any(|(name, _)| name == UNREAD))
    }

    /// The values in a line; `None` if the line does not match.
    pub(crate) fn read(&self, line: &str, vocabulary: &dyn Vocabulary) -> Option<Bindings> {
        if !self.has_first_word(line) {
            return None;
        }
        let line = Line::new(line, vocabulary);
        let matcher = Matcher::new(&line, vocabulary, &self.literals);
        let mut bindings = Bindings::new();
        let end = matcher.sequence(&self.parts, 0, false, &mut bindings)?;
        (end == line.words.len()).then_some(bindings)
    }

    /// Compares the first word, because most lines belong to other templates.
    pub(super) fn has_first_word(&self, line: &str) -> bool {
        let Some(Part::Word(word)) = self.parts.first() else {
            return true;
        };
        let first = line.split_whitespace().next();
        first.is_some_and(|first| first.eq_ignore_ascii_case(word))
    }
}

/// A line as words with their positions.
pub(super) struct Line<'a> {
    text: &'a str,
    words: Vec<(&'a str, usize)>,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str, vocabulary: &dyn Vocabulary) -> Self {
        if let Some(quoting) = vocabulary.quoting() {
            let words = quoting.words(text);
            return Self { text, words };
        }
        let words = text.split_whitespace();
        let words = words.map(|word| (word, word.as_ptr() as usize - text.as_ptr() as usize));
        Self {
            text,
            words: words.collect(),
        }
    }

    /// The words behind the first ones.
    pub(super) fn words_from(&self, first: usize) -> Vec<&'a str> {
        let words = self.words.iter().skip(first);
        words.map(|(word, _)| *word).collect()
    }

    /// The position behind the first words.
    pub(super) fn end_of(&self, words: usize) -> usize {
        let last = words.checked_sub(1).and_then(|last| self.words.get(last));
        last.map_or(0, |(word, offset)| offset + word.len())
    }
}

/// Matches the parts of a template with the words of a line.
pub(super) struct Matcher<'a> {
    pub(super) line: &'a Line<'a>,
    pub(super) vocabulary: &'a dyn Vocabulary,
    literals: &'a BTreeSet<String>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(
        line: &'a Line<'a>,
        vocabulary: &'a dyn Vocabulary,
        literals: &'a BTreeSet<String>,
    ) -> Self {
        Self {
            line,
            vocabulary,
            literals,
        }
    }

    /// Matches parts from a word on and returns the index after the match. Without a match the
    /// bindings are unchanged.
    pub(super) fn sequence(
        &self,
        parts: &[Part],
        from: usize,
        may_be_skipped: bool,
        bindings: &mut Bindings,
    ) -> Option<usize> {
        let before = bindings.len();
        let mut at = from;
        let mut rest = parts.iter();
        while let Some(part) = rest.next() {
            let first = may_be_skipped && at == from;
            let before_part = &parts[..parts.len() - rest.len() - 1];
            let matched = match (part, rest.as_slice()) {
                // Words that no option reads may stand between the options.
                (Part::AnyOrder { options, .. }, [Part::Optional(other)])
                    if is_other_words(other) =>
                {
                    rest = parts[parts.len()..].iter();
                    Some(self.options_and_other_words(options, at, bindings))
                }
                _ if self.has_unread_option(part, before_part, at) => {
                    let words = self.line.words_from(at);
                    bindings.push((UNREAD.into(), words.join(" ").into()));
                    Some(self.line.words.len())
                }
                _ => self.part(part, at, first, bindings),
            };
            match matched {
                Some(next) => at = next,
                None => {
                    bindings.truncate(before);
                    return None;
                }
            }
        }
        Some(at)
    }

    pub(super) fn part(
        &self,
        part: &Part,
        at: usize,
        first: bool,
        bindings: &mut Bindings,
    ) -> Option<usize> {
        match part {
            Part::Word(word) => {
                let (actual, _) = self.line.words.get(at)?;
                actual.eq_ignore_ascii_case(word).then_some(at + 1)
            }
            Part::Hole(hole) => self.hole(hole, at, first, bindings),
            Part::Compound(pieces) => {
                let (word, _) = self.line.words.get(at)?;
                let before = bindings.len();
                for (hole, text) in compound::split(pieces, word, self.vocabulary)? {
                    let Some(value) = self.word_value(hole, text) else {
                        bindings.truncate(before);
                        return None;
                    };
                    bindings.push((hole.name.clone(), value));
                }
                Some(at + 1)
            }
            Part::Where { name, values } => {
                let bound = bindings.iter().find(|(key, _)| key == name);
                match (bound, values.as_slice()) {
                    // No placeholder reads it: the words that follow mean the value.
                    (None, [value]) => {
                        let value = self.vocabulary.read(name, value)?;
                        bindings.push((name.clone(), value));
                        Some(at)
                    }
                    (bound, values) => {
                        is_one_of(bound.map(|(_, value)| value), values).then_some(at)
                    }
                }
            }
            Part::Optional(parts) => {
                let end = self.sequence(parts, at, true, bindings);
                if end.is_none() {
                    missing(parts, bindings);
                }
                Some(end.unwrap_or(at))
            }
            Part::AnyOrder {
                list: Some(list),
                options,
            } => ordered::read(self, list, options, at, bindings),
            Part::AnyOrder { options, .. } => {
                let mut left: Vec<&[Part]> = options.iter().map(Vec::as_slice).collect();
                let mut at = at;
                while let Some(end) = self.next_option(&mut left, at, bindings) {
                    at = end;
                }
                for option in left {
                    missing(option, bindings);
                }
                Some(at)
            }
            Part::Choice(options) => options
                .iter()
                .find_map(|option| self.sequence(option, at, first, bindings)),
        }
    }

    /// Matches one of the options and removes it from the list.
    pub(super) fn next_option(
        &self,
        left: &mut Vec<&[Part]>,
        at: usize,
        bindings: &mut Bindings,
    ) -> Option<usize> {
        let (index, end) = left.iter().enumerate().find_map(|(index, option)| {
            let end = self.sequence(option, at, true, bindings)?;
            (end > at).then_some((index, end))
        })?;
        left.remove(index);
        Some(end)
    }

    /// Matches options in any order up to the end of the line. Other words are bound together.
    fn options_and_other_words(
        &self,
        options: &[Vec<Part>],
        from: usize,
        bindings: &mut Bindings,
    ) -> usize {
        let mut left: Vec<&[Part]> = options.iter().map(Vec::as_slice).collect();
        let (mut others, mut unread): (Vec<&str>, Vec<&str>) = Default::default();
        // The words of an option whose value is unknown.
        let mut of_option = 0;
        let mut at = from;
        while let Some((word, _)) = self.line.words.get(at) {
            if let Some(end) = self.next_option(&mut left, at, bindings) {
                (at, of_option) = (end, 0);
                continue;
            }
            let mut options = options.iter();
            if let Some(words) = options.find_map(|option| words_of_option(option, word)) {
                of_option = words;
            }
            match of_option {
                0 => others.push(word),
                _ => unread.push(word),
            }
            of_option = of_option.saturating_sub(1);
            at += 1;
        }
        for option in left {
            missing(option, bindings);
        }
        let captured = [
            (CAPTURE_MARK.to_string(), others),
            (UNREAD.to_owned(), unread),
        ];
        let captured = captured.into_iter().filter(|(_, words)| !words.is_empty());
        bindings.extend(captured.map(|(name, words)| (name.into(), words.join(" ").into())));
        at
    }

    /// Whether a part takes the rest of a line, and this has words of an option before the part.
    fn has_unread_option(&self, part: &Part, before: &[Part], at: usize) -> bool {
        let is_rest = match part {
            Part::Optional(parts) => is_other_words(parts),
            part => is_other_words(std::slice::from_ref(part)),
        };
        let begins_option = |word: &str| {
            before.iter().any(|part| match part {
                Part::Optional(option) => words_of_option(option, word).is_some(),
                Part::AnyOrder { options, .. } => {
                    let mut options = options.iter();
                    options.any(|option| words_of_option(option, word).is_some())
                }
                _ => false,
            })
        };
        is_rest && self.line.words_from(at).into_iter().any(begins_option)
    }

    fn hole(&self, hole: &Hole, at: usize, first: bool, bindings: &mut Bindings) -> Option<usize> {
        let (word, offset) = *self.line.words.get(at)?;
        let is_literal = |word: &str| self.literals.contains(&word.to_lowercase());
        let read = |text: &str| self.vocabulary.read(&hole.name, text);
        let (value, end) = match &hole.kind {
            HoleKind::Flag(flag) | HoleKind::Mark(flag) => {
                if !word.eq_ignore_ascii_case(flag) {
                    return None;
                }
                (Value::Bool(true), at + 1)
            }
            HoleKind::Each(mark) => {
                let pairs = self.line.words[at..].chunks_exact(2);
                let values = pairs.map_while(|pair| {
                    let has_mark = pair[0].0.eq_ignore_ascii_case(mark);
                    has_mark.then(|| read(pair[1].0)).flatten()
                });
                let values: Vec<Value> = values.collect();
                if values.is_empty() {
                    return None;
                }
                let end = at + 2 * values.len();
                (Value::List(values), end)
            }
            HoleKind::Phrase(phrase) => {
                let words = self.line.words.get(at..at + phrase.len())?;
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                if !is_phrase(phrase, &words) {
                    return None;
                }
                (read(&words.join(" "))?, at + phrase.len())
            }
            _ if first && is_literal(word) => return None,
            HoleKind::Rest if hole.name.starts_with(CAPTURE_MARK) => {
                let text = self.line.text[offset..].trim_end();
                (text.into(), self.line.words.len())
            }
            HoleKind::Rest | HoleKind::Numbers => {
                let text = self.line.text[offset..].trim_end();
                (read(text)?, self.line.words.len())
            }
            HoleKind::Words if !self.vocabulary.reads_each_word(&hole.name) => {
                let words = self.line.words[at..].iter().map(|(word, _)| *word);
                let words: Vec<&str> = words.take_while(|word| !is_literal(word)).collect();
                (read(&words.join(" "))?, at + words.len())
            }
            HoleKind::Words => {
                let words = self.line.words[at..].iter();
                let element = |word: &str| match self.vocabulary.quoting() {
                    Some(quoting) => read(&quoting.read(word)?),
                    None => read(word),
                };
                let values: Vec<Value> = words
                    .map_while(|(word, _)| {
                        if is_literal(word) {
                            None
                        } else {
                            element(word)
                        }
                    })
                    .collect();
                if values.is_empty() {
                    return None;
                }
                let end = at + values.len();
                (Value::List(values), end)
            }
            HoleKind::Number => {
                let name = format!("{}|number", hole.name);
                if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                    return None;
                }
                bindings.push((name.into(), word.into()));
                return Some(at + 1);
            }
            HoleKind::Word | HoleKind::Quoted | HoleKind::Address(_) => {
                (self.word_value(hole, word)?, at + 1)
            }
        };
        bindings.push((hole.name.clone(), value));
        Some(end)
    }

    /// The value of a placeholder for one word.
    fn word_value(&self, hole: &Hole, word: &str) -> Option<Value> {
        match &hole.kind {
            HoleKind::Address(kind) if !kind.is(word) => None,
            HoleKind::Quoted => {
                let text = self.vocabulary.quoting()?.read(word)?;
                self.vocabulary.read(&hole.name, &text)
            }
            _ if hole.name.starts_with(CAPTURE_MARK) => Some(word.into()),
            _ => self.vocabulary.read(&hole.name, word),
        }
    }
}

/// Whether an optional part is `{*}`.
fn is_other_words(parts: &[Part]) -> bool {
    match parts {
        [Part::Hole(hole)] => hole.kind == HoleKind::Rest && hole.name.starts_with(CAPTURE_MARK),
        _ => false,
    }
}

/// The number of words of an option with this first word, if it has further ones.
fn words_of_option(option: &[Part], word: &str) -> Option<usize> {
    let parts = option.iter();
    let mut parts = parts.skip_while(|part| matches!(part, Part::Where { .. }));
    match parts.next()? {
        Part::Word(first) if first.eq_ignore_ascii_case(word) => Some(1 + parts.count()),
        Part::Choice(options) => {
            let mut options = options.iter();
            options.find_map(|option| words_of_option(option, word))
        }
        _ => None,
    }
}

/// Binds the flags of a missing part.
pub(super) fn missing(parts: &[Part], bindings: &mut Bindings) {
    collect_holes(parts, &mut |hole| {
        if let HoleKind::Flag(_) = hole.kind
            && bindings.iter().all(|(name, _)| *name != hole.name)
        {
            bindings.push((hole.name.clone(), Value::Bool(false)));
        }
    });
}
