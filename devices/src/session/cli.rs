//! A session with a command line, over any byte stream.
//!
//! Round trips dominate the run time, so commands are sent in batches:
//!
//! * Reads, and the setup commands before the first of them, are sent together.
//! * The lines of a configuration mode are sent together, after its prompt was received. Lines
//!   that may cause a question, and lines with a text, are sent alone.
//! * The session stays in configuration mode between resources. It enters another mode directly if
//!   the platform allows it. `end` is sent with the next read.
//!
//! **After a refusal** nothing more of the resource is sent. The device still executes lines of the
//! same batch; each is reported as it was answered. The mode after a refusal is unknown, so the
//! next resource begins with `end` and enters its mode again. A mode counts as entered only if the
//! device printed no unknown message, because modes of one kind have the same prompt.
//!
//! Begin reading at [`opening`], then [`reading`], [`writing`], [`mode_exit`] and [`config_mode`].

mod body;
mod candidate;
pub(super) mod config_lines;
mod config_mode;
mod messages;
mod mode_exit;
mod opening;
mod own_session;
mod protection;
mod reading;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test measures its duration")]
mod tests;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout_at;

use self::config_mode::ConfigMode;
use self::opening::PendingStep;
use self::own_session::Admission;
use super::error::{SessionError, SessionErrorKind};
use super::ledger::{LockWait, SessionLedger};
use super::terminal::{CLOSE_TIMEOUT, SessionConnection};
use super::transport::{AnsweredCommand, CliTransport};
use super::write_guard::WriteGuard;
use super::{
    Access, AnswersWithTimer, RevertAbsence, RevertLimit, RevertMethod, Session, Statistics,
    TimerState,
};
use crate::clock;
use crate::dialogue::candidate_rules::CandidateName;
use crate::dialogue::{CliRules, Command};
use crate::operation::{Operation, OperationResult, Outcome};
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
    /// Setup commands that are sent with the first read.
    pending: Vec<PendingStep>,
    /// A prompt with an echo confirmed the mode. The first prompt may be part of a banner.
    mode_confirmed: bool,
    /// The name of the current candidate.
    candidate_name: CandidateName,
    /// The commit that the device reverts unless it is confirmed.
    unconfirmed: Option<UnconfirmedCommit>,
    ledger: Arc<dyn SessionLedger>,
    lock_wait: LockWait,
    admission: Admission,
    /// The timer of a revert runs, which this session started.
    is_timer_started: bool,
    statistics: Statistics,
    /// Why the session ended.
    broken: Option<SessionErrorKind>,
    connection: SessionConnection,
}

/// A commit that the device reverts unless it is confirmed.
#[derive(Clone, Copy, Debug)]
struct UnconfirmedCommit {
    /// The commit left the configuration mode: the commands that end it are sent outside.
    left_config: bool,
}

impl CliSession {
    /// Sends commands that change nothing as one batch, and returns their answers.
    async fn send_all(
        &mut self,
        commands: Vec<Command>,
    ) -> Result<Vec<AnsweredCommand>, SessionErrorKind> {
        let permitted = commands
            .into_iter()
            .map(|command| self.guard.permit(command))
            .collect::<Result<Vec<_>, _>>()?;
        let batch = self.transport.send_batch(permitted, |_, _| true).await;
        match batch.failure {
            None => Ok(batch.answered),
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
                self.transport.send_last(line).await;
            }
        }
    }

    async fn save_now(&mut self) -> Result<String, SessionErrorKind> {
        self.admit().await?;
        self.send_reads(&[]).await?;
        let rules = Arc::clone(&self.rules);
        let mut answers = Vec::new();
        for step in &rules.save {
            let command = Command {
                line: Text::plain(&step.send),
                accept_questions: true,
                ..Command::default()
            };
            let answered = self.send_all(vec![command]).await?;
            for answered in &answered {
                self.check_step(&PendingStep::set_up(step.clone()), answered)?;
                answers.push(self.render_output(&answered.answer.output));
            }
        }
        Ok(answers.join("; "))
    }

    fn error(&self, kind: SessionErrorKind) -> SessionError {
        SessionError::new(self.device.clone(), kind)
    }
}

