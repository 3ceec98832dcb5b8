//! Opening a session.

use std::sync::Arc;

use super::cli::CliSession;
use super::connect_params::ConnectParams;
use super::deadline::LoginEnd;
use super::error::{SessionError, SessionErrorKind};
use super::netconf::NetconfSession;
use super::recorder::{Recorder, RecordingSession};
use super::rest::{LineSession, RestSession};
use super::ssh::{self, Channel};
use super::terminal::Terminal;
use super::{Access, Session};
use crate::dialogue::{CliRules, Dialect, LineTransport, NetconfRules, Protocol};
use crate::read::ReadRequest;

/// Connects to a device, verifies its key or certificate, logs in and prepares the session.
///
/// # Errors
/// Any [`SessionErrorKind`]. A login is tried once.
///
/// # Cancellation
/// May be dropped; the connection ends.
pub async fn open(
    target: &ConnectParams,
    protocol: &Protocol,
    access: Access,
) -> Result<Box<dyn Session>, SessionError> {
    let (session, _) = open_and_read(target, protocol, access, &[]).await?;
    Ok(session)
}

/// As [`open`], with the answers to the first reads, which need no additional round trip.
///
/// # Errors
/// As [`open`], or a read failed; then the session is closed.
///
/// # Cancellation
/// May be dropped; the connection ends.
pub async fn open_and_read(
    target: &ConnectParams,
    protocol: &Protocol,
    access: Access,
    reads: &[ReadRequest],
) -> Result<(Box<dyn Session>, Vec<String>), SessionError> {
    let recorder = target.recording.as_ref();
    let recorder = recorder.map(|file| Recorder::create(file, protocol, &target.mask));
    let recorder = recorder.transpose();
    let recorder = recorder.map_err(|kind| SessionError::new(&target.device, kind))?;
    let opened = open_without_recorder(target, protocol, access, reads).await;
    let Some(mut recorder) = recorder else {
        return opened;
    };
    let (inner, texts) = opened?;
    for (request, text) in reads.iter().zip(&texts) {
        recorder.read(request, text);
    }
    Ok((Box::new(RecordingSession { inner, recorder }), texts))
}

async fn open_without_recorder(
    target: &ConnectParams,
    protocol: &Protocol,
    access: Access,
    reads: &[ReadRequest],
) -> Result<(Box<dyn Session>, Vec<String>), SessionError> {
    let failed = |kind| SessionError::new(&target.device, kind);
    match &protocol.dialect {
        Dialect::Cli(rules) if target.transport == LineTransport::Http => {
            let http = rules.http.as_ref().ok_or_else(|| failed(no_requests()))?;
            let permissions = (access, protocol.reads.as_slice());
            let opened = LineSession::open(target, rules, http, permissions).await;
            with_first_reads(Box::new(opened.map_err(failed)?), reads).await
        }
        Dialect::Cli(rules) => {
            let opened = open_cli(target, rules, (access, protocol.reads.as_slice()), reads).await;
            let (session, texts) = opened.map_err(failed)?;
            Ok((Box::new(session), texts))
        }
        Dialect::Rest(rules) => {
            let opened = RestSession::open(target, rules, access).await;
            with_first_reads(Box::new(opened.map_err(failed)?), reads).await
        }
        Dialect::Netconf(rules) => {
            let opened = open_netconf(target, rules, access).await;
            with_first_reads(Box::new(opened.map_err(failed)?), reads).await
        }
    }
}

fn no_requests() -> SessionErrorKind {
    SessionErrorKind::InvalidAnswer {
        command: String::new(),
        reason: "the platform does not declare command lines in requests".to_owned(),
    }
}

async fn with_first_reads(
    mut session: Box<dyn Session>,
    reads: &[ReadRequest],
) -> Result<(Box<dyn Session>, Vec<String>), SessionError> {
    match session.read(reads).await {
        Ok(texts) => Ok((session, texts)),
        Err(error) => {
            session.close().await;
            Err(error)
        }
    }
}

async fn open_netconf(
    target: &ConnectParams,
    rules: &Arc<NetconfRules>,
    access: Access,
) -> Result<NetconfSession, SessionErrorKind> {
    let login_end = LoginEnd::after(target.limits.login.unwrap_or(rules.limits.login));
    let channel = Channel::Subsystem("netconf");
    let terminal = connect(target, (rules.port, channel), login_end).await?;
    NetconfSession::open(target, terminal, rules, access, login_end).await
}

/// Connects by SSH and opens a channel.
async fn connect(
    target: &ConnectParams,
    (port, channel): (u16, Channel),
    login_end: LoginEnd,
) -> Result<Terminal, SessionErrorKind> {
    let connecting = ssh::connect(target, port, channel);
    let connected = target.deadline.within(login_end.at, connecting).await;
    let (stream, connection) = connected.map_err(|end| login_end.error(end, String::new()))??;
    Ok(Terminal {
        stream,
        close_reason: connection.close_reason(),
        connection: connection.into(),
    })
}

async fn open_cli(
    target: &ConnectParams,
    rules: &Arc<CliRules>,
    permissions: (Access, &[String]),
    reads: &[ReadRequest],
) -> Result<(CliSession, Vec<String>), SessionErrorKind> {
    let with_hostname = target.prompt.as_ref();
    let with_hostname = with_hostname.map(|hostname| Arc::new(rules.with_hostname(hostname)));
    let rules = with_hostname.as_ref().unwrap_or(rules);
    let login_end = LoginEnd::after(target.limits.login.unwrap_or(rules.limits.login));
    let terminal = connect(target, (rules.port, Channel::Terminal), login_end).await?;
    CliSession::open(target, terminal, rules, permissions, (reads, login_end)).await
}
