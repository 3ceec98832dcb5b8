//! Classifies answers: accepted, or refused with a message.

use super::cli_rules::{CliRules, ErrorRules, MessageClass};
use super::command::{Answer, Command};
use crate::secret::{MASK, Text, TextPiece};

/// The meaning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Classification {
    /// Why the command was refused; `None`: it was accepted.
    pub(crate) refusal: Option<Refusal>,
    /// Other messages of the device, including warnings.
    pub(crate) messages: Vec<String>,
    /// Some messages match no rule.
    pub(crate) has_unknown_messages: bool,
    /// Some messages may be complaints: whether the command was applied is not known.
    pub(crate) is_unclear: bool,
}

/// Why a command had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// An error message. The class is never `Ignore` or `Warning`, and `Unclear` only for reads.
    Error {
        class: MessageClass,
        message: String,
    },
    /// A question that was declined.
    Question(String),
    /// The device did not request the text of the command.
    TextNotRequested,
}

impl Classification {
    /// Classifies the answer to a configuration line or a step: every line of output counts.
    pub(crate) fn new(rules: &CliRules, command: &Command, answer: &Answer) -> Classification {
        let mut messages = Vec::new();
        let mut error: Option<(MessageClass, String)> = None;
        let mut mark = None;
        let mut surprising = false;
        let mut unclear = answer.is_consumed;
        if answer.is_consumed {
            messages.push("a question may have consumed the line as its answer".to_owned());
        }
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
                Some(MessageClass::Unclear) => (surprising, unclear) = (true, true),
                Some(class) => error = error.or_else(|| Some((class, line.trim().to_owned()))),
            }
            messages.push(line.trim().to_owned());
        }
        let question = declined_question(answer).or_else(|| overrun_question(rules, answer));
        let refused = if let Some(question) = question {
            Some(Refusal::Question(question))
        } else if let Some((class, line)) = error {
            // Other output of a failed login may contain secrets.
            let mut message = match class {
                MessageClass::Fatal => line,
                _ => messages.join("\n"),
            };
            if let Some(word) = mark.and_then(|column| word_at(command, answer, column)) {
                message.push_str(&format!(" (at `{word}`)"));
            }
            messages.clear();
            Some(Refusal::Error { class, message })
        } else if answer.body_accepted {
            None
        } else {
            Some(Refusal::TextNotRequested)
        };
        Classification {
            refusal: refused,
            messages,
            has_unknown_messages: surprising,
            is_unclear: unclear,
        }
    }

    /// The refusal of a read. Output may contain any text, so only an error in its first line
    /// counts.
    pub(crate) fn read_refusal(rules: &CliRules, answer: &Answer) -> Option<Refusal> {
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
    pub(crate) fn message_class(&self, line: &str) -> Option<MessageClass> {
        let line = line.trim_end();
        let ErrorRules { patterns, classes } = &self.errors;
        patterns.first_match(line).map(|index| classes[index])
    }
}

/// A question that was declined.
fn declined_question(answer: &Answer) -> Option<String> {
    let question = answer.questions.iter().find(|question| !question.accepted);
    question.map(|question| question.text.clone())
}

/// A question that consumed the next command as its answer.
pub(super) fn overrun_question(rules: &CliRules, answer: &Answer) -> Option<String> {
    let question = answer.output.iter().find(|line| {
        let anywhere = rules.confirms.iter().filter(|confirm| confirm.anywhere);
        let mut questions = anywhere.flat_map(|confirm| &confirm.question);
        questions.any(|question| question.is_match(line))
    });
    question.map(|line| line.trim().to_owned())
}

/// The column of an error mark: a line with only `^`.
fn error_mark_column(line: &str) -> Option<usize> {
    (line.trim() == "^").then(|| line.find('^').unwrap_or(0))
}

/// The word of the command above an error mark, masked if secret.
fn word_at(command: &Command, answer: &Answer, column: usize) -> Option<String> {
    let offset = column.checked_sub(answer.prompt_width)?;
    let masked = mask_by_columns(&command.line);
    let rest = masked.get(offset..).filter(|rest| !rest.is_empty())?;
    let start = masked[..offset].rfind(' ').map_or(0, |blank| blank + 1);
    let end = rest.find(' ').map_or(masked.len(), |blank| offset + blank);
    let word = &masked[start..end];
    if word.contains('\0') {
        return Some(MASK.to_owned());
    }
    (!word.is_empty()).then(|| word.to_owned())
}

/// The line with its secrets replaced by NUL bytes, so that columns stay the same.
fn mask_by_columns(line: &Text) -> String {
    line.pieces()
        .iter()
        .map(|piece| match piece {
            TextPiece::Plain(text) => text.clone(),
            TextPiece::Secret(text) => "\0".repeat(text.len()),
        })
        .collect()
}
