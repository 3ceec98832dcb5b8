//! Configuration lines: into their mode, together where they cannot ask, and what became of each.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::CliSession;
use super::place::{Move, Place};
use crate::dialogue::rules::Class;
use crate::dialogue::{Answer, Input, Refusal, Verdict};
use crate::operation::{Action, Line, Operation, OperationResult, Outcome};
use crate::secret::Text;
use crate::session::Access;
use crate::session::error::SessionErrorKind;

/// Why the lines of a mode cannot be sent.
pub(super) struct Stop {
    /// What became of the line on the way.
    outcome: Outcome,
    /// That line; `None` when nothing was sent.
    line: Option<Line>,
}

impl Stop {
    fn before_sending(said: String) -> Self {
        Self {
            outcome: Outcome::Refused { said },
            line: None,
        }
    }

    fn refused(line: Line, said: String) -> Self {
        Self {
            outcome: Outcome::Refused { said },
            line: Some(line),
        }
    }

    /// The result of an operation, of which the line on the way may be all.
    fn of(self, operation: &Line, took: Duration) -> OperationResult {
        let short_of = self.line.filter(|line| line != operation);
        OperationResult {
            short_of,
            ..OperationResult::new(self.outcome, took)
        }
    }
}

impl CliSession {
    /// Sends operations in order, as far as the device takes them; each has a result.
    pub(super) async fn write(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        let mut results: Vec<OperationResult> = Vec::new();
        if !self.confirmed
            && let Err(failure) = self.send_reads(&[]).await
        {
            self.note_end(&failure);
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
            match self.go_to(&line.mode).await {
                Err(stop) => {
                    results.push(stop.of(line, since.elapsed()));
                    break;
                }
                Ok(said) if line.text.is_none() => {
                    self.statistics.writes += 1;
                    let outcome = Outcome::Done { said };
                    results.push(OperationResult::new(outcome, since.elapsed()));
                }
                Ok(_) => {
                    let lines = together(&operations[next..]);
                    results.extend(self.send_lines(&lines).await);
                }
            }
            next = results.len();
            let taken = |result: &OperationResult| matches!(result.outcome, Outcome::Done { .. });
            if !results.iter().all(taken) || self.place == Place::Unknown {
                break;
            }
        }
        results.resize_with(operations.len(), OperationResult::not_sent);
        results
    }

    /// Goes to the mode of the next lines. `Ok` has what the device said on entering it.
    pub(super) async fn go_to(&mut self, wanted: &[Text]) -> Result<Vec<String>, Stop> {
        let rules = Arc::clone(&self.rules);
        let no_config =
            || Stop::before_sending("this platform has no configuration mode".to_owned());
        let config = rules.config_mode.ok_or_else(no_config)?;
        let inside = rules.sub_mode.unwrap_or(config);
        let mut said = Vec::new();
        for step in self.place.way_to(wanted, &rules) {
            let leave = |from, to| rules.edge(from, to).map(|edge| edge.send.as_str());
            let (lines, arrived): (Vec<Text>, _) = match &step {
                Move::End => (vec![Text::plain(self.end_line())], rules.read_mode),
                Move::Begin => {
                    let line = leave(rules.read_mode, config).unwrap_or_default();
                    (vec![Text::plain(line)], config)
                }
                Move::Leave(levels) => {
                    let line = leave(inside, config).unwrap_or_default();
                    let outside = *levels == self.depth();
                    let arrived = if outside { config } else { inside };
                    (vec![Text::plain(line); *levels], arrived)
                }
                Move::Enter(depth) => (vec![wanted[*depth].clone()], inside),
            };
            let on_the_way = match &step {
                Move::Enter(depth) => Line::entering(&wanted[..=*depth]),
                _ => Line::global(lines[0].clone()),
            };
            let mut permitted = Vec::new();
            for line in lines {
                let permit = self.guard.permit(Input::line(line));
                permitted.push(permit.map_err(|error| Stop::before_sending(error.to_string()))?);
            }
            let burst = self.wire.burst(permitted, |_, _| true).await;
            if let Some(failure) = burst.failure {
                return Err(Stop {
                    outcome: Outcome::Unknown {
                        why: self.lost(&failure),
                    },
                    line: Some(on_the_way),
                });
            }
            let last = burst.answered.last().expect("a move has a line");
            let verdict = Verdict::of(&rules, &last.input, &last.answer);
            self.place = match &step {
                Move::End => Place::Reading,
                Move::Begin => Place::Configuring(Vec::new()),
                Move::Leave(levels) => Place::Configuring(wanted[..self.depth() - levels].to_vec()),
                Move::Enter(depth) => Place::Configuring(wanted[..=*depth].to_vec()),
            };
            // That `end` is refused outside configuration does not matter.
            if let Some(refusal) = verdict.refused.filter(|_| step != Move::End) {
                let outside = last.answer.prompt.mode == rules.read_mode;
                self.place = if outside {
                    Place::Reading
                } else {
                    Place::Unknown
                };
                self.end_if_fatal(&last.input, &refusal);
                return Err(Stop::refused(on_the_way, self.refusal_words(refusal)));
            }
            let entering = matches!(step, Move::Enter(_));
            if entering && verdict.surprising {
                self.place = Place::Unknown;
                return Err(Stop::refused(on_the_way, self.words(&verdict.said)));
            }
            if last.answer.prompt.mode != arrived {
                self.place = Place::Unknown;
                let said = format!(
                    "`{}` led to the prompt {}",
                    last.input.line, last.answer.prompt.text
                );
                return Err(Stop::refused(on_the_way, said));
            }
            if entering {
                said = self.masked(verdict.said);
            }
        }
        Ok(said)
    }

