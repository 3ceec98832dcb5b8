//! Candidate configurations: the lines of a resource take effect when they are committed.

use std::sync::Arc;

use super::config_mode::ConfigMode;
use super::{CliSession, UnconfirmedCommit};
use crate::dialogue::candidate_rules::CandidateRules;
use crate::dialogue::{Classification, Command};
use crate::operation::{OperationResult, Outcome, UnknownCause};
use crate::session::error::SessionErrorKind;
use crate::session::transport::AnsweredCommand;

/// The answer to a command for the candidate or the timed revert.
pub(super) enum CandidateAnswer {
    Accepted(Vec<String>),
    Refused(String),
}

impl CliSession {
    /// Commits the lines of a resource, or discards the candidate if the device refused one of them.
    pub(super) async fn end_candidate(&mut self, results: &mut [OperationResult]) {
        let rules = Arc::clone(&self.rules);
        let Some(candidate) = &rules.candidate else {
            return;
        };
        let is_done = |result: &OperationResult| matches!(result.outcome, Outcome::Done { .. });
        if results
            .iter()
            .all(|result| result.outcome == Outcome::NotSent)
        {
            return;
        }
        if let Some(failure) = self.broken.clone() {
            let reason = format!("{failure}; it was not committed");
            replace_done(results, &|| Outcome::Unknown {
                reason: reason.clone(),
                cause: UnknownCause::NoAnswer,
            });
            return;
        }
        if !results.iter().all(is_done) {
            self.abort(candidate).await;
            replace_done(results, &|| Outcome::NotSent);
            return;
        }
        match self.commit_candidate(candidate).await {
            Ok(CandidateAnswer::Accepted(lines)) => {
                if let Some(Outcome::Done { messages }) =
                    results.last_mut().map(|result| &mut result.outcome)
                {
                    messages.extend(lines);
                }
            }
            Ok(CandidateAnswer::Refused(text)) => {
                self.abort(candidate).await;
                replace_done(results, &|| Outcome::Refused {
                    message: text.clone(),
                });
            }
            Err(failure) => {
                let reason = failure.to_string();
                replace_done(results, &|| Outcome::Unknown {
                    reason: reason.clone(),
                    cause: UnknownCause::NoAnswer,
                });
            }
        }
    }

    /// Checks and commits the candidate.
    async fn commit_candidate(
        &mut self,
        candidate: &CandidateRules,
    ) -> Result<CandidateAnswer, SessionErrorKind> {
        if let Err(text) = self.enter_top_level().await {
            return Ok(CandidateAnswer::Refused(text));
        }
        if let Some(diff) = &candidate.diff {
            let diff = self.candidate_name.fill(diff);
            match self.send_and_follow_mode(&diff).await? {
                CandidateAnswer::Accepted(lines) => {
                    let difference = lines.join("\n");
                    tracing::info!(
                        device = self.device,
                        "difference of the candidate:\n{difference}"
                    );
                }
                refused @ CandidateAnswer::Refused(_) => return Ok(refused),
            }
        }
        let commit = candidate.confirm.as_ref().map(|confirm| &confirm.commit);
        let commit = commit.unwrap_or(&candidate.commit);
        let mut messages = Vec::new();
        for line in candidate.check.iter().chain([commit]) {
            let line = self.candidate_name.fill(line);
            match self.send_and_follow_mode(&line).await? {
                CandidateAnswer::Accepted(lines) => messages.extend(lines),
                refused @ CandidateAnswer::Refused(_) => return Ok(refused),
            }
        }
        if candidate.confirm.is_some() {
            self.unconfirmed = Some(UnconfirmedCommit {
                left_config: self.mode == ConfigMode::Read,
            });
        } else {
            self.candidate_name.advance();
        }
        Ok(CandidateAnswer::Accepted(messages))
    }

    /// Confirms a commit, or restores the configuration before it.
    pub(super) async fn end_confirmed_commit(
        &mut self,
        keep: bool,
    ) -> Result<(), SessionErrorKind> {
        let commit = self.unconfirmed.take();
        let rules = Arc::clone(&self.rules);
        let confirm = rules
            .candidate
            .as_ref()
            .and_then(|rules| rules.confirm.as_ref());
        let Some(confirm) = confirm else {
            return Ok(());
        };
        let refused = |command: &str, output: String| SessionErrorKind::CommandRefused {
            command: command.to_owned(),
            output,
        };
        let name = self.candidate_name;
        let lines: Vec<String> = confirm
            .end(keep)
            .iter()
            .map(|line| name.fill(line))
            .collect();
        let first = lines.first().map_or("", String::as_str);
        if commit.is_some_and(|commit| commit.left_config) {
            self.send_reads(&[]).await?;
        } else if let Err(text) = self.enter_top_level().await {
            return Err(refused(first, text));
        }
        for line in &lines {
            if let CandidateAnswer::Refused(text) = self.send_and_follow_mode(line).await? {
                return Err(refused(line, text));
            }
        }
        self.candidate_name.advance();
        Ok(())
    }

    /// Discards the candidate. If the device refuses it, the session ends.
    async fn abort(&mut self, candidate: &CandidateRules) {
        // Nothing leaves the configuration mode before: the device would ask about the candidate.
        let command = self.candidate_name.fill(&candidate.abort);
        match self.send_and_follow_mode(&command).await {
            Ok(CandidateAnswer::Accepted(_)) | Err(_) => self.candidate_name.advance(),
            Ok(CandidateAnswer::Refused(output)) => {
                self.mark_lost(&SessionErrorKind::CommandRefused { command, output });
            }
        }
    }

    async fn enter_top_level(&mut self) -> Result<(), String> {
        match self.enter_mode(&[], false).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.into_message()),
        }
    }

    /// Sends a line that may enter or leave the configuration mode.
    pub(super) async fn send_and_follow_mode(
        &mut self,
        line: &str,
    ) -> Result<CandidateAnswer, SessionErrorKind> {
        let answered = self.send_all(vec![Command::line(line)]).await?;
        Ok(match answered.first() {
            Some(answered) => self.follow_mode(answered),
            None => CandidateAnswer::Accepted(Vec::new()),
        })
    }

    /// Takes the mode from an answer, and judges it.
    pub(super) fn follow_mode(&mut self, answered: &AnsweredCommand) -> CandidateAnswer {
        let rules = Arc::clone(&self.rules);
        let classification = Classification::new(&rules, &answered.command, &answered.answer);
        let prompt = answered.answer.prompt.mode;
        self.mode = if prompt == rules.read_mode {
            ConfigMode::Read
        } else if Some(prompt) == rules.config_mode {
            ConfigMode::Config(Vec::new())
        } else {
            ConfigMode::Unknown
        };
        match classification.refusal {
            Some(_) => CandidateAnswer::Refused(self.render_output(&answered.answer.output)),
            None if classification.is_unclear => {
                CandidateAnswer::Refused(self.render_output(&answered.answer.output))
            }
            None => CandidateAnswer::Accepted(self.mask_lines(classification.messages)),
        }
    }
}

fn replace_done(results: &mut [OperationResult], outcome: &dyn Fn() -> Outcome) {
    for result in results {
        if matches!(result.outcome, Outcome::Done { .. }) {
            result.outcome = outcome();
        }
    }
}
