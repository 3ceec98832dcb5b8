//! A session that sends command lines in HTTP requests.
//!
//! Each request begins in the same mode, so that it has the lines that lead to the mode of a line.
//! The reads are one request, and the operations of a resource are another. The device stops at
//! the first line that it refuses; what it answered to each line is its result. With a candidate, the
//! request ends with its commit; after a refusal, another one discards the candidate.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::ExposeSecret;

use super::client::{HttpAnswer, RestClient};
use crate::clock;
use crate::dialogue::candidate_rules::{CandidateName, CandidateRules};
use crate::dialogue::cli_rules::{MessageClass, ModeId};
use crate::dialogue::{
    Answer, Classification, CliRules, Command, LineAnswer, LineRequestRules, Prompt, Refusal,
    RequestLine, SecretState,
};
use crate::operation::{
    Method, Operation, OperationResult, Outcome, Precondition, Request, UnknownCause,
};
use crate::read::ReadRequest;
use crate::read::answer_rule::excerpt;
use crate::secret::Text;
use crate::session::cli::config_lines::{ConfigLines, LineOwner};
use crate::session::connect_params::ConnectParams;
use crate::session::error::{SessionError, SessionErrorKind};
use crate::session::write_guard::WriteGuard;
use crate::session::{Access, Session, Statistics};

/// A logged-in interface for command lines.
pub(in crate::session) struct LineSession {
    device: String,
    client: RestClient,
    rules: Arc<CliRules>,
    http: Arc<LineRequestRules>,
    guard: WriteGuard,
    enable_password: Option<Text>,
    access: Access,
    login: Duration,
    reads: u64,
    writes: u64,
    /// The name of the current candidate.
    candidate_name: CandidateName,
    /// The device reverts the last commit unless it is confirmed.
    is_unconfirmed: bool,
    broken: Option<SessionErrorKind>,
}

impl LineSession {
    /// Logs in for a token if the interface has tokens. `permissions` are the access and the reads
    /// of the platform.
    ///
    /// # Cancellation
    /// May be dropped; a new token expires by itself.
    pub(in crate::session) async fn open(
        target: &ConnectParams,
        rules: &Arc<CliRules>,
        http: &Arc<LineRequestRules>,
        (access, reads): (Access, &[String]),
    ) -> Result<Self, SessionErrorKind> {
        let started = clock::instant();
        let client = RestClient::open(target, &http.rest, access).await?;
        let enable_password = target.enable_password.as_ref();
        Ok(Self {
            device: target.device.clone(),
            client,
            rules: Arc::clone(rules),
            http: Arc::clone(http),
            guard: WriteGuard::new(access, rules, reads),
            enable_password: enable_password.map(|one| Text::secret(one.expose_secret())),
            access,
            login: started.elapsed(),
            reads: 0,
            writes: 0,
            candidate_name: CandidateName::first(),
            is_unconfirmed: false,
            broken: None,
        })
    }

    /// The lines from the first mode to another.
    fn lines_to(&self, mode: ModeId) -> Result<Vec<RequestLine>, SessionErrorKind> {
        let path = self.rules.transition_path(self.http.mode, mode);
        let path = path.ok_or_else(|| SessionErrorKind::InvalidAnswer {
            command: String::new(),
            reason: format!(
                "no transition leads to the mode `{}`",
                self.rules.modes[mode].name
            ),
        })?;
        let lines = path.into_iter().map(|transition| RequestLine {
            line: Text::plain(self.candidate_name.fill(&transition.send)),
            text: transition
                .secret
                .as_ref()
                .and_then(|_| self.enable_password.clone()),
        });
        Ok(lines.collect())
    }

