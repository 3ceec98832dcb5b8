//! A session with a command line, over any byte stream.
//!
//! Round trips are what a device costs, so lines are written together where that is exact:
//!
//! * Reads, and the set-up lines before the first of them, go out together.
//! * A configuration mode's lines go out together, but only after the mode's prompt was seen.
//!   Lines that may ask a question, and lines with a text, go alone.
//! * The session stays in configuration between resources and enters a mode beside the one it is in
//!   directly, where the platform allows that; `end` goes out with the next read.
//!
//! **After a refusal** nothing more of the resource is sent. Lines that were already on their way
//! with the refused one are executed by the device; each is told as it was answered, never as
//! "not sent". Where the device is after a refusal is not relied on: the next resource begins with
//! `end` and enters its mode anew. A mode counts as entered only when the device said nothing that
//! the platform does not know, for neighbours of one kind have the same prompt.
//!
//! Begin at [`opening`]; then [`reading`], and [`writing`] with [`place`], where a session stands.

mod config_mode;
mod messages;
mod opening;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::config_mode::ConfigMode;
use self::opening::PendingStep;
use super::error::{SessionError, SessionErrorKind};
use super::ssh::SshConnection;
use super::transport::{AnsweredCommand, CliTransport, CloseReason, Stream};
use super::write_guard::WriteGuard;
use super::{Access, Session, Statistics};
use crate::dialogue::{CliRules, Command};
use crate::operation::{Operation, OperationResult};
use crate::read::ReadRequest;
use crate::secret::Text;

/// A logged-in command line.
pub(super) struct CliSession {
    device: String,
    rules: Arc<CliRules>,
    guard: WriteGuard,
    transport: CliTransport,
    mode: ConfigMode,
    access: Access,
    enable_password: Option<Text>,
    /// Set-up lines that go out with the first read.
    pending: Vec<PendingStep>,
    /// A prompt behind an echo has confirmed the mode; the first one may have been part of a
    /// banner.
    mode_confirmed: bool,
    statistics: Statistics,
    /// The session is over.
    broken: Option<SessionErrorKind>,
    connection: Option<SshConnection>,
}

/// How long the other side may take to hang up.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// A byte stream to a device and what is known about its end.
pub(super) struct Terminal {
    pub stream: Box<dyn Stream>,
    pub close_reason: CloseReason,
    /// What the stream runs over, to be ended in order.
    pub connection: Option<SshConnection>,
}

impl CliSession {
    /// Writes harmless lines together and returns their answers, all of them.
    async fn send_all(
        &mut self,
        inputs: Vec<Command>,
    ) -> Result<Vec<AnsweredCommand>, SessionErrorKind> {
        let permitted = inputs
            .into_iter()
            .map(|input| self.guard.permit(input))
            .collect::<Result<Vec<_>, _>>()?;
        let burst = self.transport.send_batch(permitted, |_, _| true).await;
        match burst.failure {
            None => Ok(burst.answered),
            Some(failure) => {
                self.mark_broken(&failure);
                Err(failure)
            }
        }
    }

    fn mark_broken(&mut self, failure: &SessionErrorKind) {
        let CliTransport {
            transcript, mask, ..
        } = &mut self.transport;
        transcript.note(&failure.to_string(), mask);
        self.broken = Some(failure.clone());
    }

    async fn log_off(&mut self) {
        for step in &self.rules.close {
            if let Ok(line) = self.guard.permit(Command::line(step.send.as_str())) {
                self.transport.send_last(line, CLOSE_TIMEOUT).await;
            }
        }
    }

    async fn save_now(&mut self) -> Result<String, SessionErrorKind> {
        self.send_reads(&[]).await?;
        let rules = Arc::clone(&self.rules);
        let mut said = Vec::new();
        for step in &rules.save {
            let input = Command {
                line: Text::plain(&step.send),
                accept_questions: true,
                ..Command::default()
            };
            let answered = self.send_all(vec![input]).await?;
            for answered in &answered {
                self.check_step(&PendingStep::set_up(step.clone()), answered)?;
                said.push(self.render_output(&answered.answer.output));
            }
        }
        Ok(said.join("; "))
    }

    fn error(&self, kind: SessionErrorKind) -> SessionError {
        SessionError::new(self.device.clone(), kind)
    }
}

#[async_trait]
impl Session for CliSession {
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError> {
        if let Some(broken) = &self.broken {
            return Err(self.error(broken.clone()));
        }
        let result = self.send_reads(requests).await;
        result.map_err(|kind| self.error(kind))
    }

    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        self.write(operations).await
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        if let Some(broken) = &self.broken {
            return Err(self.error(broken.clone()));
        }
        let result = self.save_now().await;
        result.map_err(|kind| self.error(kind))
    }

    async fn close(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        self.pending.clear();
        if self.broken.is_none() {
            match self.send_reads(&[]).await {
                Ok(_) => self.log_off().await,
                Err(error) => notes.push(error.to_string()),
            }
        }
        if let Some(connection) = self.connection.take() {
            connection.close(CLOSE_TIMEOUT).await;
        }
        notes
    }

    fn notes(&self) -> Vec<String> {
        let connection = self.connection.as_ref();
        connection.map_or_else(Vec::new, SshConnection::notes)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.connection
            .as_ref()
            .map_or_else(Vec::new, SshConnection::facts)
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            round_trips: self.transport.round_trips,
            ..self.statistics
        }
    }
}
