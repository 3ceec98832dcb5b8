//! What a device said, in words for people, with secrets masked.

use super::CliSession;
use crate::dialogue::{Input, Refusal};
use crate::session::error::SessionErrorKind;

impl CliSession {
    pub(super) fn refused(&self, input: &Input, refusal: Refusal) -> SessionErrorKind {
        let command = self.wire.mask.apply(&input.line.to_string());
        match refusal {
            Refusal::Question(question) => SessionErrorKind::Question {
                command,
                question: self.mask_line(&question),
            },
            other => SessionErrorKind::Refused {
                command,
                said: self.refusal_words(other),
            },
        }
    }

    pub(super) fn refusal_words(&self, refusal: Refusal) -> String {
        match refusal {
            Refusal::Error { words, .. } => self.mask_line(&words),
            Refusal::Question(question) => format!(
                "it asked a question that nobody expected, which was declined: {}",
                self.mask_line(&question)
            ),
            Refusal::NoText => "it did not ask for the text that belongs to the line".to_owned(),
        }
    }

    pub(super) fn mask_line(&self, text: &str) -> String {
        self.wire.mask.apply(text)
    }

    pub(super) fn masked(&self, lines: Vec<String>) -> Vec<String> {
        lines.iter().map(|line| self.mask_line(line)).collect()
    }

    /// Output in one line, for a message.
    pub(super) fn words(&self, output: &[String]) -> String {
        let lines: Vec<_> = output
            .iter()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty())
            .collect();
        self.mask_line(&lines.join("; "))
    }
}
