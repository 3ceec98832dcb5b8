//! Opens a subsystem of a device: a channel without a terminal (RFC 4254, section 6.5).

use russh::ChannelMsg;

use super::{SshConnection, handler};
use crate::session::error::SessionErrorKind;
use crate::session::transport::Stream;

/// Opens a channel and requests the subsystem.
///
/// # Cancellation
/// May be dropped; the channel stays unused.
pub(super) async fn open(
    connection: &SshConnection,
    name: &'static str,
) -> Result<Box<dyn Stream>, SessionErrorKind> {
    let failed = |reason: String| SessionErrorKind::NoSubsystem {
        name,
        reason: connection
            .state
            .close_reason
            .get()
            .cloned()
            .unwrap_or(reason),
    };
    let failure = |error: russh::Error| failed(handler::render_error(&error));
    let opening = connection.handle.channel_open_session();
    let mut channel = opening.await.map_err(failure)?;
    let requested = channel.request_subsystem(true, name).await;
    requested.map_err(failure)?;
    loop {
        match channel.wait().await {
            Some(ChannelMsg::Success) => return Ok(Box::new(channel.into_stream())),
            Some(ChannelMsg::Failure) => {
                return Err(failed("the device refused the subsystem".to_owned()));
            }
            Some(ChannelMsg::Eof | ChannelMsg::Close) | None => {
                return Err(failed("the device closed the channel".to_owned()));
            }
            // Data before the reply would be lost: a server sends it after the reply.
            Some(_) => {}
        }
    }
}
