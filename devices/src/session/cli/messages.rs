//! What a device said, in words for people, with secrets masked.

use super::CliSession;
use crate::dialogue::{Command, Refusal};
use crate::session::error::SessionErrorKind;

impl CliSession {
    pub(super) fn refusal_error(&self, input: &Command, refusal: Refusal) -> SessionErrorKind {
        let command = self.transport.mask.apply(&input.line.to_string());
        match refusal {
            Refusal::Question(question) => SessionErrorKind::UnexpectedQuestion {
                command,
                question: self.mask(&question),
            },
            other => SessionErrorKind::CommandRefused {
                command,
                said: self.render_refusal(other),
            },
        }
    }

    pub(super) fn render_refusal(&self, refusal: Refusal) -> String {
        match refusal {
            Refusal::Error { message: words, .. } => self.mask(&words),
            Refusal::Question(question) => format!(
                "it asked a question that nobody expected, which was declined: {}",
                self.mask(&question)
            ),
            Refusal::TextNotRequested => {
                "it did not ask for the text that belongs to the line".to_owned()
            }
        }
    }

    pub(super) fn mask(&self, text: &str) -> String {
        self.transport.mask.apply(text)
    }

    pub(super) fn mask_lines(&self, lines: Vec<String>) -> Vec<String> {
        lines.iter().map(|line| self.mask(line)).collect()
    }

    /// Output in one line, for a message.
    pub(super) fn render_output(&self, output: &[String]) -> String {
        let lines: Vec<_> = output
            .iter()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty())
            .collect();
        self.mask(&lines.join("; "))
    }
}
