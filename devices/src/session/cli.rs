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

mod place;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::ExposeSecret;
use tokio::time::Instant;

use self::place::{Move, Place};
use super::error::{SessionError, SessionErrorKind};
use super::guard::Guard;
use super::mask::Mask;
use super::ssh::Connection;
use super::target::Target;
use super::transcript::Transcript;
use super::wire::{Answered, EndReason, Stream, Wire, WireOptions};
use super::{Access, Session, Statistics};
use crate::dialogue::rules::{Class, Edge, ModeId, Step};
use crate::dialogue::{Answer, Dialogue, Input, Refusal, Rules, Secret, SecretState, Verdict};
use crate::operation::{Action, Line, Operation, OperationResult, Outcome};
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

struct Pending {
    step: Step,
    /// Failing it means that the privilege level is too low.
    privilege: bool,
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
    /// Waits for the first prompt, becomes privileged where that takes a step, and makes the first
    /// reads, which go out together with the question whether the privilege is high enough.
    ///
    /// # Cancellation
    /// May be dropped; the connection ends.
    pub async fn open(
        target: &Target,
        terminal: Terminal,
        rules: &Arc<Rules>,
        (access, reads): (Access, &[String]),
        first: &[ReadRequest],
    ) -> Result<(Self, Vec<String>), SessionErrorKind> {
        let began = Instant::now();
        let mut mask = Mask::new(&rules.secrets);
        for secret in target.secrets() {
            mask.add(secret.expose_secret());
        }
        let transcript = Transcript::create(target.transcript.as_deref())?;
        let options = WireOptions {
            end: terminal.end,
            window: rules.window,
            newline: rules.newline.clone(),
            limit: target.command_timeout,
        };
        let dialogue = Dialogue::new(Arc::clone(rules));
        let wire = Wire::new(terminal.stream, dialogue, (mask, transcript), options);
        let mut session = Self {
            device: target.device.clone(),
            rules: Arc::clone(rules),
            guard: Guard::new(access, rules, reads),
            wire,
            place: Place::Reading,
            access,
            enable_password: target
                .enable_password
                .as_ref()
                .map(|value| Text::secret(value.expose_secret())),
            pending: Vec::new(),
            confirmed: false,
            statistics: Statistics::default(),
            broken: None,
            connection: terminal.connection,
        };
        let mode = session.wire.greeting().await?.prompt.mode;
        let verify = session.reach_read_mode(mode).await?;
        let mut texts = Vec::new();
        if verify || !first.is_empty() {
            // Whether the level is high enough decides whether the session is one.
            match session.send_reads(first).await {
                Ok(answers) => texts = answers,
                Err(error) => {
                    session.close().await;
                    return Err(error);
                }
            }
        }
        session.statistics.login = began.elapsed();
        Ok((session, texts))
    }

