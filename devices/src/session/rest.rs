//! A session with a REST interface.
//!
//! Each device has one HTTP client, through an SSH tunnel if it has a jump host. The platform
//! limits concurrent requests. Reads and idempotent requests are repeated if the device is busy or
//! the connection breaks. Other requests are sent once; without an answer their outcome is unknown.
//! A login is never repeated with the same password.

mod client;
mod line_session;
mod request_error;
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "test servers end with their runtime"
)]
mod tests;

mod candidate;
mod certificate_check;
mod credential;
mod pages;
mod parents;
mod route;
mod tasks;
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;
use tokio::task::JoinSet;

use self::client::{ConditionHeader, HttpAnswer, RestClient};
pub(super) use self::line_session::LineSession;
use self::pages::read_pages;
use self::parents::read_parents;
use self::tasks::outcome_of_task;
use self::transaction::members;
use super::connect_params::ConnectParams;
use super::error::{SessionError, SessionErrorKind};
use super::{Access, Session, Statistics};
use crate::clock;
use crate::dialogue::RestRules;
use crate::dialogue::rest_rules::{CONFLICT, RestCandidateRules};
use crate::http::header;
use crate::operation::{
    Action, Method, Operation, OperationResult, Outcome, Precondition, Request, UnknownCause,
};
use crate::read::ReadRequest;
use crate::read::answer_rule::excerpt;
use crate::secret::Text;

/// A logged-in REST client.
pub(super) struct RestSession {
    device: String,
    client: Arc<RestClient>,
    rules: Arc<RestRules>,
    access: Access,
    login: Duration,
    reads: u64,
    writes: u64,
    broken: Option<SessionErrorKind>,
}

impl RestSession {
    /// Logs in for a token if the device has tokens. Otherwise the first read verifies user and
    /// password.
    ///
    /// # Cancellation
    /// May be dropped; a new token expires by itself.
    pub(crate) async fn open(
        target: &ConnectParams,
        rules: &Arc<RestRules>,
        access: Access,
    ) -> Result<Self, SessionErrorKind> {
        let started = clock::instant();
        let client = RestClient::open(target, rules, access).await?;
        Ok(Self {
            device: target.device.clone(),
            client: Arc::new(client),
            rules: Arc::clone(rules),
            access,
            login: started.elapsed(),
            reads: 0,
            writes: 0,
            broken: None,
        })
    }