/// The results of operations that may not be sent: the first is refused.
fn refused_all(operations: &[Operation], message: &str) -> Vec<OperationResult> {
    let mut results: Vec<OperationResult> = operations
        .iter()
        .map(|_| OperationResult::not_sent())
        .collect();
    if let Some(first) = results.first_mut() {
        let message = message.to_owned();
        *first = OperationResult::new(Outcome::Refused { message }, Duration::ZERO);
    }
    results
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
        if self.broken.is_none()
            && self.access == Access::ReadWrite
            && !operations.is_empty()
            && let Err(kind) = self.admit().await
        {
            return refused_all(operations, &self.mask(&kind.to_string()));
        }
        let mut results = self.write(operations).await;
        self.end_candidate(&mut results).await;
        results
    }

    fn commits_together(&self) -> bool {
        let candidate = self.rules.candidate.as_ref();
        candidate.is_some_and(|rules| rules.spans_run)
    }

    fn awaits_confirmation(&self) -> bool {
        self.unconfirmed.is_some() && self.broken.is_none()
    }

    async fn confirm(&mut self, keep: bool) -> Result<(), SessionError> {
        let result = self.end_confirmed_commit(keep).await;
        result.map_err(|kind| self.error(kind))
    }

    fn revert_limit(&self, method: RevertMethod) -> Option<RevertLimit> {
        self.rules.protect.of(method).map(|rules| RevertLimit {
            timer: rules.limit,
            boot: rules
                .reload
                .as_ref()
                .map_or(Duration::ZERO, |reload| reload.boot),
        })
    }

    async fn missing_for_revert(
        &mut self,
        method: RevertMethod,
    ) -> Result<Option<RevertAbsence>, SessionError> {
        let result = self.read_timer_condition(method).await;
        result.map_err(|kind| self.error(kind))
    }

    async fn read_with_timer(
        &mut self,
        requests: &[ReadRequest],
        method: RevertMethod,
    ) -> Result<AnswersWithTimer, SessionError> {
        let result = self.read_timer(requests, method).await;
        result.map_err(|kind| self.error(kind))
    }

    async fn protect(&mut self, method: RevertMethod) -> Result<TimerState, SessionError> {
        let accepted = self.start_timer(method).await;
        let state = accepted.map_err(|kind| self.error(kind))?;
        Ok(state.map_err(|kind| self.error(kind)))
    }

    async fn end_protection(
        &mut self,
        method: RevertMethod,
        keep: bool,
    ) -> Result<TimerState, SessionError> {
        let accepted = self.end_timer(method, keep).await;
        let state = accepted.map_err(|kind| self.error(kind))?;
        Ok(state.map_err(|kind| self.error(kind)))
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
        if self.broken.is_none() && !self.transport.is_stopped() {
            let end = clock::instant() + CLOSE_TIMEOUT;
            match timeout_at(end, self.send_reads(&[])).await {
                // The connection is closed next in any case.
                Ok(Ok(_)) => {
                    // The device has left the configuration mode: nothing of this session is under way.
                    self.end_record().await;
                    drop(timeout_at(end, self.log_off()).await);
                }
                Ok(Err(error)) => notes.push(error.to_string()),
                Err(_) => notes.push(format!(
                    "cannot leave configuration mode: no prompt within {CLOSE_TIMEOUT:?}"
                )),
            }
        }
        self.connection.close().await;
        notes
    }

    fn notes(&self) -> Vec<String> {
        self.connection.notes()
    }

    fn host_key(&self) -> Option<String> {
        self.connection.host_key()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.connection.facts()
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            round_trips: self.transport.round_trips,
            ..self.statistics
        }
    }
}
