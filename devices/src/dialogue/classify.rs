//! What an answer means: taken, or refused and in which words.

use super::cli_rules::{CliRules, ErrorRules, MessageClass};
use super::command::{Answer, Command};
use crate::secret::{MASK, Text, TextPiece};

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    pub refusal: Option<Refusal>,
    /// What else the device said, warnings included.
    pub messages: Vec<String>,
    /// Some of it is nothing that the rules know.
    pub has_unknown_messages: bool,
}

/// Why a line did not take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The device's words; the class is never `Ignore` or `Warning`.
    Error {
        class: MessageClass,
        message: String,
    },
    /// It asked something that is not to be agreed to.
    Question(String),
    /// It did not ask for the text that belongs to the line.
    TextNotRequested,
}

impl Classification {
    /// Judges the answer to a configuration line or to a step: every line of output counts.
    pub fn new(rules: &CliRules, input: &Command, answer: &Answer) -> Classification {
        let mut said = Vec::new();
        let mut error: Option<(MessageClass, String)> = None;
        let mut mark = None;
        let mut surprising = false;
        for line in &answer.output {
            if line.trim().is_empty() {
                continue;
            }
            if let Some(column) = error_mark_column(line) {
                mark = Some(column);
                continue;
            }
            match rules.message_class(line) {
                Some(MessageClass::Ignore) => continue,
                Some(MessageClass::Warning) => {}
                None => surprising = true,
                Some(class) => error = error.or_else(|| Some((class, line.trim().to_owned()))),
            }
            said.push(line.trim().to_owned());
        }
        let question = declined_question(answer).or_else(|| overrun_question(rules, answer));
        let refused = if let Some(question) = question {
            Some(Refusal::Question(question))
        } else if let Some((class, line)) = error {
            // What comes with a failed login may hold secrets of others.
            let mut words = match class {
                MessageClass::Fatal => line,
                _ => said.join("\n"),
            };
            if let Some(word) = mark.and_then(|column| word_at(input, answer, column)) {
                words.push_str(&format!(" (at `{word}`)"));
            }
            said.clear();
            Some(Refusal::Error {
                class,
                message: words,
            })
        } else if answer.body_accepted {
            None
        } else {
            Some(Refusal::TextNotRequested)
        };
        Classification {
            refusal: refused,
            messages: said,
            has_unknown_messages: surprising,
        }
    }

    /// Judges the answer to a read. What is read may hold anything, so only an error in place of
    /// the whole answer counts.
    pub fn read_refusal(rules: &CliRules, answer: &Answer) -> Option<Refusal> {
        if let Some(question) = declined_question(answer) {
            return Some(Refusal::Question(question));
        }
        let first = answer
            .output
            .iter()
            .find(|line| !line.trim().is_empty() && error_mark_column(line).is_none())?;
        match rules.message_class(first) {
            None | Some(MessageClass::Ignore | MessageClass::Warning) => None,
            Some(class) => Some(Refusal::Error {
                class,
                message: first.trim().to_owned(),
            }),
        }
    }
}

impl CliRules {
    /// The class of a line of output.
    pub fn message_class(&self, line: &str) -> Option<MessageClass> {
        let line = line.trim_end();
        let ErrorRules { patterns, classes } = &self.errors;
        patterns.first_match(line).map(|place| classes[place])
    }
}

/// A question that was declined.
fn declined_question(answer: &Answer) -> Option<String> {
    let asked = answer.questions.iter().find(|question| !question.accepted);
    asked.map(|question| question.text.clone())
}

/// A question that took what was typed ahead for its answer.
fn overrun_question(rules: &CliRules, answer: &Answer) -> Option<String> {
    let asked = answer.output.iter().find(|line| {
        let anywhere = rules.confirms.iter().filter(|confirm| confirm.anywhere);
        let mut questions = anywhere.flat_map(|confirm| &confirm.question);
        questions.any(|question| question.is_match(line))
    });
    asked.map(|line| line.trim().to_owned())
}

/// The column of an error mark: a line of blanks and one `^`.
fn error_mark_column(line: &str) -> Option<usize> {
    (line.trim() == "^").then(|| line.find('^').unwrap_or(0))
}

/// The word of the sent line that stands above an error mark. Never a secret one.
fn word_at(input: &Command, answer: &Answer, column: usize) -> Option<String> {
    let offset = column.checked_sub(answer.prompt_width)?;
    let shown = mask_in_place(&input.line);
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
fn mask_in_place(line: &Text) -> String {
    line.pieces()
        .iter()
        .map(|piece| match piece {
            TextPiece::Plain(text) => text.clone(),
            TextPiece::Secret(text) => "\0".repeat(text.len()),
        })
        .collect()
}
