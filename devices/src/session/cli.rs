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

mod opening;
mod place;
mod reading;
#[cfg(test)]
mod tests;
mod words;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::opening::Pending;
use self::place::Place;
use super::error::{SessionError, SessionErrorKind};
use super::guard::Guard;
use super::ssh::Connection;
use super::wire::{Answered, EndReason, Stream, Wire};
use super::{Access, Session, Statistics};
use crate::dialogue::{Input, Rules};
use crate::operation::{Operation, OperationResult};
use crate::read::ReadRequest;
use crate::secret::Text;

/// A logged-in command line.
pub(super) struct CliSession {
    device: String,
    rules: Arc<Rules>,
    guard: Guard,
    wire: Wire,
    place: Place,
    access: Access,
    enable_password: Option<Text>,
    /// Set-up lines that go out with the first read.
    pending: Vec<Pending>,
    /// A prompt behind an echo has confirmed the mode; the first one may have been part of a
    /// banner.
    confirmed: bool,
    statistics: Statistics,
    /// The session is over.
    broken: Option<SessionErrorKind>,
    connection: Option<Connection>,
}

/// How long the other side may take to hang up.
const FAREWELL: Duration = Duration::from_secs(3);

/// A byte stream to a device and what is known about its end.
pub(super) struct Terminal {
    pub stream: Box<dyn Stream>,
    pub end: EndReason,
    /// What the stream runs over, to be ended in order.
    pub connection: Option<Connection>,
}

impl CliSession {
    /// Writes harmless lines together and returns their answers, all of them.
    async fn converse(&mut self, inputs: Vec<Input>) -> Result<Vec<Answered>, SessionErrorKind> {
        let permitted = inputs
            .into_iter()
            .map(|input| self.guard.permit(input))
            .collect::<Result<Vec<_>, _>>()?;
        let burst = self.wire.burst(permitted, |_, _| true).await;
        match burst.failure {
            None => Ok(burst.answered),
            Some(failure) => {
                self.note_end(&failure);
                Err(failure)
            }
        }
    }

    fn note_end(&mut self, failure: &SessionErrorKind) {
        let Wire {
            transcript, mask, ..
        } = &mut self.wire;
        transcript.note(&failure.to_string(), mask);
        self.broken = Some(failure.clone());
    }

    async fn log_off(&mut self) {
        for step in &self.rules.close {
            if let Ok(line) = self.guard.permit(Input::line(step.send.as_str())) {
                self.wire.farewell(line, FAREWELL).await;
            }
        }
    }

    async fn save_now(&mut self) -> Result<String, SessionErrorKind> {
        self.send_reads(&[]).await?;
        let rules = Arc::clone(&self.rules);
        let mut said = Vec::new();
        for step in &rules.save {
            let input = Input {
                line: Text::plain(&step.send),
                agree: true,
                ..Input::default()
            };
            let answered = self.converse(vec![input]).await?;
            for answered in &answered {
                self.check_step(&Pending::set_up(step.clone()), answered)?;
                said.push(self.words(&answered.answer.output));
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
            connection.close(FAREWELL).await;
        }
        notes
    }

    fn notes(&self) -> Vec<String> {
        let connection = self.connection.as_ref();
        connection.map_or_else(Vec::new, Connection::notes)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.connection
            .as_ref()
            .map_or_else(Vec::new, Connection::facts)
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            round_trips: self.wire.round_trips,
            ..self.statistics
        }
    }
}
