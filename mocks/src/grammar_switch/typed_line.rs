//! A line as it was typed, and how far any syntax matched it.

use std::cell::Cell;

use super::syntax::Extent;

/// A typed line.
#[derive(Debug)]
pub(super) struct TypedLine<'a> {
    text: &'a str,
    /// Start and end of each word.
    words: Vec<(usize, usize)>,
    extent: Extent,
    /// The largest number of words that matched.
    seen: Cell<usize>,
    /// A syntax matched all words and needs more.
    is_incomplete: Cell<bool>,
}

impl<'a> TypedLine<'a> {
    /// The line from a byte on.
    pub(super) fn new(text: &'a str, from: usize, extent: Extent) -> Self {
        let mut words = Vec::new();
        let mut start = None;
        for (at, letter) in text.char_indices().skip_while(|(at, _)| *at < from) {
            if letter.is_whitespace() {
                words.extend(start.take().map(|start| (start, at)));
            } else {
                start.get_or_insert(at);
            }
        }
        words.extend(start.map(|start| (start, text.len())));
        Self {
            text,
            words,
            extent,
            seen: Cell::new(0),
            is_incomplete: Cell::new(false),
        }
    }

    pub(super) fn words(&self) -> &[(usize, usize)] {
        &self.words
    }

    pub(super) fn word(&self, index: usize) -> Option<&'a str> {
        let (start, end) = self.words.get(index)?;
        Some(&self.text[*start..*end])
    }

    /// The text from a word to the end.
    pub(super) fn rest(&self, index: usize) -> &'a str {
        self.words
            .get(index)
            .map_or("", |(start, _)| self.text[*start..].trim_end())
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }

    /// A syntax matched this number of words.
    pub(super) fn saw(&self, words: usize) {
        self.seen.set(self.seen.get().max(words));
    }

    /// A syntax matched all words and needs more.
    pub(super) fn needs_more(&self) {
        self.is_incomplete.set(true);
    }

    pub(super) fn is_incomplete(&self) -> bool {
        self.is_incomplete.get()
    }

    pub(super) fn seen(&self) -> usize {
        self.seen.get()
    }

    /// The column behind the words that matched.
    pub(super) fn column(&self) -> usize {
        let next = self.words.get(self.seen.get());
        next.map_or(self.text.trim_end().len(), |(start, _)| *start)
    }
}
