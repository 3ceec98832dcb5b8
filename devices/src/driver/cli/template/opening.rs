//! The beginning of a line up to the names of its instance.

use super::part::{HoleKind, Part, collect_holes};
use super::partial::begins;
use super::read::{Line, Matcher};
use super::{Bindings, LineTemplate, Vocabulary};

impl LineTemplate {
    /// Whether a line is the template without the text at its end, which is the attribute's value.
    pub(crate) fn is_without_text(&self, attribute: &str, line: &str) -> bool {
        let Some((Part::Hole(hole), words)) = self.parts.split_last() else {
            return false;
        };
        let words = words.iter().map(|part| match part {
            Part::Word(word) => Some(word.as_str()),
            _ => None,
        });
        let words: Option<Vec<&str>> = words.collect();
        let words = words.filter(|_| hole.kind == HoleKind::Rest && hole.name == attribute);
        words.is_some_and(|words| {
            let line: Vec<&str> = line.split_whitespace().collect();
            let pairs = line.iter().zip(&words);
            line.len() == words.len() && pairs.into_iter().all(|(a, b)| a.eq_ignore_ascii_case(b))
        })
    }

    /// Its beginning up to the last placeholder of these attributes.
    pub(crate) fn opening(&self, names: &[&str]) -> Self {
        self.first(self.parts_with(names))
    }

    /// Its beginning up to the last placeholder of these attributes, and the literal words behind
    /// it.
    pub(crate) fn head_with(&self, names: &[&str]) -> Self {
        self.first(self.head_parts(names))
    }

    /// The words that both begin with, if a literal word follows in each. They are several words
    /// behind the names, or the only other words.
    pub(crate) fn common_head(&self, other: &Self, names: &[&str]) -> Option<Self> {
        let (own, others) = (self.head_parts(names), other.head_parts(names));
        let pairs = self.parts[..own].iter().zip(&other.parts[..others]);
        let common = pairs.take_while(|(a, b)| a == b).count();
        let words = common.checked_sub(self.parts_with(names))?;
        let is_last = |template: &Self| template.parts.len() == common + 1;
        let is_clear = words > 1 || words == 1 && is_last(self) && is_last(other);
        let has_word = |template: &Self| matches!(template.parts.get(common), Some(Part::Word(_)));
        (is_clear && has_word(self) && has_word(other)).then(|| self.first(common))
    }

    /// The text of [`LineTemplate::head_with`], with the placeholders.
    pub(crate) fn head_text(&self, names: &[&str]) -> String {
        let words = self.text.split_whitespace();
        let words: Vec<&str> = words.take(self.head_parts(names)).collect();
        words.join(" ")
    }

    /// Whether both read the same lines.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.parts == other.parts
    }

    /// Whether the line has the values of these attributes, and then the literal words before the
    /// next placeholder. Without these attributes: see [`LineTemplate::begins`].
    pub(crate) fn begins_with_names(
        &self,
        names: &[&str],
        line: &str,
        vocabulary: &dyn Vocabulary,
    ) -> bool {
        let (opening, rest) = self.parts.split_at(self.parts_with(names));
        if opening.is_empty() {
            return self.begins(line);
        }
        if !self.has_first_word(line) {
            return false;
        }
        let line = Line::new(line, vocabulary);
        let matcher = Matcher::new(&line, vocabulary, &self.literals);
        let end = matcher.sequence(opening, 0, false, &mut Bindings::new());
        let rest: Vec<&Part> = rest.iter().collect();
        end.is_some_and(|end| begins(&rest, &line.words_from(end), false))
    }

    /// The words of a line that the literal words of the template, and these attributes before
    /// them, stand for.
    pub(crate) fn head_of<'l>(
        &self,
        names: &[&str],
        line: &'l str,
        vocabulary: &dyn Vocabulary,
    ) -> &'l str {
        let head = &self.parts[..self.head_parts(names)];
        let words = Line::new(line, vocabulary);
        let matcher = Matcher::new(&words, vocabulary, &self.literals);
        let end = matcher.sequence(head, 0, false, &mut Bindings::new());
        line.get(..words.end_of(end.unwrap_or_default()))
            .unwrap_or_default()
    }

    fn first(&self, parts: usize) -> Self {
        Self {
            parts: self.parts[..parts].to_vec(),
            ..self.clone()
        }
    }

    /// The number of parts up to the last with one of these attributes.
    fn parts_with(&self, names: &[&str]) -> usize {
        let has_name = |part: &Part| {
            let mut found = false;
            collect_holes(std::slice::from_ref(part), &mut |hole| {
                found |= names.contains(&hole.name.as_str());
            });
            found
        };
        let last = self.parts.iter().rposition(has_name);
        last.map_or(0, |last| last + 1)
    }

    fn head_parts(&self, names: &[&str]) -> usize {
        let opening = self.parts_with(names);
        let words = self.parts[opening..].iter();
        let words = words.take_while(|part| matches!(part, Part::Word(_)));
        opening + words.count()
    }
}
