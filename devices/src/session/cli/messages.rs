//! Messages of the device in errors and results, with secrets masked.

use super::CliSession;
use crate::dialogue::{Command, Refusal};
use crate::session::error::SessionErrorKind;

impl CliSession {
    pub(super) fn refusal_error(&self, sent: &Command, refusal: Refusal) -> SessionErrorKind {
        let command = self.transport.mask.apply(&sent.line.to_string());
        match refusal {
            Refusal::Question(question) => SessionErrorKind::UnexpectedQuestion {
                command,
                question: self.mask(&question),
            },
            other => SessionErrorKind::CommandRefused {
                command,
                output: self.render_refusal(other),
            },
        }
    }

    pub(super) fn render_refusal(&self, refusal: Refusal) -> String {
        match refusal {
            Refusal::Error { message, .. } => self.mask(&message),
            Refusal::Question(question) => format!(
                "unexpected question, which was declined: {}",
                self.mask(&question)
            ),
            Refusal::TextNotRequested => "the device did not start the entry of a text".to_owned(),
        }
    }

    pub(super) fn mask(&self, text: &str) -> String {
        self.transport.mask.apply(text)
    }

    pub(super) fn mask_lines(&self, lines: Vec<String>) -> Vec<String> {
        lines.iter().map(|line| self.mask(line)).collect()
    }

    /// Output as one line, masked.
    pub(super) fn render_output(&self, output: &[String]) -> String {
        let lines: Vec<_> = output
            .iter()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty())
            .collect();
        self.mask(&lines.join("; "))
    }
}
