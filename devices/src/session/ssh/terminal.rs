//! Opens the terminal of a device: a channel with a PTY and a shell.

use russh::client::Msg;
use russh::{Channel, ChannelMsg};
use tokio::io::AsyncReadExt as _;

use super::SshConnection;
use super::handler;
use crate::session::error::SessionErrorKind;
use crate::session::transport::Stream;

/// Width of the terminal, so that devices do not wrap lines.
const COLUMNS: u32 = 511;
const TERMINAL: &str = "vt100";

/// Opens a channel and requests both. The replies arrive before the first prompt, so that waiting
/// for them costs no round trip.
///
/// # Cancellation
/// May be dropped; the channel stays unused.
pub(super) async fn open(connection: &SshConnection) -> Result<Box<dyn Stream>, SessionErrorKind> {
    let failed = |reason: String| SessionErrorKind::NoTerminal {
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
    channel
        .request_pty(true, TERMINAL, COLUMNS, 0, 0, 0, &[])
        .await
        .map_err(failure)?;
    channel.request_shell(true).await.map_err(failure)?;
    let output = wait_for_shell(&mut channel).await;
    let output = output.map_err(|error| failed(error.to_string()))?;
    let stream = channel.into_stream();
    if output.is_empty() {
        return Ok(Box::new(stream));
    }
    let (rest, input) = tokio::io::split(stream);
    let output = std::io::Cursor::new(output).chain(rest);
    Ok(Box::new(tokio::io::join(output, input)))
}

/// Why a device starts no shell.
#[derive(Debug, thiserror::Error)]
enum ShellError {
    #[error("the device refused {0}")]
    Refused(&'static str),
    #[error("the device closed the channel instead of opening {0}")]
    Closed(&'static str),
}

/// Waits for the replies to both requests. Returns output that arrives before them: it shows, too,
/// that the shell was started.
async fn wait_for_shell(channel: &mut Channel<Msg>) -> Result<Vec<u8>, ShellError> {
    let mut replies = ["a terminal (PTY)", "a shell"].into_iter();
    let mut requested = replies.next();
    while let Some(object) = requested {
        match channel.wait().await {
            Some(ChannelMsg::Success) => requested = replies.next(),
            Some(ChannelMsg::Failure) => return Err(ShellError::Refused(object)),
            Some(ChannelMsg::Data { data }) => return Ok(data.to_vec()),
            Some(ChannelMsg::Eof | ChannelMsg::Close) | None => {
                return Err(ShellError::Closed(object));
            }
            Some(_) => {}
        }
    }
    Ok(Vec::new())
}