    /// Goes from the mode of a prompt to the one for reads. Set-up lines that do not belong before
    /// that are left pending; whether some of them decide if the session is one.
    async fn reach_read_mode(&mut self, mode: ModeId) -> Result<bool, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let home = rules.read_mode;
        let way = rules
            .way(mode, home)
            .ok_or_else(|| SessionErrorKind::Garbage {
                command: String::new(),
                why: format!(
                    "there is no way out of the mode `{}`",
                    rules.modes[mode].name
                ),
            })?;
        let (early, late): (Vec<_>, Vec<_>) = rules
            .open
            .iter()
            .filter(|step| step.applies(mode, home) || step.applies(home, home))
            .cloned()
            .map(Pending::set_up)
            .partition(|pending| mode != home && pending.step.applies(mode, home));
        self.pending = early;
        let mut verify = false;
        for edge in way {
            self.take(edge).await?;
            verify |= edge.verify.is_some();
            self.pending
                .extend(edge.verify.clone().map(Pending::privilege));
        }
        self.pending.extend(late);
        Ok(verify)
    }

    /// Goes along an edge. Set-up lines that belong before it go out with it.
    async fn take(&mut self, edge: &Edge) -> Result<(), SessionErrorKind> {
        let before: Vec<_> = std::mem::take(&mut self.pending);
        let mut inputs: Vec<_> = before.iter().map(Pending::input).collect();
        inputs.push(Input {
            line: Text::plain(&edge.send),
            secret: edge.secret.clone().map(|request| Secret {
                request,
                value: self.enable_password.clone(),
            }),
            ..Input::default()
        });
        let mut answered = self.converse(inputs).await?;
        let last = answered.pop().expect("the edge's line was answered");
        for (pending, answered) in before.iter().zip(&answered) {
            self.check_step(pending, answered)?;
        }
        let said = self.words(&last.answer.output);
        match last.answer.secret {
            SecretState::Wrong => return Err(SessionErrorKind::EnableRefused { said }),
            SecretState::Missing => return Err(SessionErrorKind::EnableMissing),
            SecretState::NotAsked | SecretState::Given => {}
        }
        if last.answer.prompt.mode == edge.to {
            self.confirmed = true;
            return Ok(());
        }
        Err(match edge.secret {
            Some(_) => SessionErrorKind::EnableRefused { said },
            None => SessionErrorKind::Refused {
                command: edge.send.clone(),
                said,
            },
        })
    }

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

    fn check_step(&self, pending: &Pending, answered: &Answered) -> Result<(), SessionErrorKind> {
        let step = &pending.step;
        let verdict = Verdict::of(&self.rules, &answered.input, &answered.answer);
        let output = answered.answer.output.join("\n");
        let unmet = step
            .expect
            .as_ref()
            .is_some_and(|wanted| !wanted.is_match(&output));
        if step.optional || verdict.refused.is_none() && !unmet {
            return Ok(());
        }
        if pending.privilege {
            let said = self.words(&answered.answer.output);
            return Err(SessionErrorKind::Privilege { said });
        }
        Err(match verdict.refused {
            Some(refusal) => self.refused(&answered.input, refusal),
            None => SessionErrorKind::Refused {
                command: step.send.clone(),
                said: self.words(&answered.answer.output),
            },
        })
    }

    /// Sends reads, with whatever set-up is pending and the way out of configuration in front.
    async fn send_reads(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<String>, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let mut inputs = Vec::new();
        let leaving = self.place != Place::Reading;
        if leaving {
            inputs.push(Input::line(self.end_line()));
        }
        let pending = std::mem::take(&mut self.pending);
        inputs.extend(pending.iter().map(Pending::input));
        inputs.extend(
            requests
                .iter()
                .map(|request| Input::line(request.command.as_str())),
        );
        if inputs.is_empty() {
            return Ok(Vec::new());
        }
        let answered = self.converse(inputs).await?;
        let first = answered.last().map(|one| one.answer.prompt.mode);
        if let Some(mode) = first.filter(|mode| !self.confirmed && *mode != rules.read_mode) {
            // What looked like the first prompt was none. Reads do no harm anywhere.
            self.confirmed = true;
            Box::pin(self.reach_read_mode(mode)).await?;
            return Box::pin(self.send_reads(requests)).await;
        }
        self.confirmed = true;
        self.statistics.reads += requests.len() as u64;
        let mut answered = answered.into_iter();
        if leaving && let Some(end) = answered.next() {
            self.left(&end)?;
        }
        for (pending, answered) in pending.iter().zip(answered.by_ref()) {
            self.check_step(pending, &answered)?;
        }
        requests
            .iter()
            .zip(answered)
            .map(
                |(request, answered)| match Verdict::of_read(&rules, &answered.answer) {
                    None => Ok(text_of(answered.answer)),
                    Some(Refusal::Error {
                        class: Class::Command,
                        ..
                    }) if request.optional => Ok(String::new()),
                    Some(refusal) => Err(self.refused(&answered.input, refusal)),
                },
            )
            .collect()
    }

    /// Notes that configuration was left, if it was.
    fn left(&mut self, end: &Answered) -> Result<(), SessionErrorKind> {
        if end.answer.prompt.mode == self.rules.read_mode {
            self.place = Place::Reading;
            return Ok(());
        }
        Err(SessionErrorKind::Refused {
            command: end.input.line.to_string(),
            said: self.words(&end.answer.output),
        })
    }

    /// The line that leaves configuration from wherever it is.
    fn end_line(&self) -> String {
        let rules = &self.rules;
        [rules.sub_mode, rules.config_mode]
            .into_iter()
            .flatten()
            .find_map(|mode| rules.edge(mode, rules.read_mode))
            .map(|edge| edge.send.clone())
            .unwrap_or_default()
    }

    /// Goes to the mode of the next lines. `Ok` has what the device said on entering it.
    async fn go_to(&mut self, wanted: &[Text]) -> Result<Vec<String>, Stop> {
        let rules = Arc::clone(&self.rules);
        let no_config = || Stop::Refused("this platform has no configuration mode".to_owned());
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
            let mut permitted = Vec::new();
            for line in lines {
                let permit = self.guard.permit(Input::line(line));
                permitted.push(permit.map_err(|error| Stop::Refused(error.to_string()))?);
            }
            let burst = self.wire.burst(permitted, |_, _| true).await;
            if let Some(failure) = burst.failure {
                return Err(self.lost(failure));
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
                return Err(Stop::Refused(self.refusal_words(refusal)));
            }
            let entering = matches!(step, Move::Enter(_));
            if entering && verdict.surprising {
                self.place = Place::Unknown;
                return Err(Stop::Refused(self.words(&verdict.said)));
            }
            if last.answer.prompt.mode != arrived {
                self.place = Place::Unknown;
                return Err(Stop::Refused(format!(
                    "`{}` led to the prompt {}",
                    last.input.line, last.answer.prompt.text
                )));
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
            results.push(OperationResult {
                outcome,
                took: answered.took,
            });
        }
        if let Some(failure) = burst.failure {
            let why = failure.to_string();
            self.lost(failure);
            for _ in 0..burst.unanswered {
                results.push(OperationResult {
                    outcome: Outcome::Unknown { why: why.clone() },
                    took: Duration::ZERO,
                });
            }
        }
        results
    }

    fn lost(&mut self, failure: SessionErrorKind) -> Stop {
        self.place = Place::Unknown;
        self.note_end(&failure);
        Stop::Lost(failure.to_string())
    }

    fn note_end(&mut self, failure: &SessionErrorKind) {
        let Wire {
            transcript, mask, ..
        } = &mut self.wire;
        transcript.note(&failure.to_string(), mask);
        self.broken = Some(failure.clone());
    }

    /// After some refusals nothing further may be tried.
    fn end_if_fatal(&mut self, input: &Input, refusal: &Refusal) {
        let fatal = Class::Fatal;
        if matches!(refusal, Refusal::Error { class, .. } if *class == fatal) {
            self.broken = Some(self.refused(input, refusal.clone()));
        }
    }

    fn refused(&self, input: &Input, refusal: Refusal) -> SessionErrorKind {
        let command = self.wire.mask.apply(&input.line.to_string());
        match refusal {
            Refusal::Question(question) => SessionErrorKind::Question {
                command,
                question: self.mask_line(&question),
            },
            other => SessionErrorKind::Refused {
                command,
                said: self.refusal_words(other),
            },
        }
    }

    fn refusal_words(&self, refusal: Refusal) -> String {
        match refusal {
            Refusal::Error { words, .. } => self.mask_line(&words),
            Refusal::Question(question) => format!(
                "it asked a question that nobody expected, which was declined: {}",
                self.mask_line(&question)
            ),
            Refusal::NoText => "it did not ask for the text that belongs to the line".to_owned(),
        }
    }

    fn mask_line(&self, text: &str) -> String {
        self.wire.mask.apply(text)
    }

    fn masked(&self, lines: Vec<String>) -> Vec<String> {
        lines.iter().map(|line| self.mask_line(line)).collect()
    }

    /// Output in one line, for a message.
    fn words(&self, output: &[String]) -> String {
        let lines: Vec<_> = output
            .iter()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty())
            .collect();
        self.mask_line(&lines.join("; "))
    }

    fn error(&self, kind: SessionErrorKind) -> SessionError {
        SessionError::new(self.device.clone(), kind)
    }
}