    fn depth(&self) -> usize {
        match &self.place {
            Place::Configuring(path) => path.len(),
            Place::Reading | Place::Unknown => 0,
        }
    }

    /// Sends the lines of one mode, which has been entered.
    async fn send_lines(&mut self, lines: &[&Line]) -> Vec<OperationResult> {
        let rules = Arc::clone(&self.rules);
        let mut results = Vec::new();
        let here = self.place.clone();
        let mode_now = match &here {
            Place::Configuring(path) if !path.is_empty() => rules.sub_mode,
            _ => rules.config_mode,
        };
        let permitted: Result<Vec<_>, _> = lines
            .iter()
            .map(|line| {
                self.guard.permit(Input {
                    line: line.text.clone().unwrap_or_default(),
                    body: line.body.clone(),
                    secret: None,
                    agree: true,
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
        let go_on = |input: &Input, answer: &Answer| {
            still_here(answer) && Verdict::of(&rules, input, answer).refused.is_none()
        };
        let burst = self.wire.burst(permitted, go_on).await;
        let sent = burst.answered.len() + burst.unanswered;
        self.statistics.writes += sent as u64;
        for answered in &burst.answered {
            let verdict = Verdict::of(&rules, &answered.input, &answered.answer);
            let mut said = self.masked(verdict.said);
            let outcome = match verdict.refused {
                Some(refusal) => {
                    self.place = Place::Unknown;
                    self.end_if_fatal(&answered.input, &refusal);
                    Outcome::Refused {
                        said: self.refusal_words(refusal),
                    }
                }
                None => {
                    if !still_here(&answered.answer) {
                        self.place = Place::Unknown;
                        let prompt = &answered.answer.prompt.text;
                        said.push(format!("the prompt changed to {prompt}"));
                    }
                    Outcome::Done { said }
                }
            };
            results.push(OperationResult::new(outcome, answered.took));
        }
        if let Some(failure) = burst.failure {
            let why = self.lost(&failure);
            for _ in 0..burst.unanswered {
                let outcome = Outcome::Unknown { why: why.clone() };
                results.push(OperationResult::new(outcome, Duration::ZERO));
            }
        }
        results
    }

    /// Nothing more can be sent; why, for what was under way.
    fn lost(&mut self, failure: &SessionErrorKind) -> String {
        self.place = Place::Unknown;
        self.note_end(failure);
        failure.to_string()
    }

    /// After some refusals nothing further may be tried.
    fn end_if_fatal(&mut self, input: &Input, refusal: &Refusal) {
        let fatal = Class::Fatal;
        if matches!(refusal, Refusal::Error { class, .. } if *class == fatal) {
            self.broken = Some(self.refused(input, refusal.clone()));
        }
    }
}

/// The operations at the front that may be written together: lines of one mode that cannot ask.
fn together(operations: &[Operation]) -> Vec<&Line> {
    let lines = operations
        .iter()
        .map_while(|operation| match &operation.action {
            Action::Line(line) if line.text.is_some() => Some(line),
            Action::Line(_) | Action::Request(_) => None,
        });
    let mut together: Vec<&Line> = Vec::new();
    for line in lines {
        let alone = line.may_ask || !line.body.is_empty();
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
    OperationResult::new(Outcome::Refused { said }, took)
}
