//! Sending configuration lines: enters their mode, sends them in batches, and returns results.

use std::sync::Arc;
use std::time::Duration;

use super::CliSession;
use super::config_mode::{ConfigMode, ModeStep};
use crate::clock;
use crate::dialogue::cli_rules::MessageClass;
use crate::dialogue::{Answer, Classification, Command, Refusal};
use crate::operation::{Action, ConfigLine, Operation, OperationResult, Outcome, UnknownCause};
use crate::secret::Text;
use crate::session::Access;
use crate::session::error::SessionErrorKind;
use crate::session::transport::{AnsweredCommand, BatchResult};

/// A mode that was not entered, so that its lines cannot be sent.
pub(super) struct ModeFailure {
    /// The outcome of the mode line.
    outcome: Outcome,
    /// The mode line; `None` if nothing was sent.
    line: Option<ConfigLine>,
}

impl ModeFailure {
    fn not_sent(message: String) -> Self {
        Self {
            outcome: Outcome::Refused { message },
            line: None,
        }
    }

    fn refused(line: ConfigLine, message: String) -> Self {
        Self {
            outcome: Outcome::Refused { message },
            line: Some(line),
        }
    }

    /// The message of the device, or the reason.
    pub(super) fn into_message(self) -> String {
        match self.outcome {
            Outcome::Refused { message } => message,
            Outcome::Unknown { reason, .. } => reason,
            Outcome::Done { .. } | Outcome::NotSent => String::new(),
        }
    }

    /// The result of the operation that needed the mode.
    fn into_result(self, operation: &ConfigLine, duration: Duration) -> OperationResult {
        let failed_mode_line = self.line.filter(|line| line != operation);
        OperationResult {
            failed_mode_line,
            ..OperationResult::new(self.outcome, duration)
        }
    }
}

/// A mode that was entered.
#[derive(Debug, Default)]
pub(super) struct EnteredMode {
    /// Messages of the device.
    messages: Vec<String>,
    /// The answer to the command that left it again.
    left: Option<AnsweredCommand>,
}

/// The outcome of a line without an answer.
pub(super) fn unknown(failure: &SessionErrorKind, line: &ConfigLine) -> Outcome {
    Outcome::Unknown {
        reason: failure.render_for(&line.to_string()),
        cause: UnknownCause::NoAnswer,
    }
}

impl CliSession {
    /// Sends operations in order until one fails. Returns a result for each.
    pub(super) async fn write(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        let mut results: Vec<OperationResult> = Vec::new();
        if !self.mode_confirmed
            && let Err(failure) = self.send_reads(&[]).await
        {
            self.mark_broken(&failure);
        }
        let mut next = 0;
        // The current mode, if the device applies its lines when it is left.
        let mut open_mode: Option<&[Text]> = None;
        while next < operations.len() && self.broken.is_none() {
            if self.access == Access::ReadOnly {
                break;
            }
            let Action::Line(line) = &operations[next].action else {
                let message = "cannot send a request to a command line".to_owned();
                results.push(refused(message, Duration::ZERO));
                break;
            };
            let started = clock::instant();
            let leave = line.text.is_none() && self.leaves_mode_after(operations, next);
            let mut mode = line.mode.clone();
            mode.extend(line.text.clone().filter(|_| line.enters_mode));
            match self.enter_mode(&mode, leave).await {
                Err(failure) => {
                    results.push(failure.into_result(line, started.elapsed()));
                    break;
                }
                Ok(entered) if line.text.is_none() => {
                    self.statistics.writes += 1;
                    let messages = entered.messages;
                    let outcome = Outcome::Done { messages };
                    results.push(OperationResult::new(outcome, started.elapsed()));
                    open_mode = self.applies_on_exit(&line.mode).then_some(&line.mode);
                    if let Some(left) = entered.left {
                        open_mode = None;
                        self.apply_exit_answer(&left, &line.mode, operations, &mut results);
                    }
                }
                Ok(_) if line.enters_mode => {
                    results.push(self.send_body(line, started).await);
                    open_mode = None;
                }
                Ok(_) => {
                    let lines = batch(&operations[next..]);
                    let last = next + lines.len() - 1;
                    let leave = self.leaves_mode_after(operations, last);
                    let (sent, left) = self.send_lines(&lines, leave).await;
                    results.extend(sent);
                    open_mode = self.applies_on_exit(&line.mode).then_some(&line.mode);
                    if let Some(left) = left {
                        open_mode = None;
                        self.apply_exit_answer(&left, &line.mode, operations, &mut results);
                    }
                }
            }
            next = results.len();
            let may_continue = |result: &OperationResult| match &result.outcome {
                Outcome::Done { .. } => true,
                Outcome::Unknown { cause, .. } => !cause.ends_session(),
                Outcome::Refused { .. } | Outcome::NotSent => false,
            };
            if !results.iter().all(may_continue) || self.mode == ConfigMode::Unknown {
                break;
            }
        }
        if let Some(mode) = open_mode {
            self.leave_open_mode(mode, operations, &mut results).await;
        }
        results.resize_with(operations.len(), OperationResult::not_sent);
        results
    }