/// Why the lines of a mode cannot be sent.
enum Stop {
    Refused(String),
    Lost(String),
}

impl Pending {
    fn set_up(step: Step) -> Self {
        Self {
            step,
            privilege: false,
        }
    }

    fn privilege(step: Step) -> Self {
        Self {
            step,
            privilege: true,
        }
    }

    fn input(&self) -> Input {
        Input::line(self.step.send.as_str())
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
                Err(Stop::Refused(said)) => {
                    results.push(refused(said, since.elapsed()));
                    break;
                }
                Err(Stop::Lost(why)) => {
                    results.push(OperationResult {
                        outcome: Outcome::Unknown { why },
                        took: since.elapsed(),
                    });
                    break;
                }
                Ok(said) if line.text.is_none() => {
                    self.statistics.writes += 1;
                    results.push(OperationResult {
                        outcome: Outcome::Done { said },
                        took: since.elapsed(),
                    });
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
        results.resize_with(operations.len(), || OperationResult {
            outcome: Outcome::NotSent,
            took: Duration::ZERO,
        });
        results
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

impl CliSession {
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

fn text_of(answer: Answer) -> String {
    let mut text = answer.output.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn refused(said: String, took: Duration) -> OperationResult {
    OperationResult {
        outcome: Outcome::Refused { said },
        took,
    }
}
