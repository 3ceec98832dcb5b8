//! The protection of a run: the device reverts all changes unless they are confirmed.

use std::sync::Arc;

use super::CliSession;
use super::candidate::CandidateAnswer;
use crate::dialogue::Command;
use crate::dialogue::protect_rules::ProtectRules;
use crate::read::ReadRequest;
use crate::secret::Text;
use crate::session::error::SessionErrorKind;
use crate::session::transport::AnsweredCommand;
use crate::session::{AnswersWithTimer, RevertAbsence, RevertMethod};

/// Whether a timer runs, if this could be read.
type TimerRead = Result<Option<bool>, SessionErrorKind>;

impl CliSession {
    /// What the device lacks for a timer, in its own words.
    pub(super) async fn read_timer_condition(
        &mut self,
        method: RevertMethod,
    ) -> Result<Option<RevertAbsence>, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = rules.protect.of(method) else {
            return Ok(Some(method.absence()));
        };
        let Some(condition) = &protect.condition else {
            return Ok(None);
        };
        let command = &condition.send;
        let (_, text) = self.send_reads_and(&[], Some(command)).await?;
        let line = text.lines().find(|line| condition.missing.is_match(line));
        Ok(line.map(|line| RevertAbsence {
            reason: format!(
                "the device answered `{command}`: {}",
                self.mask(line.trim())
            ),
            hint: condition.hint.clone(),
        }))
    }

    /// Starts the timer, or starts its time again. Returns whether it runs.
    pub(super) async fn start_timer(
        &mut self,
        method: RevertMethod,
    ) -> Result<TimerRead, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = rules.protect.of(method) else {
            return Ok(Ok(None));
        };
        self.admit().await?;
        match (self.is_timer_started, &protect.extend) {
            (false, _) => self.begin_timer(protect).await?,
            (true, Some(line)) => {
                // The changes of the run are not saved, and stay so.
                let reload = protect.reload.as_ref();
                let answer = reload.and_then(|reload| reload.unsaved.clone());
                let command = Command {
                    answer,
                    ..timer_command(protect, line)
                };
                self.send_in_read_mode(command).await?;
            }
            (true, None) => {}
        }
        self.is_timer_started = true;
        let state = self.read_timer(&[], method).await;
        Ok(state.map(|(_, is_running)| is_running))
    }

    /// Starts the timer. A reload that would not restore the running configuration is not scheduled: the
    /// question whether to save it is declined, and so is the next one.
    async fn begin_timer(&mut self, protect: &ProtectRules) -> Result<(), SessionErrorKind> {
        let begin = &protect.confirm.commit;
        let answered = self.send_answered(timer_command(protect, begin)).await?;
        let reload = protect.reload.as_ref();
        let unsaved = reload.and_then(|reload| reload.unsaved.as_ref());
        let mut questions = answered.answer.questions.iter();
        let is_unsaved = unsaved.is_some_and(|unsaved| {
            questions.any(|question| unsaved.question.is_match(&question.text))
        });
        match self.follow_accepted(&answered) {
            Err(_) if is_unsaved => Err(SessionErrorKind::UnsavedConfiguration {
                command: begin.clone(),
            }),
            result => result,
        }
    }

    /// Confirms the changes, or reverts them at once. Returns whether the timer runs.
    pub(super) async fn end_timer(
        &mut self,
        method: RevertMethod,
        keep: bool,
    ) -> Result<TimerRead, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = rules.protect.of(method) else {
            return Ok(Ok(None));
        };
        self.admit().await?;
        self.is_timer_started = false;
        if keep && protect.reload.is_none() {
            return self.confirm_timer(protect).await;
        }
        // The message about the end of a reload would interrupt a second command.
        for line in protect.confirm.end(keep) {
            self.send_in_read_mode(Command::line(line.as_str())).await?;
        }
        let state = self.read_timer(&[], method).await;
        Ok(state.map(|(_, is_running)| is_running))
    }

    /// Confirms the changes and reads the state in one round trip.
    async fn confirm_timer(
        &mut self,
        protect: &ProtectRules,
    ) -> Result<TimerRead, SessionErrorKind> {
        self.send_reads(&[]).await?;
        let keep = &protect.confirm.keep;
        let mut commands = Vec::new();
        for line in [keep, &protect.state] {
            commands.push(self.guard.permit(Command::line(line.as_str()))?);
        }
        let batch = self.transport.send_batch(commands, |_, _| true).await;
        if let Some(failure) = &batch.failure {
            self.mark_broken(failure);
        }
        let mut answered = batch.answered.into_iter();
        match (answered.next(), batch.failure.clone()) {
            (None, Some(failure)) => return Err(failure),
            (None, None) => {}
            (Some(first), _) => {
                if let CandidateAnswer::Refused(output) = self.follow_mode(&first) {
                    let command = keep.clone();
                    return Err(SessionErrorKind::CommandRefused { command, output });
                }
            }
        }
        Ok(match (answered.next(), batch.failure) {
            (Some(state), _) => self.is_running(protect, &state.answer.output.join("\n")),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(None),
        })
    }

    /// Sends the reads, and reads whether the timer runs.
    pub(super) async fn read_timer(
        &mut self,
        requests: &[ReadRequest],
        method: RevertMethod,
    ) -> Result<AnswersWithTimer, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = rules.protect.of(method) else {
            return Ok((self.send_reads(requests).await?, None));
        };
        let (texts, state) = self.send_reads_and(requests, Some(&protect.state)).await?;
        let is_running = self.is_running(protect, &state)?;
        Ok((texts, is_running))
    }

    /// Whether the timer runs, by the output of the command `state`.
    fn is_running(&self, protect: &ProtectRules, output: &str) -> TimerRead {
        let is_pending = protect.pending.is_match(output);
        let is_none = protect.none.is_match(output);
        if is_pending != is_none {
            Ok(Some(is_pending))
        } else {
            Err(SessionErrorKind::UnexpectedAnswer {
                command: protect.state.clone(),
                reason: "it matches neither `pending` nor `none` of the platform".to_owned(),
                output: self.mask(output),
            })
        }
    }

    async fn send_in_read_mode(&mut self, command: Command) -> Result<(), SessionErrorKind> {
        let answered = self.send_answered(command).await?;
        self.follow_accepted(&answered)
    }

    /// Sends a command in the mode for reads.
    async fn send_answered(
        &mut self,
        command: Command,
    ) -> Result<AnsweredCommand, SessionErrorKind> {
        self.send_reads(&[]).await?;
        let mut answered = self.send_all(vec![command]).await?;
        Ok(answered.pop().expect("a complete batch has all answers"))
    }

    fn follow_accepted(&mut self, answered: &AnsweredCommand) -> Result<(), SessionErrorKind> {
        match self.follow_mode(answered) {
            CandidateAnswer::Accepted(_) => Ok(()),
            CandidateAnswer::Refused(output) => Err(SessionErrorKind::CommandRefused {
                command: self.mask(&answered.command.line.to_string()),
                output,
            }),
        }
    }
}

/// A command that starts a timer. Only a reload is confirmed.
fn timer_command(protect: &ProtectRules, line: &str) -> Command {
    Command {
        line: Text::plain(line),
        accept_questions: protect.reload.is_some(),
        ..Command::default()
    }
}