    /// Enters the mode of the next lines; with `leave`, the mode is left again in the same batch.
    pub(super) async fn enter_mode(
        &mut self,
        desired: &[Text],
        leave: bool,
    ) -> Result<EnteredMode, ModeFailure> {
        let rules = Arc::clone(&self.rules);
        let no_config =
            || ModeFailure::not_sent("this platform has no configuration mode".to_owned());
        let config = rules.config_mode.ok_or_else(no_config)?;
        let sub_mode = rules.sub_mode.unwrap_or(config);
        let mut entered = EnteredMode::default();
        for step in self.mode.steps_to(desired, &rules) {
            let command_between = |from, to| {
                rules
                    .transition(from, to)
                    .map(|transition| transition.send.as_str())
            };
            let (lines, expected_mode): (Vec<Text>, _) = match &step {
                ModeStep::End => (vec![Text::plain(rules.end_line())], rules.read_mode),
                ModeStep::Configure => {
                    let line = command_between(rules.read_mode, config).unwrap_or_default();
                    (vec![Text::plain(self.candidate_name.fill(line))], config)
                }
                ModeStep::Exit(levels) => {
                    let line = command_between(sub_mode, config).unwrap_or_default();
                    let outside = *levels == self.depth();
                    let expected_mode = if outside { config } else { sub_mode };
                    (vec![Text::plain(line); *levels], expected_mode)
                }
                ModeStep::Enter(depth) => {
                    let mut lines = vec![desired[*depth].clone()];
                    if leave && depth + 1 == desired.len() {
                        lines.push(Text::plain(rules.exit_line()));
                    }
                    (lines, sub_mode)
                }
            };
            let mode_line = match &step {
                ModeStep::Enter(depth) => ConfigLine::enter_mode(&desired[..=*depth]),
                _ => ConfigLine::global(lines[0].clone()),
            };
            let locks = step == ModeStep::Configure;
            let mut batch = self.send_mode_lines(&lines, locks).await?;
            if let Some(failure) = batch.failure {
                self.mark_lost(&failure);
                if matches!(failure, SessionErrorKind::Fenced { .. }) {
                    return Err(ModeFailure::not_sent(failure.to_string()));
                }
                return Err(ModeFailure {
                    outcome: unknown(&failure, &mode_line),
                    line: Some(mode_line),
                });
            }
            let entering = matches!(step, ModeStep::Enter(_));
            let left = (entering && batch.answered.len() > 1)
                .then(|| batch.answered.pop())
                .flatten();
            let last = batch.answered.last().expect("a step has a line");
            let classification = Classification::new(&rules, &last.command, &last.answer);
            self.mode = match &step {
                ModeStep::End => ConfigMode::Read,
                ModeStep::Configure => ConfigMode::Config(Vec::new()),
                ModeStep::Exit(levels) => {
                    ConfigMode::Config(desired[..self.depth() - levels].to_vec())
                }
                ModeStep::Enter(depth) => ConfigMode::Config(desired[..=*depth].to_vec()),
            };
            // A refused `end` means that the device is already outside configuration.
            if let Some(refusal) = classification.refusal.filter(|_| step != ModeStep::End) {
                let outside = last.answer.prompt.mode == rules.read_mode;
                self.mode = if outside {
                    ConfigMode::Read
                } else {
                    ConfigMode::Unknown
                };
                self.break_if_fatal(&last.command, &refusal);
                return Err(ModeFailure::refused(
                    mode_line,
                    self.render_refusal(refusal),
                ));
            }
            if entering && classification.has_unknown_messages {
                self.mode = ConfigMode::Unknown;
                return Err(ModeFailure::refused(
                    mode_line,
                    self.render_output(&classification.messages),
                ));
            }
            if last.answer.prompt.mode != expected_mode {
                self.mode = ConfigMode::Unknown;
                let message = format!(
                    "`{}` caused the unexpected prompt {}",
                    last.command.line, last.answer.prompt.text
                );
                return Err(ModeFailure::refused(mode_line, message));
            }
            if entering {
                entered.messages = self.mask_lines(classification.messages);
                entered.left = left;
            }
        }
        Ok(entered)
    }

