//! Configuration lines: into their mode, together where they cannot ask, and what became of each.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::CliSession;
use super::config_mode::{ConfigMode, ModeStep};
use crate::dialogue::cli_rules::MessageClass;
use crate::dialogue::{Answer, Classification, Command, Refusal};
use crate::operation::{Action, ConfigLine, Operation, OperationResult, Outcome};
use crate::secret::Text;
use crate::session::Access;
use crate::session::error::SessionErrorKind;

/// Why the lines of a mode cannot be sent.
pub(super) struct ModeFailure {
    /// What became of the line on the way.
    outcome: Outcome,
    /// That line; `None` when nothing was sent.
    line: Option<ConfigLine>,
}

impl ModeFailure {
    fn not_sent(said: String) -> Self {
        Self {
            outcome: Outcome::Refused { message: said },
            line: None,
        }
    }

    fn refused(line: ConfigLine, said: String) -> Self {
        Self {
            outcome: Outcome::Refused { message: said },
            line: Some(line),
        }
    }

    /// The result of an operation, of which the line on the way may be all.
    fn into_result(self, operation: &ConfigLine, took: Duration) -> OperationResult {
        let short_of = self.line.filter(|line| line != operation);
        OperationResult {
            failed_mode_line: short_of,
            ..OperationResult::new(self.outcome, took)
        }
    }
}

impl CliSession {
    /// Sends operations in order, as far as the device takes them; each has a result.
    pub(super) async fn write(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        let mut results: Vec<OperationResult> = Vec::new();
        if !self.mode_confirmed
            && let Err(failure) = self.send_reads(&[]).await
        {
            self.mark_broken(&failure);
        }
        let mut next = 0;
        while next < operations.len() && self.broken.is_none() {
            if self.access == Access::ReadOnly {
                break;
            }
            let Action::Line(line) = &operations[next].action else {
                let said = "a request cannot be sent to a command line".to_owned();
                results.push(refused(said, Duration::ZERO));
                break;
            };
            let since = Instant::now();
            match self.enter_mode(&line.mode).await {
                Err(stop) => {
                    results.push(stop.into_result(line, since.elapsed()));
                    break;
                }
                Ok(said) if line.text.is_none() => {
                    self.statistics.writes += 1;
                    let outcome = Outcome::Done { messages: said };
                    results.push(OperationResult::new(outcome, since.elapsed()));
                }
                Ok(_) => {
                    let lines = batch(&operations[next..]);
                    results.extend(self.send_lines(&lines).await);
                }
            }
            next = results.len();
            let taken = |result: &OperationResult| matches!(result.outcome, Outcome::Done { .. });
            if !results.iter().all(taken) || self.mode == ConfigMode::Unknown {
                break;
            }
        }
        results.resize_with(operations.len(), OperationResult::not_sent);
        results
    }

    /// Goes to the mode of the next lines. `Ok` has what the device said on entering it.
    pub(super) async fn enter_mode(&mut self, wanted: &[Text]) -> Result<Vec<String>, ModeFailure> {
        let rules = Arc::clone(&self.rules);
        let no_config =
            || ModeFailure::not_sent("this platform has no configuration mode".to_owned());
        let config = rules.config_mode.ok_or_else(no_config)?;
        let inside = rules.sub_mode.unwrap_or(config);
        let mut said = Vec::new();
        for step in self.mode.steps_to(wanted, &rules) {
            let leave = |from, to| rules.transition(from, to).map(|edge| edge.send.as_str());
            let (lines, arrived): (Vec<Text>, _) = match &step {
                ModeStep::End => (vec![Text::plain(self.end_line())], rules.read_mode),
                ModeStep::Configure => {
                    let line = leave(rules.read_mode, config).unwrap_or_default();
                    (vec![Text::plain(line)], config)
                }
                ModeStep::Exit(levels) => {
                    let line = leave(inside, config).unwrap_or_default();
                    let outside = *levels == self.depth();
                    let arrived = if outside { config } else { inside };
                    (vec![Text::plain(line); *levels], arrived)
                }
                ModeStep::Enter(depth) => (vec![wanted[*depth].clone()], inside),
            };
            let on_the_way = match &step {
                ModeStep::Enter(depth) => ConfigLine::enter_mode(&wanted[..=*depth]),
                _ => ConfigLine::global(lines[0].clone()),
            };
            let mut permitted = Vec::new();
            for line in lines {
                let permit = self.guard.permit(Command::line(line));
                permitted.push(permit.map_err(|error| ModeFailure::not_sent(error.to_string()))?);
            }
            let burst = self.transport.send_batch(permitted, |_, _| true).await;
            if let Some(failure) = burst.failure {
                return Err(ModeFailure {
                    outcome: Outcome::Unknown {
                        reason: self.mark_lost(&failure),
                    },
                    line: Some(on_the_way),
                });
            }
            let last = burst.answered.last().expect("a move has a line");
            let verdict = Classification::new(&rules, &last.command, &last.answer);
            self.mode = match &step {
                ModeStep::End => ConfigMode::Read,
                ModeStep::Configure => ConfigMode::Config(Vec::new()),
                ModeStep::Exit(levels) => {
                    ConfigMode::Config(wanted[..self.depth() - levels].to_vec())
                }
                ModeStep::Enter(depth) => ConfigMode::Config(wanted[..=*depth].to_vec()),
            };
            // That `end` is refused outside configuration does not matter.
            if let Some(refusal) = verdict.refusal.filter(|_| step != ModeStep::End) {
                let outside = last.answer.prompt.mode == rules.read_mode;
                self.mode = if outside {
                    ConfigMode::Read
                } else {
                    ConfigMode::Unknown
                };
                self.break_if_fatal(&last.command, &refusal);
                return Err(ModeFailure::refused(
                    on_the_way,
                    self.render_refusal(refusal),
                ));
            }
            let entering = matches!(step, ModeStep::Enter(_));
            if entering && verdict.has_unknown_messages {
                self.mode = ConfigMode::Unknown;
                return Err(ModeFailure::refused(
                    on_the_way,
                    self.render_output(&verdict.messages),
                ));
            }
            if last.answer.prompt.mode != arrived {
                self.mode = ConfigMode::Unknown;
                let said = format!(
                    "`{}` led to the prompt {}",
                    last.command.line, last.answer.prompt.text
                );
                return Err(ModeFailure::refused(on_the_way, said));
            }
            if entering {
                said = self.mask_lines(verdict.messages);
            }
        }
        Ok(said)
    }

