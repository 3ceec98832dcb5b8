//! Opening a session.

use super::cli::{CliSession, Terminal};
use super::error::{SessionError, SessionErrorKind};
use super::rest::RestSession;
use super::target::Target;
use super::{Access, Session, ssh};
use crate::dialogue::{Dialect, Protocol};

/// Connects to a device, checks that it is the one, logs in and makes ready.
///
/// # Errors
/// Everything that [`SessionErrorKind`] knows. A login is tried once.
///
/// # Cancellation
/// May be dropped; the connection ends.
pub async fn open(
    target: &Target,
    protocol: &Protocol,
    access: Access,
) -> Result<Box<dyn Session>, SessionError> {
    let opened = open_kind(target, protocol, access).await;
    opened.map_err(|kind| SessionError::new(&target.device, kind))
}

async fn open_kind(
    target: &Target,
    protocol: &Protocol,
    access: Access,
) -> Result<Box<dyn Session>, SessionErrorKind> {
    match &protocol.dialect {
        Dialect::Cli(rules) => {
            let (stream, connection) = ssh::connect(target, rules.port).await?;
            let terminal = Terminal {
                stream: Box::new(stream),
                end: connection.end_reason(),
                connection: Some(connection),
            };
            let may = (access, protocol.reads.as_slice());
            let session = CliSession::open(target, terminal, rules, may).await?;
            Ok(Box::new(session))
        }
        Dialect::Rest(rules) => Ok(Box::new(RestSession::open(target, rules, access).await?)),
    }
}