    /// Sends the lines of a step; those that lock the configuration again while somebody else has the lock.
    async fn send_mode_lines(
        &mut self,
        lines: &[Text],
        locks: bool,
    ) -> Result<BatchResult, ModeFailure> {
        let mut waited = Duration::ZERO;
        loop {
            let mut permitted = Vec::new();
            for line in lines {
                let permit = self.guard.permit(Command::line(line.clone()));
                permitted.push(permit.map_err(|error| ModeFailure::not_sent(error.to_string()))?);
            }
            let batch = self.transport.send_batch(permitted, |_, _| true).await;
            let lock = self.rules.lock.as_ref().filter(|_| locks);
            let answer = batch.answered.last().map(|last| &last.answer);
            let answer = answer.filter(|answer| answer.prompt.mode == self.rules.read_mode);
            let output = answer.map(|answer| answer.output.join("\n"));
            let holder = lock
                .zip(output)
                .and_then(|(lock, output)| lock.holder(&output));
            let Some(holder) = holder else {
                return Ok(batch);
            };
            if !self.lock_wait.goes_on(waited) || self.transport.is_stopped() {
                let holder = self.mask(&holder);
                let locked = SessionErrorKind::ConfigurationLocked { holder };
                let line = ConfigLine::global(lines[0].clone());
                return Err(ModeFailure::refused(line, locked.to_string()));
            }
            tokio::time::sleep(self.lock_wait.interval).await;
            waited += self.lock_wait.interval;
        }
    }

    fn depth(&self) -> usize {
        match &self.mode {
            ConfigMode::Config(path) => path.len(),
            ConfigMode::Read | ConfigMode::Unknown => 0,
        }
    }

