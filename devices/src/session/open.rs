//! Opening a session.

use std::sync::Arc;

use super::cli::{CliSession, Terminal};
use super::connect_params::ConnectParams;
use super::deadline::LoginEnd;
use super::error::{SessionError, SessionErrorKind};
use super::rest::RestSession;
use super::{Access, Session, ssh};
use crate::dialogue::{CliRules, Dialect, Protocol};
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
    let failed = |kind| SessionError::new(&target.device, kind);
    match &protocol.dialect {
        Dialect::Cli(rules) => {
            let opened = open_cli(target, rules, (access, protocol.reads.as_slice()), reads).await;
            let (session, texts) = opened.map_err(failed)?;
            Ok((Box::new(session), texts))
        }
        Dialect::Rest(rules) => {
            let opened = RestSession::open(target, rules, access).await;
            let mut session = opened.map_err(failed)?;
            match session.read(reads).await {
                Ok(texts) => Ok((Box::new(session), texts)),
                Err(error) => {
                    session.close().await;
                    Err(error)
                }
            }
        }
    }
}

async fn open_cli(
    target: &ConnectParams,
    rules: &Arc<CliRules>,
    permissions: (Access, &[String]),
    reads: &[ReadRequest],
) -> Result<(CliSession, Vec<String>), SessionErrorKind> {
    let login_end = LoginEnd::after(target.limits.login.unwrap_or(rules.limits.login));
    let connecting = ssh::connect(target, rules.port);
    let connected = target.deadline.within(login_end.at, connecting).await;
    let (stream, connection) = connected.map_err(|end| login_end.error(end, String::new()))??;
    let terminal = Terminal {
        stream: Box::new(stream),
        close_reason: connection.close_reason(),
        connection: Some(connection),
    };
    CliSession::open(target, terminal, rules, permissions, (reads, login_end)).await
}