    /// The request with these lines, if all of them are permitted.
    fn request(&self, lines: &[RequestLine]) -> Result<Request, SessionErrorKind> {
        for line in lines {
            self.guard.permit(Command::line(line.line.clone()))?;
        }
        let body = self.http.body(lines);
        let body = body.map_err(|line| SessionErrorKind::InvalidAnswer {
            command: line.to_string(),
            reason: "the platform does not say how a request has the text of a line".to_owned(),
        })?;
        Ok(Request {
            method: Method::Post,
            path: self.http.path.clone(),
            body: Some(body),
            abridged: None,
            is_file: false,
            idempotent: false,
            precondition: Precondition::None,
        })
    }

    /// The answers to the lines of a request.
    fn answers(&self, answer: &HttpAnswer) -> Result<Vec<LineAnswer>, SessionErrorKind> {
        if let Some(answers) = self.http.answers(&answer.body) {
            return Ok(answers);
        }
        if answer.is_success()
            && let Some(refusal) = self.http.refusal(&answer.body)
        {
            let request = Text::plain(format!("POST {}", self.http.path));
            return Err(self.refused(&request, &refusal));
        }
        if !answer.is_success() {
            return Err(SessionErrorKind::HttpStatus {
                method: Method::Post,
                path: self.http.path.clone(),
                status: answer.status,
                message: self.client.render_message(answer),
            });
        }
        Err(SessionErrorKind::UnexpectedAnswer {
            command: format!("POST {}", self.http.path),
            reason: "it has no answers to the lines".to_owned(),
            output: self.client.mask(&excerpt(&answer.body)),
        })
    }

