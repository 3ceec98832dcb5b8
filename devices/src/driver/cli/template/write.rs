//! Renders lines from templates and attribute values.

use std::collections::BTreeSet;

use super::compound;
use super::part::{Hole, HoleKind, Part, Piece, is_one_of, is_phrase};
use super::{CAPTURE_MARK, LineTemplate, Vocabulary, trailing_number, value_parts};
use crate::secret::Text;
use crate::secret_text::is_small_number;
use crate::value::Value;

impl LineTemplate {
    /// The line for values; `None` if a required value is missing or cannot be written.
    pub(crate) fn write<'v>(
        &self,
        values: &dyn Fn(&str) -> Option<&'v Value>,
        vocabulary: &dyn Vocabulary,
    ) -> Option<Text> {
        let mut line = Text::new();
        let printer = Printer {
            values,
            vocabulary,
            literals: &self.literals,
        };
        printer.sequence(&self.parts, &mut line)?;
        Some(line)
    }
}

struct Printer<'a, 'v> {
    values: &'a dyn Fn(&str) -> Option<&'v Value>,
    vocabulary: &'a dyn Vocabulary,
    literals: &'a BTreeSet<String>,
}

impl Printer<'_, '_> {
    fn sequence(&self, parts: &[Part], line: &mut Text) -> Option<()> {
        for part in parts {
            match part {
                Part::Word(word) => {
                    separate(line);
                    line.push(word);
                }
                Part::Hole(hole) => add(line, self.hole(hole)?),
                Part::Compound(pieces) => add(line, self.compound(pieces)?),
                Part::Where { name, values } => {
                    if !is_one_of((self.values)(name), values) {
                        return None;
                    }
                }
                Part::Optional(parts) => self.optional(parts, line),
                Part::AnyOrder { list, options } => {
                    match list.as_ref().and_then(|list| self.in_order(list)) {
                        Some(words) => add(line, words),
                        None => options
                            .iter()
                            .for_each(|option| self.optional(option, line)),
                    }
                }
                Part::Choice(options) => {
                    let printed = options.iter().find_map(|option| {
                        let mut line = Text::new();
                        self.sequence(option, &mut line).map(|()| line)
                    });
                    add(line, printed?);
                }
            }
        }
        Some(())
    }

    /// The options in the order of the list.
    fn in_order(&self, list: &Hole) -> Option<Text> {
        let items = (self.values)(&list.name)?.as_list()?.iter();
        let words: Option<Vec<String>> = items
            .map(|item| self.vocabulary.write(&list.name, item))
            .collect();
        let words = words?.join(" ");
        (!words.is_empty()).then(|| Text::plain(words))
    }

    fn optional(&self, parts: &[Part], line: &mut Text) {
        let mut part = Text::new();
        if self.sequence(parts, &mut part).is_some() {
            add(line, part);
        }
    }

    /// A word, if it is split into the same texts again.
    fn compound(&self, pieces: &[Piece]) -> Option<Text> {
        let mut word = Text::new();
        let mut texts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => word.push(text),
                Piece::Hole(hole) => {
                    let text = self.hole(hole)?;
                    texts.push(text.reveal());
                    word.append(text);
                }
            }
        }
        let revealed = word.reveal();
        let again = compound::split(pieces, &revealed, self.vocabulary)?;
        let is_same = again
            .iter()
            .map(|(_, text)| *text)
            .eq(texts.iter().map(String::as_str));
        is_same.then_some(word)
    }

    fn hole(&self, hole: &Hole) -> Option<Text> {
        let value = (self.values)(&hole.name)?;
        // A list with one element equals the element.
        let value = match (&hole.kind, value) {
            (HoleKind::Words | HoleKind::Each(_), _) => value,
            (_, Value::List(items)) if items.len() == 1 => &items[0],
            _ => value,
        };
        let text = match &hole.kind {
            HoleKind::Flag(word) | HoleKind::Mark(word) => {
                let is_true = *value.unwrap_sensitive() == Value::Bool(true);
                return is_true.then(|| Text::plain(word));
            }
            HoleKind::Words if !self.vocabulary.reads_each_word(&hole.name) => {
                let text = self.vocabulary.write(&hole.name, value)?;
                let mut words = text.split_whitespace();
                let ends_early = words.any(|word| self.literals.contains(&word.to_lowercase()));
                (!ends_early).then_some(text)?
            }
            kind @ (HoleKind::Words | HoleKind::Each(_)) => {
                let items = match value.unwrap_sensitive() {
                    Value::List(items) => items.as_slice(),
                    // An element of a list with one line per element.
                    one => std::slice::from_ref(one),
                };
                let word = |item| {
                    let word = self.vocabulary.write(&hole.name, item)?;
                    Some(match (kind, self.vocabulary.quoting()) {
                        (HoleKind::Each(mark), _) => format!("{mark} {word}"),
                        (_, Some(quoting)) => quoting.write(&word)?,
                        (_, None) => word,
                    })
                };
                let words: Option<Vec<String>> = items.iter().map(word).collect();
                words.filter(|words| !words.is_empty())?.join(" ")
            }
            HoleKind::Number => trailing_number(value.unwrap_sensitive().as_str()?)?.to_owned(),
            HoleKind::Address(kind) => {
                let text = self.vocabulary.write(&hole.name, value)?;
                kind.is(&text).then_some(text)?
            }
            HoleKind::Phrase(phrase) => {
                let text = self.vocabulary.write(&hole.name, value)?;
                let words: Vec<&str> = text.split_whitespace().collect();
                is_phrase(phrase, &words).then(|| words.join(" "))?
            }
            HoleKind::Quoted => {
                let text = self.vocabulary.write(&hole.name, value)?;
                self.vocabulary.quoting()?.write(&text)?
            }
            HoleKind::Numbers => {
                let text = self.vocabulary.write(&hole.name, value)?;
                text.replace(',', ", ")
            }
            HoleKind::Word | HoleKind::Rest => self.vocabulary.write(&hole.name, value)?,
        };
        let quotes_words =
            hole.kind == HoleKind::Words && self.vocabulary.reads_each_word(&hole.name);
        let is_quoted = hole.kind == HoleKind::Quoted || quotes_words;
        let quoting = self.vocabulary.quoting().filter(|_| !is_quoted);
        let is_special = quoting.is_some_and(|quoting| quoting.has_special(&text));
        if text.is_empty() || is_special && !hole.name.starts_with(CAPTURE_MARK) {
            return None;
        }
        let attribute = value_parts::attribute_of(&hole.name);
        // The number of a key beside the key.
        let is_number = attribute != &*hole.name && is_small_number(&text);
        let secret = matches!(value, Value::Sensitive(_))
            || (self.vocabulary.is_secret(attribute) && !is_number);
        Some(if secret {
            Text::secret(text)
        } else {
            Text::plain(text)
        })
    }
}

fn add(line: &mut Text, part: Text) {
    if !part.is_empty() {
        separate(line);
        line.append(part);
    }
}

fn separate(line: &mut Text) {
    if !line.is_empty() {
        line.push(" ");
    }
}
