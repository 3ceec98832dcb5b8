//! What an answer means: taken, or refused and in which words.

use super::line::{Answer, Input};
use super::rules::{Class, Errors, Rules};
use crate::secret::{MASK, Piece, Text};

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub refused: Option<Refusal>,
    /// What else the device said, warnings included.
    pub said: Vec<String>,
    /// Some of it is nothing that the rules know.
    pub surprising: bool,
}

/// Why a line did not take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The device's words; the class is never `Ignore` or `Warning`.
    Error { class: Class, words: String },
    /// It asked something that is not to be agreed to.
    Question(String),
    /// It did not ask for the text that belongs to the line.
    NoText,
}

impl Verdict {
    /// Judges the answer to a configuration line or to a step: every line of output counts.
    pub fn of(rules: &Rules, input: &Input, answer: &Answer) -> Verdict {
        let mut said = Vec::new();
        let mut error: Option<(Class, String)> = None;
        let mut mark = None;
        let mut surprising = false;
        for line in &answer.output {
            if line.trim().is_empty() {
                continue;
            }
            if let Some(column) = caret(line) {
                mark = Some(column);
                continue;
            }
            match rules.classify(line) {
                Some(Class::Ignore) => continue,
                Some(Class::Warning) => {}
                None => surprising = true,
                Some(class) => error = error.or_else(|| Some((class, line.trim().to_owned()))),
            }
            said.push(line.trim().to_owned());
        }
        let question = declined(answer).or_else(|| overrun(rules, answer));
        let refused = if let Some(question) = question {
            Some(Refusal::Question(question))
        } else if let Some((class, line)) = error {
            // What comes with a failed login may hold secrets of others.
            let mut words = match class {
                Class::Fatal => line,
                _ => said.join("\n"),
            };
            if let Some(word) = mark.and_then(|column| word_at(input, answer, column)) {
                words.push_str(&format!(" (at `{word}`)"));
            }
            said.clear();
            Some(Refusal::Error { class, words })
        } else if answer.body_taken {
            None
        } else {
            Some(Refusal::NoText)
        };
        Verdict {
            refused,
            said,
            surprising,
        }
    }

    /// Judges the answer to a read. What is read may hold anything, so only an error in place of
    /// the whole answer counts.
    pub fn of_read(rules: &Rules, answer: &Answer) -> Option<Refusal> {
        if let Some(question) = declined(answer) {
            return Some(Refusal::Question(question));
        }
        let first = answer
            .output
            .iter()
            .find(|line| !line.trim().is_empty() && caret(line).is_none())?;
        match rules.classify(first) {
            None | Some(Class::Ignore | Class::Warning) => None,
            Some(class) => Some(Refusal::Error {
                class,
                words: first.trim().to_owned(),
            }),
        }
    }
}

impl Rules {
    /// The class of a line of output.
    pub fn classify(&self, line: &str) -> Option<Class> {
        let line = line.trim_end();
        let Errors { patterns, classes } = &self.errors;
        patterns.first_match(line).map(|place| classes[place])
    }
}

/// A question that was declined.
fn declined(answer: &Answer) -> Option<String> {
    let asked = answer.questions.iter().find(|question| !question.agreed);
    asked.map(|question| question.text.clone())
}

/// A question that took what was typed ahead for its answer.
fn overrun(rules: &Rules, answer: &Answer) -> Option<String> {
    let asked = answer.output.iter().find(|line| {
        let anywhere = rules.confirms.iter().filter(|confirm| confirm.anywhere);
        let mut questions = anywhere.flat_map(|confirm| &confirm.question);
        questions.any(|question| question.is_match(line))
    });
    asked.map(|line| line.trim().to_owned())
}

/// The column of an error mark: a line of blanks and one `^`.
fn caret(line: &str) -> Option<usize> {
    (line.trim() == "^").then(|| line.find('^').unwrap_or(0))
}

/// The word of the sent line that stands above an error mark. Never a secret one.
fn word_at(input: &Input, answer: &Answer, column: usize) -> Option<String> {
    let offset = column.checked_sub(answer.prompt_width)?;
    let shown = masked_in_place(&input.line);
    let rest = shown.get(offset..).filter(|rest| !rest.is_empty())?;
    let start = shown[..offset].rfind(' ').map_or(0, |blank| blank + 1);
    let end = rest.find(' ').map_or(shown.len(), |blank| offset + blank);
    let word = &shown[start..end];
    if word.contains('\0') {
        return Some(MASK.to_owned());
    }
    (!word.is_empty()).then(|| word.to_owned())
}

/// The line with its secrets blotted out but with every other word in its column.
fn masked_in_place(line: &Text) -> String {
    line.pieces()
        .iter()
        .map(|piece| match piece {
            Piece::Plain(text) => text.clone(),
            Piece::Secret(text) => "\0".repeat(text.len()),
        })
        .collect()
}