    /// Sends reads in one request, and those behind a refused optional read in the next.
    async fn read_all(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<String>, SessionErrorKind> {
        let entry = self.lines_to(self.rules.read_mode)?;
        let mut texts = Vec::new();
        while texts.len() < requests.len() {
            let rest = &requests[texts.len()..];
            let mut lines = entry.clone();
            lines.extend(rest.iter().map(|request| RequestLine {
                line: Text::plain(&request.command),
                text: None,
            }));
            let answer = self.client.read(&self.request(&lines)?).await?;
            let answers = self.answers(&answer)?;
            self.reads += rest.len() as u64;
            for (line, answer) in lines.iter().zip(&answers).take(entry.len()) {
                if let Some(refusal) = &answer.refusal {
                    return Err(self.refused(&line.line, refusal));
                }
            }
            let before = texts.len();
            for (request, answer) in rest.iter().zip(answers.iter().skip(entry.len())) {
                let (text, stops) = self.text_of(request, answer)?;
                texts.push(text);
                if stops {
                    break;
                }
            }
            if texts.len() == before {
                return Err(SessionErrorKind::InvalidAnswer {
                    command: rest[0].command.clone(),
                    reason: "the device did not answer it".to_owned(),
                });
            }
        }
        Ok(texts)
    }

    /// The text of a valid answer to a read, and whether the device stopped there.
    fn text_of(
        &self,
        request: &ReadRequest,
        answer: &LineAnswer,
    ) -> Result<(String, bool), SessionErrorKind> {
        let line = Text::plain(&request.command);
        if let Some(refusal) = &answer.refusal {
            let mut lines = refusal
                .lines()
                .filter_map(|one| self.rules.message_class(one));
            let is_denied =
                |class| matches!(class, MessageClass::Authorization | MessageClass::Fatal);
            return if request.optional && !lines.any(is_denied) {
                Ok((String::new(), true))
            } else {
                Err(self.refused(&line, refusal))
            };
        }
        let printed = as_printed(answer, self.rules.read_mode);
        match Classification::read_refusal(&self.rules, &printed) {
            Some(Refusal::Error {
                class: MessageClass::Command,
                ..
            }) if request.optional => return Ok((String::new(), false)),
            Some(_) => return Err(self.refused(&line, &answer.output)),
            None => {}
        }
        match request.answer.check(&answer.output) {
            Ok(()) => Ok((answer.output.clone(), false)),
            Err(error) => Err(SessionErrorKind::UnexpectedAnswer {
                command: request.command.clone(),
                reason: error.to_string(),
                output: self.client.mask(&excerpt(&answer.output)),
            }),
        }
    }

    fn refused(&self, line: &Text, output: &str) -> SessionErrorKind {
        SessionErrorKind::CommandRefused {
            command: self.client.mask(&line.to_string()),
            output: self.client.mask(output.trim()),
        }
    }

    /// Sends the lines of operations in one request.
    async fn write(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        let started = clock::instant();
        let all = |outcome: Outcome| {
            let mut results = vec![OperationResult::new(outcome, started.elapsed())];
            results.resize_with(operations.len(), OperationResult::not_sent);
            results
        };
        let refused = |message: String| all(Outcome::Refused { message });
        let Some(config) = self.rules.config_mode else {
            return refused("this platform has no configuration mode".to_owned());
        };
        let entry = match self.lines_to(config) {
            Ok(entry) => entry,
            Err(kind) => return refused(kind.to_string()),
        };
        let Some(mut sent) = ConfigLines::of(operations, &self.rules) else {
            return refused("a command line accepts only lines".to_owned());
        };
        if let Some(candidate) = &self.rules.candidate {
            sent.end_with(self.commit_lines(candidate), operations.len() - 1);
        }
        let mut lines = entry.clone();
        lines.extend(sent.lines.iter().map(|(line, _)| line.clone()));
        let request = match self.request(&lines) {
            Ok(request) => request,
            Err(kind) => return refused(kind.to_string()),
        };
        self.writes += operations.len() as u64;
        let answer = self.client.send(&request, None).await;
        let answers = answer.and_then(|answer| self.answers(&answer));
        let answers = match answers {
            Ok(answers) => answers,
            // A request that was refused as a whole has sent no line.
            Err(
                kind @ (SessionErrorKind::CommandRefused { .. } | SessionErrorKind::Fenced { .. }),
            ) => return refused(kind.to_string()),
            Err(
                kind @ SessionErrorKind::HttpStatus {
                    status: 400..500, ..
                },
            ) if !matches!(kind, SessionErrorKind::HttpStatus { status: 408, .. }) => {
                return refused(kind.to_string());
            }
            Err(kind) => {
                let reason = kind.to_string();
                let cause = UnknownCause::NoAnswer;
                self.broken = Some(kind);
                let unknown = || Outcome::Unknown {
                    reason: reason.clone(),
                    cause,
                };
                let results = operations.iter();
                let results = results.map(|_| OperationResult::new(unknown(), started.elapsed()));
                return results.collect();
            }
        };
        for (line, answer) in entry.iter().zip(&answers) {
            if let Some(refusal) = &answer.refusal {
                let kind = self.refused(&line.line, refusal);
                return refused(kind.to_string());
            }
        }
        let answers = answers.get(entry.len()..).unwrap_or_default();
        let outcomes = self.outcomes(operations.len(), &sent.lines, answers);
        let took = started.elapsed();
        outcomes
            .into_iter()
            .map(|outcome| match outcome {
                Some(outcome) => OperationResult::new(outcome, took),
                None => OperationResult::not_sent(),
            })
            .collect()
    }

    /// The outcomes of operations; `None`: not sent.
    fn outcomes(
        &self,
        count: usize,
        lines: &[(RequestLine, LineOwner)],
        answers: &[LineAnswer],
    ) -> Vec<Option<Outcome>> {
        let mut outcomes: Vec<Option<Outcome>> = vec![None; count];
        let mut has_refusal = false;
        // The mode of later lines is not known after a mode that was not entered.
        let mut lost: Option<String> = None;
        for (index, (line, owner)) in lines.iter().enumerate() {
            let Some(operation) = owner.operation else {
                continue;
            };
            let text = self.client.mask(&line.line.to_string());
            let outcome = match (answers.get(index), &lost) {
                (None, _) if has_refusal => continue,
                (None, _) => Outcome::Unknown {
                    reason: format!("the device did not answer `{text}`"),
                    cause: UnknownCause::NoAnswer,
                },
                (Some(_), Some(mode)) => Outcome::Unknown {
                    reason: format!("`{mode}` was refused, and the device went on with `{text}`"),
                    cause: UnknownCause::UnlistedMessage,
                },
                (Some(answer), None) => self.outcome(line, owner, answer),
            };
            if matches!(outcome, Outcome::Refused { .. }) {
                has_refusal = true;
                if owner.enters {
                    lost = Some(text);
                }
            }
            match &mut outcomes[operation] {
                Some(Outcome::Done { messages }) => match outcome {
                    Outcome::Done { messages: more } => messages.extend(more),
                    other => outcomes[operation] = Some(other),
                },
                Some(_) => {}
                none => *none = Some(outcome),
            }
        }
        outcomes
    }

    /// The outcome of one line.
    fn outcome(&self, line: &RequestLine, owner: &LineOwner, answer: &LineAnswer) -> Outcome {
        if let Some(refusal) = &answer.refusal {
            let message = self.client.mask(refusal.trim());
            return Outcome::Refused { message };
        }
        let command = Command::line(line.line.clone());
        let printed = as_printed(answer, self.rules.read_mode);
        let found = Classification::new(&self.rules, &command, &printed);
        let messages: Vec<String> = found
            .messages
            .iter()
            .map(|message| self.client.mask(message))
            .collect();
        match found.refusal {
            Some(Refusal::Error { message, .. } | Refusal::Question(message)) => {
                let message = self.client.mask(&message);
                Outcome::Refused { message }
            }
            // Modes of one kind look alike: an unknown message may be a refusal.
            _ if owner.enters && found.has_unknown_messages => Outcome::Refused {
                message: messages.join("; "),
            },
            _ if found.is_unclear => Outcome::Unknown {
                reason: format!(
                    "the device answered `{}`: {}",
                    self.client.mask(&line.line.to_string()),
                    messages.join("; ")
                ),
                cause: UnknownCause::UnlistedMessage,
            },
            _ => Outcome::Done { messages },
        }
    }

    /// The commands that commit the candidate, instead of the one that leaves the configuration.
    fn commit_lines(&self, candidate: &CandidateRules) -> Vec<String> {
        let confirm = candidate.confirm.as_ref();
        let commit = confirm.map_or(&candidate.commit, |confirm| &confirm.commit);
        let lines = candidate.check.iter().chain([commit]);
        lines.map(|line| self.candidate_name.fill(line)).collect()
    }

    /// Discards the candidate if the device refused one of its lines: none of them took effect.
    async fn end_candidate(&mut self, results: &mut [OperationResult]) {
        let rules = Arc::clone(&self.rules);
        let Some(candidate) = &rules.candidate else {
            return;
        };
        if self.broken.is_some() {
            return;
        }
        let is_done = |result: &OperationResult| matches!(result.outcome, Outcome::Done { .. });
        if results.iter().all(is_done) {
            self.is_unconfirmed = candidate.confirm.is_some();
            if !self.is_unconfirmed {
                self.candidate_name.advance();
            }
            return;
        }
        let abort = self.candidate_name.fill(&candidate.abort);
        if let Some(config) = rules.config_mode
            && let Err(kind) = self.send_commands(config, &[abort]).await
        {
            self.broken = Some(kind);
        }
        self.candidate_name.advance();
        for result in results.iter_mut().filter(|result| is_done(result)) {
            result.outcome = Outcome::NotSent;
        }
    }

    /// Confirms a commit, or restores the configuration before it.
    async fn end_confirmed_commit(&mut self, keep: bool) -> Result<(), SessionErrorKind> {
        self.is_unconfirmed = false;
        let rules = Arc::clone(&self.rules);
        let candidate = rules.candidate.as_ref();
        let Some(confirm) = candidate.and_then(|candidate| candidate.confirm.as_ref()) else {
            return Ok(());
        };
        let lines = confirm.end(keep).iter();
        let lines: Vec<String> = lines.map(|line| self.candidate_name.fill(line)).collect();
        self.send_commands(rules.read_mode, &lines).await?;
        self.candidate_name.advance();
        Ok(())
    }

    /// Sends commands in a mode.
    async fn send_commands(
        &mut self,
        mode: ModeId,
        commands: &[String],
    ) -> Result<(), SessionErrorKind> {
        let mut lines = self.lines_to(mode)?;
        lines.extend(commands.iter().map(|command| RequestLine {
            line: Text::plain(command),
            text: None,
        }));
        let answer = self.client.send(&self.request(&lines)?, None).await?;
        let answers = self.answers(&answer)?;
        for (line, answer) in lines.iter().zip(&answers) {
            if let Some(refusal) = &answer.refusal {
                return Err(self.refused(&line.line, refusal));
            }
        }
        Ok(())
    }

    async fn save_now(&mut self) -> Result<String, SessionErrorKind> {
        let rules = Arc::clone(&self.rules);
        let entry = self.lines_to(rules.read_mode)?;
        let mut lines = entry.clone();
        lines.extend(rules.save.iter().map(|step| RequestLine {
            line: Text::plain(&step.send),
            text: None,
        }));
        let answer = self.client.send(&self.request(&lines)?, None).await?;
        let answers = self.answers(&answer)?;
        let mut texts = Vec::new();
        for (step, answer) in rules.save.iter().zip(answers.iter().skip(entry.len())) {
            let line = Text::plain(&step.send);
            let is_expected = |pattern: &crate::pattern::Pattern| pattern.is_match(&answer.output);
            match &answer.refusal {
                Some(_) if step.optional => break,
                Some(refusal) => return Err(self.refused(&line, refusal)),
                None if !step.expect.as_ref().is_none_or(is_expected) => {
                    return Err(self.refused(&line, &answer.output));
                }
                None => texts.push(self.client.mask(answer.output.trim())),
            }
        }
        if answers.len() < lines.len() && answers.iter().all(|one| one.refusal.is_none()) {
            return Err(SessionErrorKind::InvalidAnswer {
                command: lines[answers.len()].line.to_string(),
                reason: "the device did not answer it".to_owned(),
            });
        }
        Ok(texts.join("; "))
    }

    fn error(&self, kind: SessionErrorKind) -> SessionError {
        SessionError::new(self.device.clone(), kind)
    }
}

/// The output of a line as a terminal shows it.
fn as_printed(answer: &LineAnswer, mode: ModeId) -> Answer {
    Answer {
        output: answer.output.lines().map(str::to_owned).collect(),
        log_positions: Vec::new(),
        prompt: Prompt {
            mode,
            text: String::new(),
        },
        questions: Vec::new(),
        secret: SecretState::NotRequested,
        is_consumed: false,
        body_accepted: true,
        prompt_width: 0,
    }
}

#[async_trait]
impl Session for LineSession {
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError> {
        let result = match &self.broken {
            Some(broken) => Err(broken.clone()),
            None => self.read_all(requests).await,
        };
        result.map_err(|kind| self.error(kind))
    }

    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        if self.access == Access::ReadOnly || self.broken.is_some() || operations.is_empty() {
            let mut results = Vec::new();
            results.resize_with(operations.len(), OperationResult::not_sent);
            return results;
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
        self.is_unconfirmed && self.broken.is_none()
    }

    async fn confirm(&mut self, keep: bool) -> Result<(), SessionError> {
        let result = self.end_confirmed_commit(keep).await;
        result.map_err(|kind| self.error(kind))
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        let result = match &self.broken {
            Some(broken) => Err(broken.clone()),
            None => self.save_now().await,
        };
        result.map_err(|kind| self.error(kind))
    }

    async fn close(&mut self) -> Vec<String> {
        let limit = self.client.close_limit();
        let notes = self.client.end(limit).await;
        self.client.close_tunnel(limit).await;
        notes
    }

    fn notes(&self) -> Vec<String> {
        self.client.notes()
    }

    fn host_key(&self) -> Option<String> {
        self.client.certificate()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            round_trips: self.client.round_trips(),
            writes: self.writes,
            reads: self.reads,
            login: self.login,
        }
    }
}
