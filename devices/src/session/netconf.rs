//! A NETCONF session over SSH.
//!
//! Edits go to the candidate configuration if the device has one: they are validated and committed
//! together, or discarded. A read-only session sends only operations that read.

mod committing;
mod locking;
#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "test servers end with their runtime"
)]
mod tests;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::ExposeSecret as _;

use self::committing::CommitProtection;
use self::locking::DatastoreLock;
use self::transport::NetconfTransport;
use super::connect_params::ConnectParams;
use super::deadline::LoginEnd;
use super::error::{SessionError, SessionErrorKind};
use super::fence::Fence;
use super::ledger::{ListedSession, LockWait, SessionLedger};
use super::mask::Mask;
use super::terminal::{CLOSE_TIMEOUT, SessionConnection, Terminal};
use super::transcript::Transcript;
use super::write_guard::{permits_operation, writes};
use super::{Access, RevertLimit, RevertMethod, Session, Statistics, TimerState};
use crate::clock;
use crate::dialogue::NetconfRules;
use crate::dialogue::netconf::{
    Capability, Framing, Reply, ServerHello, client_hello, operation_name, rpc,
};
use crate::operation::{Operation, OperationResult};
use crate::read::ReadRequest;
use crate::read::answer_rule::excerpt;
use crate::secret::Text;

/// A NETCONF session.
pub(super) struct NetconfSession {
    device: String,
    rules: Arc<NetconfRules>,
    transport: NetconfTransport,
    server: ServerHello,
    access: Access,
    fence: Arc<dyn Fence>,
    user: String,
    ledger: Arc<dyn SessionLedger>,
    lock_wait: LockWait,
    /// This session in the ledger.
    recorded: Option<ListedSession>,
    next_id: u64,
    /// The last commit is not confirmed yet.
    unconfirmed: bool,
    lock: DatastoreLock,
    /// The commits of the session are confirmed or reverted together.
    protection: CommitProtection,
    statistics: Statistics,
    /// Why the session ended.
    broken: Option<SessionErrorKind>,
    connection: SessionConnection,
}

/// The reply to an operation, and its text.
struct RpcAnswer {
    text: String,
    reply: Reply,
}

impl NetconfSession {
    /// Exchanges the hello messages.
    ///
    /// # Cancellation
    /// May be dropped; the connection ends.
    pub(super) async fn open(
        target: &ConnectParams,
        terminal: Terminal,
        rules: &Arc<NetconfRules>,
        access: Access,
        login_end: LoginEnd,
    ) -> Result<Self, SessionErrorKind> {
        let started = clock::instant();
        let mut mask = Mask::new(&rules.secrets, &target.mask);
        for secret in &target.secrets() {
            mask.add(secret.expose_secret());
        }
        let transcript = Transcript::create(target.transcript.as_deref(), &target.mask)?;
        let mut transport = NetconfTransport::new(
            terminal.stream,
            terminal.close_reason,
            (mask, transcript),
            (
                target.command_timeout,
                target.limits.command.unwrap_or(rules.limits.command),
            ),
            target.deadline.clone(),
        );
        let greeting = async {
            transport.send(client_hello(), HELLO).await?;
            transport.receive_message().await
        };
        let text = match target.deadline.within(login_end.at, greeting).await {
            Ok(text) => text?,
            Err(end) => return Err(login_end.error(end, String::new())),
        };
        let server = ServerHello::read(&text).map_err(|error| SessionErrorKind::InvalidAnswer {
            command: HELLO.to_owned(),
            reason: error.to_string(),
        })?;
        if server.has(Capability::Base11) {
            transport.set_framing(Framing::Chunked);
        }
        let statistics = Statistics {
            login: started.elapsed(),
            ..Statistics::default()
        };
        Ok(Self {
            device: target.device.clone(),
            rules: Arc::clone(rules),
            transport,
            server,
            access,
            fence: Arc::clone(&target.fence),
            user: target.user.clone(),
            ledger: Arc::clone(&target.ledger),
            lock_wait: target.lock_wait,
            recorded: None,
            next_id: 1,
            unconfirmed: false,
            lock: DatastoreLock::NotRequested,
            protection: CommitProtection::None,
            statistics,
            broken: None,
            connection: terminal.connection,
        })
    }

    /// Sends an operation and waits for its reply. Errors of the device are a part of the reply.
    async fn send(&mut self, operation: Text) -> Result<RpcAnswer, SessionErrorKind> {
        let revealed = operation.reveal();
        let name = operation_name(&revealed).unwrap_or_default();
        if !permits_operation(self.access, &name) {
            return Err(SessionErrorKind::ReadOnly { command: name });
        }
        if writes(&name)
            && let Err(error) = self.fence.check()
        {
            let kind = SessionErrorKind::Fenced {
                command: name,
                reason: error.reason,
            };
            self.transport.note(&kind.to_string());
            self.broken = Some(kind.clone());
            return Err(kind);
        }
        let id = self.next_id;
        self.next_id += 1;
        match self.exchange(id, rpc(id, operation), &name).await {
            Ok(answer) => Ok(answer),
            Err(kind) => {
                self.transport.note(&kind.to_string());
                self.broken = Some(kind.clone());
                Err(kind)
            }
        }
    }