    /// Sends the lines of the current mode, and with `leave` the command that leaves it. Returns
    /// their results, and the answer to that command.
    pub(super) async fn send_lines(
        &mut self,
        lines: &[&ConfigLine],
        leave: bool,
    ) -> (Vec<OperationResult>, Option<AnsweredCommand>) {
        let rules = Arc::clone(&self.rules);
        let mut results = Vec::new();
        let mode = self.mode.clone();
        let current_mode = match &mode {
            ConfigMode::Config(path) if !path.is_empty() => rules.sub_mode.or(rules.config_mode),
            _ => rules.config_mode,
        };
        let exit = leave.then(|| Command::line(rules.exit_line()));
        let permitted: Result<Vec<_>, _> = lines
            .iter()
            .map(|line| Command {
                line: line.text.clone().unwrap_or_default(),
                body: line.body.clone(),
                accept_questions: true,
                ..Command::default()
            })
            .chain(exit)
            .map(|command| self.guard.permit(command))
            .collect();
        let permitted = match permitted {
            Ok(permitted) => permitted,
            Err(error) => {
                results.push(refused(error.to_string(), Duration::ZERO));
                return (results, None);
            }
        };
        let is_same_mode = |answer: &Answer| Some(answer.prompt.mode) == current_mode;
        let go_on = |command: &Command, answer: &Answer| {
            is_same_mode(answer)
                && Classification::new(&rules, command, answer)
                    .refusal
                    .is_none()
        };
        let mut batch = self.transport.send_batch(permitted, go_on).await;
        let left = (batch.answered.len() > lines.len())
            .then(|| batch.answered.pop())
            .flatten();
        let sent = (batch.answered.len() + batch.unanswered).min(lines.len());
        self.statistics.writes += sent as u64;
        for answered in &batch.answered {
            let classification = Classification::new(&rules, &answered.command, &answered.answer);
            let mut messages = self.mask_lines(classification.messages);
            let outcome = match classification.refusal {
                Some(refusal) => {
                    self.mode = ConfigMode::Unknown;
                    self.break_if_fatal(&answered.command, &refusal);
                    Outcome::Refused {
                        message: self.render_refusal(refusal),
                    }
                }
                None if !is_same_mode(&answered.answer) => {
                    self.mode = ConfigMode::Unknown;
                    let prompt = &answered.answer.prompt.text;
                    messages.push(format!("the prompt changed to {prompt}"));
                    self.unclear(&answered.command, &messages)
                }
                None if classification.is_unclear => self.unclear(&answered.command, &messages),
                None => Outcome::Done { messages },
            };
            results.push(OperationResult::new(outcome, answered.duration));
        }
        if let Some(failure) = batch.failure {
            self.mark_lost(&failure);
            if matches!(failure, SessionErrorKind::Fenced { .. }) && batch.unanswered == 0 {
                results.push(refused(failure.to_string(), Duration::ZERO));
            }
            for line in &lines[results.len().min(sent)..sent] {
                let outcome = unknown(&failure, line);
                results.push(OperationResult::new(outcome, Duration::ZERO));
            }
        }
        (results, left)
    }

    /// The outcome of a line whose answer is neither success nor a listed refusal.
    pub(super) fn unclear(&self, sent: &Command, messages: &[String]) -> Outcome {
        let line = self.transport.mask.apply(&sent.line.to_string());
        Outcome::Unknown {
            reason: format!("the device answered `{line}`: {}", messages.join("; ")),
            cause: UnknownCause::UnlistedMessage,
        }
    }

    /// Records that nothing more can be sent.
    pub(super) fn mark_lost(&mut self, failure: &SessionErrorKind) {
        self.mode = ConfigMode::Unknown;
        self.mark_broken(failure);
    }

    /// Ends the session after a fatal refusal.
    pub(super) fn break_if_fatal(&mut self, command: &Command, refusal: &Refusal) {
        let fatal = MessageClass::Fatal;
        if matches!(refusal, Refusal::Error { class, .. } if *class == fatal) {
            self.broken = Some(self.refusal_error(command, refusal.clone()));
        }
    }
}

/// The first operations that may be sent as one batch: lines of one mode that cause no question.
fn batch(operations: &[Operation]) -> Vec<&ConfigLine> {
    let lines = operations
        .iter()
        .map_while(|operation| match &operation.action {
            Action::Line(line) if line.text.is_some() && !line.enters_mode => Some(line),
            Action::Line(_) | Action::Request(_) | Action::Edit(_) => None,
        });
    let mut together: Vec<&ConfigLine> = Vec::new();
    for line in lines {
        let alone = line.may_prompt || !line.body.is_empty();
        match together.first() {
            Some(first) if alone || line.mode != first.mode => break,
            _ => together.push(line),
        }
        if alone {
            break;
        }
    }
    together
}

fn refused(message: String, duration: Duration) -> OperationResult {
    OperationResult::new(Outcome::Refused { message }, duration)
}