    async fn read_all(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<String>, SessionErrorKind> {
        let mut reads = JoinSet::new();
        for (index, request) in requests.iter().enumerate() {
            let client = Arc::clone(&self.client);
            let request = request.clone();
            self.reads += 1;
            // The client limits concurrent requests.
            reads.spawn(async move { (index, read_one(&client, &request).await) });
        }
        let mut texts = vec![String::new(); requests.len()];
        let mut failure: Option<(usize, SessionErrorKind)> = None;
        while let Some(joined) = reads.join_next().await {
            let (index, result) = joined.map_err(|error| SessionErrorKind::InvalidAnswer {
                command: String::new(),
                reason: format!("internal error of a read: {error}"),
            })?;
            match result {
                Ok(text) => texts[index] = text,
                // Of several failures, report the first in order.
                Err(kind) if failure.as_ref().is_none_or(|(first, _)| index < *first) => {
                    failure = Some((index, kind));
                }
                Err(_) => {}
            }
        }
        match failure {
            Some((_, kind)) => Err(kind),
            None => Ok(texts),
        }
    }

    /// The header of a conditional request. `None` inside: the object is not as it was read.
    async fn condition(
        &self,
        request: &Request,
    ) -> Result<Option<Option<ConditionHeader>>, SessionErrorKind> {
        let object = match &request.precondition {
            Precondition::None => return Ok(Some(None)),
            Precondition::Missing => {
                return Ok(Some(Some((header::IF_NONE_MATCH, "*".to_owned()))));
            }
            Precondition::SameAnswer(read) => {
                let (read, before) = &**read;
                let answer = read_one(&self.client, read).await?;
                let is_same = serde_json::from_str(&answer).is_ok_and(|now: Json| now == *before);
                return Ok(is_same.then_some(None));
            }
            Precondition::Unchanged(object) => object,
        };
        let get = read_request(&request.path, None);
        let answer = self.client.read(&get).await?;
        let failed = |answer: &HttpAnswer| SessionErrorKind::HttpStatus {
            method: Method::Get,
            path: request.path.clone(),
            status: answer.status,
            message: self.client.render_message(answer),
        };
        if answer.status == NOT_FOUND {
            return Ok(None);
        }
        if !answer.is_success() {
            return Err(failed(&answer));
        }
        if !has_object(&answer.body, object) {
            return Ok(None);
        }
        let tag = answer.etag.ok_or_else(|| SessionErrorKind::InvalidAnswer {
            command: format!("GET {}", request.path),
            reason: "it has no header `ETag`".to_owned(),
        })?;
        Ok(Some(Some((header::IF_MATCH, tag))))
    }

    /// Sends a request under its precondition.
    async fn send(&mut self, request: &Request) -> OperationResult {
        let started = clock::instant();
        let condition = match self.condition(request).await {
            Ok(Some(condition)) => condition,
            Ok(None) => {
                let message = "the object has changed since it was read".to_owned();
                return stale(message, started.elapsed());
            }
            Err(kind) => {
                let message = kind.to_string();
                let outcome = Outcome::Refused { message };
                return OperationResult::new(outcome, started.elapsed());
            }
        };
        let versioned = match self.with_version(request).await {
            Ok(versioned) => versioned,
            Err(message) => {
                let outcome = Outcome::Refused { message };
                return OperationResult::new(outcome, started.elapsed());
            }
        };
        let is_versioned = versioned.is_some();
        let is_stale = |answer: &HttpAnswer| {
            condition.is_some() && answer.status == PRECONDITION_FAILED
                || is_versioned && answer.status == CONFLICT
        };
        let sent = versioned.as_ref().unwrap_or(request);
        let answer = self.client.send(sent, condition.as_ref()).await;
        match answer {
            Ok(answer) if is_stale(&answer) => {
                stale(self.client.render_message(&answer), started.elapsed())
            }
            answer => {
                let task = match (&self.rules.tasks, &answer) {
                    (Some(rules), Ok(answer)) if answer.is_success() => {
                        outcome_of_task(&self.client, rules, answer).await
                    }
                    _ => None,
                };
                let outcome = self.outcome(request, answer);
                OperationResult::new(task.unwrap_or(outcome), started.elapsed())
            }
        }
    }

    /// The request with the number of the configuration, if the platform has one.
    ///
    /// # Errors
    /// Why the number was not read.
    async fn with_version(&self, request: &Request) -> Result<Option<Request>, String> {
        let Some(rules) = &self.rules.version else {
            return Ok(None);
        };
        let read = read_request(&rules.path, None);
        let answer = self.client.read(&read).await;
        let answer = answer.map_err(|kind| kind.to_string())?;
        let path = rules.versioned(&request.path, &answer.body);
        let path = path.filter(|_| answer.is_success());
        let path = path.ok_or_else(|| {
            format!(
                "the answer to `GET {}` has no number of the configuration",
                rules.path
            )
        })?;
        Ok(Some(Request {
            path,
            ..request.clone()
        }))
    }

    fn outcome(
        &mut self,
        request: &Request,
        answer: Result<HttpAnswer, SessionErrorKind>,
    ) -> Outcome {
        self.writes += 1;
        match answer {
            Ok(answer) if answer.is_success() => Outcome::Done {
                messages: Vec::new(),
            },
            // The object was there at the read: the device deleted it with another one, or an earlier
            // try without an answer did.
            Ok(answer) if request.method == Method::Delete && self.client.is_absent(&answer) => {
                Outcome::Done {
                    messages: vec![self.client.render_message(&answer)],
                }
            }
            Ok(answer) if answer.is_unclear_after_write() => {
                let kind = SessionErrorKind::HttpStatus {
                    method: request.method,
                    path: request.path.clone(),
                    status: answer.status,
                    message: self.client.render_message(&answer),
                };
                Outcome::Unknown {
                    reason: kind.to_string(),
                    cause: UnknownCause::Gateway,
                }
            }
            Ok(answer) => Outcome::Refused {
                message: self.client.render_message(&answer),
            },
            Err(kind @ (SessionErrorKind::ReadOnly { .. } | SessionErrorKind::Fenced { .. })) => {
                Outcome::Refused {
                    message: kind.to_string(),
                }
            }
            Err(kind) => {
                let reason = kind.render_for(&format!("{} {}", request.method, request.path));
                // Only a refused login ends the session; the client can connect again.
                if matches!(kind, SessionErrorKind::LoginRefused { .. }) {
                    self.broken = Some(kind);
                }
                Outcome::Unknown {
                    reason,
                    cause: UnknownCause::NoAnswer,
                }
            }
        }
    }
}

const NOT_FOUND: u16 = 404;
const PRECONDITION_FAILED: u16 = 412;
/// The read of a path, by a `POST` if it has a body.
fn read_request(path: &str, body: Option<&str>) -> Request {
    Request {
        method: match body {
            Some(_) => Method::Post,
            None => Method::Get,
        },
        path: path.to_owned(),
        body: body.map(Text::plain),
        abridged: None,
        is_file: false,
        idempotent: true,
        precondition: Precondition::None,
    }
}

/// The result of a request whose precondition is false.
fn stale(message: String, took: Duration) -> OperationResult {
    OperationResult {
        is_stale: true,
        ..OperationResult::new(Outcome::Refused { message }, took)
    }
}

/// Whether an answer is an object, or has it in an envelope.
fn has_object(answer: &str, object: &Json) -> bool {
    fn is_in(json: &Json, object: &Json) -> bool {
        json == object
            || match json {
                Json::Array(items) => items.iter().any(|item| is_in(item, object)),
                Json::Object(fields) => fields.values().any(|one| is_in(one, object)),
                _ => false,
            }
    }
    serde_json::from_str(answer).is_ok_and(|answer| is_in(&answer, object))
}

async fn read_one(
    client: &Arc<RestClient>,
    request: &ReadRequest,
) -> Result<String, SessionErrorKind> {
    match &request.parents {
        Some(parents) => read_parents(client, request, parents).await,
        None => read_collection(client, request).await,
    }
}

async fn read_collection(
    client: &RestClient,
    request: &ReadRequest,
) -> Result<String, SessionErrorKind> {
    if let (Some(rules), Some(rows), None) = (client.pages(), request.answer.rows(), &request.body)
    {
        return read_pages(client, request, rules, rows.outermost()).await;
    }
    let answer = read_page(client, request, &request.command).await?;
    Ok(answer.map(|answer| answer.body).unwrap_or_default())
}

/// The valid answer to a read, or to a part of it; `None` if there is nothing at the path.
async fn read_page(
    client: &RestClient,
    request: &ReadRequest,
    path: &str,
) -> Result<Option<HttpAnswer>, SessionErrorKind> {
    let sent = read_request(path, request.body.as_deref());
    let answer: HttpAnswer = client.read(&sent).await?;
    if answer.is_success() {
        return match request.answer.check(&answer.body) {
            Ok(()) => Ok(Some(answer)),
            Err(error) => Err(SessionErrorKind::UnexpectedAnswer {
                command: format!("{} {}", sent.method, sent.path),
                reason: error.to_string(),
                output: client.mask(&excerpt(&answer.body)),
            }),
        };
    }
    if request.optional && answer.status == NOT_FOUND {
        return Ok(None);
    }
    Err(SessionErrorKind::HttpStatus {
        method: sent.method,
        path: sent.path,
        status: answer.status,
        message: client.render_message(&answer),
    })
}

#[async_trait]
impl Session for RestSession {
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError> {
        let result = match &self.broken {
            Some(broken) => Err(broken.clone()),
            None => self.read_all(requests).await,
        };
        result.map_err(|kind| SessionError::new(self.device.clone(), kind))
    }

    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        if self.access == Access::ReadWrite
            && self.broken.is_none()
            && let Some(RestCandidateRules::OfChange(rules)) = self.rules.candidate.clone()
            && let Some(requests) = members(operations)
        {
            return self.commit_together(&rules, &requests).await;
        }
        let mut results = Vec::new();
        for operation in operations {
            if self.access == Access::ReadOnly || self.broken.is_some() {
                break;
            }
            let result = match &operation.action {
                Action::Request(request) => self.send(request).await,
                Action::Line(_) | Action::Edit(_) => {
                    let message = "a REST interface accepts only requests";
                    let message = message.to_owned();
                    OperationResult::new(Outcome::Refused { message }, Duration::ZERO)
                }
            };
            let done = matches!(result.outcome, Outcome::Done { .. });
            results.push(result);
            if !done {
                break;
            }
        }
        results.resize_with(operations.len(), OperationResult::not_sent);
        if let Some(RestCandidateRules::OfUser(rules)) = self.rules.candidate.clone() {
            self.end_candidate(&rules, &mut results).await;
        }
        results
    }

    fn commits_together(&self) -> bool {
        let candidate = self.rules.candidate.as_ref();
        candidate.is_some_and(RestCandidateRules::spans_run)
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        let Some(request) = self.rules.save.clone() else {
            return Ok(String::new());
        };
        let result = self.client.send(&request, None).await.and_then(|answer| {
            if answer.is_success() {
                return Ok(self.client.render_message(&answer));
            }
            Err(SessionErrorKind::HttpStatus {
                method: request.method,
                path: request.path.clone(),
                status: answer.status,
                message: self.client.render_message(&answer),
            })
        });
        result.map_err(|kind| SessionError::new(self.device.clone(), kind))
    }

    async fn close(&mut self) -> Vec<String> {
        let limit = self.client.close_limit();
        let notes = self.client.end(limit).await;
        // Completed reads have released the client.
        if let Some(client) = Arc::get_mut(&mut self.client) {
            client.close_tunnel(limit).await;
        }
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