    fn depth(&self) -> usize {
        match &self.mode {
            ConfigMode::Config(path) => path.len(),
            ConfigMode::Read | ConfigMode::Unknown => 0,
        }
    }

    /// Sends the lines of one mode, which has been entered.
    async fn send_lines(&mut self, lines: &[&ConfigLine]) -> Vec<OperationResult> {
        let rules = Arc::clone(&self.rules);
        let mut results = Vec::new();
        let here = self.mode.clone();
        let mode_now = match &here {
            ConfigMode::Config(path) if !path.is_empty() => rules.sub_mode,
            _ => rules.config_mode,
        };
        let permitted: Result<Vec<_>, _> = lines
            .iter()
            .map(|line| {
                self.guard.permit(Command {
                    line: line.text.clone().unwrap_or_default(),
                    body: line.body.clone(),
                    secret: None,
                    accept_questions: true,
                })
            })
            .collect();
        let permitted = match permitted {
            Ok(permitted) => permitted,
            Err(error) => {
                results.push(refused(error.to_string(), Duration::ZERO));
                return results;
            }
        };
        let still_here = |answer: &Answer| Some(answer.prompt.mode) == mode_now;
        let go_on = |input: &Command, answer: &Answer| {
            still_here(answer) && Classification::new(&rules, input, answer).refusal.is_none()
        };
        let burst = self.transport.send_batch(permitted, go_on).await;
        let sent = burst.answered.len() + burst.unanswered;
        self.statistics.writes += sent as u64;
        for answered in &burst.answered {
            let verdict = Classification::new(&rules, &answered.command, &answered.answer);
            let mut said = self.mask_lines(verdict.messages);
            let outcome = match verdict.refusal {
                Some(refusal) => {
                    self.mode = ConfigMode::Unknown;
                    self.break_if_fatal(&answered.command, &refusal);
                    Outcome::Refused {
                        message: self.render_refusal(refusal),
                    }
                }
                None => {
                    if !still_here(&answered.answer) {
                        self.mode = ConfigMode::Unknown;
                        let prompt = &answered.answer.prompt.text;
                        said.push(format!("the prompt changed to {prompt}"));
                    }
                    Outcome::Done { messages: said }
                }
            };
            results.push(OperationResult::new(outcome, answered.duration));
        }
        if let Some(failure) = burst.failure {
            let why = self.mark_lost(&failure);
            for _ in 0..burst.unanswered {
                let outcome = Outcome::Unknown {
                    reason: why.clone(),
                };
                results.push(OperationResult::new(outcome, Duration::ZERO));
            }
        }
        results
    }

    /// Nothing more can be sent; why, for what was under way.
    fn mark_lost(&mut self, failure: &SessionErrorKind) -> String {
        self.mode = ConfigMode::Unknown;
        self.mark_broken(failure);
        failure.to_string()
    }

    /// After some refusals nothing further may be tried.
    fn break_if_fatal(&mut self, input: &Command, refusal: &Refusal) {
        let fatal = MessageClass::Fatal;
        if matches!(refusal, Refusal::Error { class, .. } if *class == fatal) {
            self.broken = Some(self.refusal_error(input, refusal.clone()));
        }
    }
}

/// The operations at the front that may be written together: lines of one mode that cannot ask.
fn batch(operations: &[Operation]) -> Vec<&ConfigLine> {
    let lines = operations
        .iter()
        .map_while(|operation| match &operation.action {
            Action::Line(line) if line.text.is_some() => Some(line),
            Action::Line(_) | Action::Request(_) => None,
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

fn refused(said: String, took: Duration) -> OperationResult {
    OperationResult::new(Outcome::Refused { message: said }, took)
}
