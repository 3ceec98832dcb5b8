//! The transcript and the notes of a session, with secrets masked.

use super::{HttpAnswer, RestClient};
use crate::session::error::SessionErrorKind;
use crate::session::mask::Mask;
use crate::session::transcript::Transcript;

/// Transcript and notes of the session.
pub(super) struct SessionLog {
    pub(super) mask: Mask,
    pub(super) transcript: Transcript,
    pub(super) notes: Vec<String>,
}

impl RestClient {
    /// A text with secrets masked.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.log().mask.apply(text)
    }

    pub(super) fn log(&self) -> std::sync::MutexGuard<'_, SessionLog> {
        self.log.lock().expect("never held over a panic")
    }

    pub(super) fn log_sent(&self, command: &str) {
        let mut record = self.log();
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        transcript.sent(command, mask);
    }

    pub(super) fn log_received(&self, answer: &Result<HttpAnswer, SessionErrorKind>) {
        let mut record = self.log();
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        match answer {
            Ok(answer) => {
                let text = format!("{} {}\n", answer.status, answer.body);
                transcript.received(text.as_bytes(), mask);
            }
            Err(kind) => transcript.note(&kind.to_string(), mask),
        }
    }

    pub(super) fn log_note(&self, kind: &SessionErrorKind) {
        let mut record = self.log();
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        transcript.note(&kind.to_string(), mask);
    }
}