    async fn exchange(
        &mut self,
        id: u64,
        message: Text,
        name: &str,
    ) -> Result<RpcAnswer, SessionErrorKind> {
        let invalid = |reason: String| SessionErrorKind::InvalidAnswer {
            command: name.to_owned(),
            reason,
        };
        self.transport.send(message, name).await?;
        loop {
            let text = self.transport.receive_message().await?;
            let reply = Reply::read(&text).map_err(|error| invalid(error.to_string()))?;
            // A notification is none.
            let Some(mut reply) = reply else { continue };
            if reply.id.as_deref() != Some(id.to_string().as_str()) {
                let other = reply.id.unwrap_or_else(|| "none".to_owned());
                return Err(invalid(format!(
                    "its message-id is {other} instead of {id}"
                )));
            }
            for line in reply.errors.iter_mut().chain(&mut reply.warnings) {
                *line = self.transport.mask.apply(line);
            }
            return Ok(RpcAnswer { text, reply });
        }
    }

    async fn read_one(&mut self, request: &ReadRequest) -> Result<String, SessionErrorKind> {
        self.statistics.reads += 1;
        let answer = self.send(Text::plain(&request.command)).await?;
        if !answer.reply.errors.is_empty() {
            return if request.optional {
                Ok(String::new())
            } else {
                Err(SessionErrorKind::CommandRefused {
                    command: request.name.clone(),
                    output: answer.reply.errors.join("; "),
                })
            };
        }
        match request.answer.check(&answer.text) {
            Ok(()) => Ok(answer.text),
            Err(error) => Err(SessionErrorKind::UnexpectedAnswer {
                command: request.name.clone(),
                reason: error.to_string(),
                output: self.transport.mask.apply(&excerpt(&answer.text)),
            }),
        }
    }

    /// Sends an operation that must succeed.
    async fn must(&mut self, operation: &str) -> Result<(), SessionErrorKind> {
        let answer = self.send(Text::plain(operation)).await?;
        if answer.reply.errors.is_empty() {
            Ok(())
        } else {
            Err(SessionErrorKind::CommandRefused {
                command: operation_name(operation).unwrap_or_default(),
                output: answer.reply.errors.join("; "),
            })
        }
    }

    fn error(&self, kind: SessionErrorKind) -> SessionError {
        SessionError::new(self.device.clone(), kind)
    }
}

/// The name of the first message in errors.
const HELLO: &str = "hello";
/// Saves the running configuration.
const SAVE: &str =
    "<copy-config><target><startup/></target><source><running/></source></copy-config>";

#[async_trait]
impl Session for NetconfSession {
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError> {
        let locked = match &self.broken {
            Some(broken) => Err(broken.clone()),
            None => self.lock_before_read().await,
        };
        locked.map_err(|kind| self.error(kind))?;
        let mut texts = Vec::new();
        for request in requests {
            if let Some(broken) = &self.broken {
                return Err(self.error(broken.clone()));
            }
            match self.read_one(request).await {
                Ok(text) => texts.push(text),
                Err(kind) => return Err(self.error(kind)),
            }
        }
        Ok(texts)
    }

    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        self.commit_edits(operations).await
    }

    fn commits_together(&self) -> bool {
        self.rules.spans_run && self.server.has(Capability::Candidate)
    }

    fn awaits_confirmation(&self) -> bool {
        self.unconfirmed && self.broken.is_none()
    }

    async fn confirm(&mut self, keep: bool) -> Result<(), SessionError> {
        let result = self.end_confirmed_commit(keep).await;
        result.map_err(|kind| self.error(kind))
    }

    fn revert_limit(&self, method: RevertMethod) -> Option<RevertLimit> {
        let timer = self.confirm_timeout()?;
        let boot = Duration::ZERO;
        (method == RevertMethod::TimedRevert).then_some(RevertLimit { timer, boot })
    }

    async fn protect(&mut self, _: RevertMethod) -> Result<TimerState, SessionError> {
        if self.protection == CommitProtection::None {
            self.protection = CommitProtection::Required;
        }
        Ok(Ok(None))
    }

    async fn end_protection(
        &mut self,
        _: RevertMethod,
        keep: bool,
    ) -> Result<TimerState, SessionError> {
        let result = self.end_protected_commits(keep).await;
        result.map_err(|kind| self.error(kind))?;
        Ok(Ok(None))
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        if let Some(broken) = &self.broken {
            return Err(self.error(broken.clone()));
        }
        if self.server.has(Capability::Startup) {
            let saved = self.must(SAVE).await;
            saved.map_err(|kind| self.error(kind))?;
        }
        Ok(String::new())
    }

    async fn close(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.broken.is_none() && !self.transport.is_stopped() {
            let closing = self.must("<close-session/>");
            match tokio::time::timeout(CLOSE_TIMEOUT, closing).await {
                Ok(Ok(())) => {
                    if let Some(own) = &self.recorded {
                        self.ledger.end(own).await;
                    }
                }
                Ok(Err(kind)) => notes.push(kind.to_string()),
                Err(_) => notes.push(format!(
                    "cannot end the session: no answer within {CLOSE_TIMEOUT:?}"
                )),
            }
        }
        self.connection.close().await;
        notes
    }

    fn notes(&self) -> Vec<String> {
        self.connection.notes()
    }

    fn host_key(&self) -> Option<String> {
        self.connection.host_key()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.connection.facts()
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            round_trips: self.transport.round_trips,
            ..self.statistics
        }
    }
}
