//! A timed revert of all changes of a run.

use std::sync::Arc;

use super::CliSession;
use super::candidate::CandidateAnswer;
use crate::dialogue::Command;
use crate::dialogue::protect_rules::ProtectRules;
use crate::read::ReadRequest;
use crate::session::error::SessionErrorKind;

/// Whether a timer runs, if this could be read.
type TimerRead = Result<Option<bool>, SessionErrorKind>;

impl CliSession {
    /// What the device lacks for a timer, in its own words.
    pub(super) async fn read_timer_condition(
        &mut self,
    ) -> Result<Option<String>, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = &rules.protect else {
            return Ok(Some("the device has no timed revert".to_owned()));
        };
        let Some((command, missing)) = &protect.condition else {
            return Ok(None);
        };
        let (_, text) = self.send_reads_and(&[], Some(command)).await?;
        let line = text.lines().find(|line| missing.is_match(line));
        Ok(line.map(|line| {
            format!(
                "the device answered `{command}`: {}",
                self.mask(line.trim())
            )
        }))
    }

    /// Starts the timer, or starts its time again. Returns whether it runs.
    pub(super) async fn start_timer(&mut self) -> Result<TimerRead, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = &rules.protect else {
            return Ok(Ok(None));
        };
        let line = match self.is_timer_started {
            false => Some(&protect.confirm.commit),
            true => protect.extend.as_ref(),
        };
        if let Some(line) = line {
            self.send_in_read_mode(line).await?;
            self.is_timer_started = true;
        }
        let state = self.read_timer(&[]).await;
        Ok(state.map(|(_, is_running)| is_running))
    }

    /// Confirms the changes, or reverts them at once. Returns whether the timer runs.
    pub(super) async fn end_timer(&mut self, keep: bool) -> Result<TimerRead, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = &rules.protect else {
            return Ok(Ok(None));
        };
        self.is_timer_started = false;
        if keep {
            return self.confirm_timer(protect).await;
        }
        for line in &protect.confirm.revert {
            self.send_in_read_mode(line).await?;
        }
        let state = self.read_timer(&[]).await;
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
    ) -> Result<(Vec<String>, Option<bool>), SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let Some(protect) = &rules.protect else {
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
        match is_pending != is_none {
            true => Ok(Some(is_pending)),
            false => Err(SessionErrorKind::UnexpectedAnswer {
                command: protect.state.clone(),
                reason: "it matches neither `pending` nor `none` of the platform".to_owned(),
                output: self.mask(output),
            }),
        }
    }

    async fn send_in_read_mode(&mut self, line: &str) -> Result<(), SessionErrorKind> {
        self.send_reads(&[]).await?;
        match self.send_and_follow_mode(line).await? {
            CandidateAnswer::Accepted(_) => Ok(()),
            CandidateAnswer::Refused(output) => Err(SessionErrorKind::CommandRefused {
                command: line.to_owned(),
                output,
            }),
        }
    }
}
