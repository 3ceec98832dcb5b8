//! A session with a REST interface: the only place that knows reqwest.
//!
//! One HTTP client per device, through an SSH connection to a jump host where there is one, at most
//! so many requests at once as the platform bears. Reads, and requests that are declared
//! idempotent, are repeated where the device is busy or the connection breaks; all others are sent
//! once, and a lost answer is told as unknown. A login is never repeated with the same password.

mod client;
mod request_error;
#[cfg(test)]
mod tests;

mod credential;
mod http_options;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::client::{HttpAnswer, RestClient};
use super::connect_params::ConnectParams;
use super::error::{SessionError, SessionErrorKind};
use super::ssh::tunnel::Tunnel;
use super::{Access, Session, Statistics};
use crate::dialogue::RestRules;
use crate::operation::{Action, Method, Operation, OperationResult, Outcome, Request};
use crate::read::ReadRequest;

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
    /// Logs in where the device knows tokens; otherwise the first read shows whether user and
    /// password are right.
    ///
    /// # Cancellation
    /// May be dropped; a token that was just given out expires by itself.
    pub async fn open(
        target: &ConnectParams,
        rules: &Arc<RestRules>,
        access: Access,
    ) -> Result<Self, SessionErrorKind> {
        let began = Instant::now();
        let tunnel = match &target.ssh.jump {
            Some(jump) => {
                let port = target.port.unwrap_or(rules.port);
                Some(Tunnel::open(jump, &target.host, port).await?)
            }
            None => None,
        };
        let client = RestClient::new(target, rules, access, tunnel)?;
        client.log_in().await?;
        Ok(Self {
            device: target.device.clone(),
            client: Arc::new(client),
            rules: Arc::clone(rules),
            access,
            login: began.elapsed(),
            reads: 0,
            writes: 0,
            broken: None,
        })
    }

    async fn read_all(
        &mut self,
        requests: &[ReadRequest],
    ) -> Result<Vec<String>, SessionErrorKind> {
        let mut under_way = JoinSet::new();
        for (index, request) in requests.iter().enumerate() {
            let client = Arc::clone(&self.client);
            let request = request.clone();
            self.reads += 1;
            // The client itself limits how many are on their way at once.
            under_way.spawn(async move { (index, read_one(&client, &request).await) });
        }
        let mut texts = vec![String::new(); requests.len()];
        let mut failure: Option<(usize, SessionErrorKind)> = None;
        while let Some(joined) = under_way.join_next().await {
            let (index, result) = joined.map_err(|error| SessionErrorKind::InvalidAnswer {
                command: String::new(),
                why: format!("a read ended badly: {error}"),
            })?;
            match result {
                Ok(text) => texts[index] = text,
                // Of several failures the first in order is told.
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

    async fn send(&mut self, request: &Request) -> Outcome {
        self.writes += 1;
        match self.client.send(request).await {
            Ok(answer) if answer.is_success() => Outcome::Done {
                messages: Vec::new(),
            },
            // What is to be gone is gone.
            Ok(answer) if request.method == Method::Delete && answer.status == NOT_FOUND => {
                Outcome::Done {
                    messages: vec![self.client.render_message(&answer)],
                }
            }
            Ok(answer) => Outcome::Refused {
                message: self.client.render_message(&answer),
            },
            Err(kind @ SessionErrorKind::ReadOnly { .. }) => Outcome::Refused {
                message: kind.to_string(),
            },
            Err(kind) => {
                let why = kind.to_string();
                // Only a login that was refused ends the session; a connection can be made again.
                if matches!(kind, SessionErrorKind::LoginRefused { .. }) {
                    self.broken = Some(kind);
                }
                Outcome::Unknown { reason: why }
            }
        }
    }
}

const NOT_FOUND: u16 = 404;
/// For logging off at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

async fn read_one(client: &RestClient, request: &ReadRequest) -> Result<String, SessionErrorKind> {
    let get = Request {
        method: Method::Get,
        path: request.command.clone(),
        body: None,
        idempotent: true,
    };
    let answer: HttpAnswer = client.send(&get).await?;
    if answer.is_success() {
        return Ok(answer.body);
    }
    if request.optional && answer.status == NOT_FOUND {
        return Ok(String::new());
    }
    Err(SessionErrorKind::HttpStatus {
        method: Method::Get,
        path: request.command.clone(),
        status: answer.status,
        said: client.render_message(&answer),
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
        let mut results = Vec::new();
        for operation in operations {
            if self.access == Access::ReadOnly || self.broken.is_some() {
                break;
            }
            let since = Instant::now();
            let outcome = match &operation.action {
                Action::Request(request) => self.send(request).await,
                Action::Line(_) => Outcome::Refused {
                    message: "a command line cannot be sent to a REST interface".to_owned(),
                },
            };
            let done = matches!(outcome, Outcome::Done { .. });
            results.push(OperationResult::new(outcome, since.elapsed()));
            if !done {
                break;
            }
        }
        results.resize_with(operations.len(), OperationResult::not_sent);
        results
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        let Some(request) = self.rules.save.clone() else {
            return Ok(String::new());
        };
        let result = self.client.send(&request).await.and_then(|answer| {
            if answer.is_success() {
                return Ok(self.client.render_message(&answer));
            }
            Err(SessionErrorKind::HttpStatus {
                method: request.method,
                path: request.path.clone(),
                status: answer.status,
                said: self.client.render_message(&answer),
            })
        });
        result.map_err(|kind| SessionError::new(self.device.clone(), kind))
    }

    async fn close(&mut self) -> Vec<String> {
        let logged_off = tokio::time::timeout(CLOSE_TIMEOUT, self.client.log_off()).await;
        // Reads that are over let go of the client.
        if let Some(client) = Arc::get_mut(&mut self.client) {
            client.close_tunnel(CLOSE_TIMEOUT).await;
        }
        match logged_off {
            Ok(Ok(())) => Vec::new(),
            Ok(Err(kind)) => vec![format!("logging off failed: {kind}")],
            Err(_) => vec![format!("logging off took more than {CLOSE_TIMEOUT:?}")],
        }
    }

    fn notes(&self) -> Vec<String> {
        self.client.notes()
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
