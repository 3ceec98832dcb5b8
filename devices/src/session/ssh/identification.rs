//! Recognizes servers of other protocols by their first bytes (RFC 4253, section 4.2): an SSH server
//! sends a line that begins with `SSH-2.0-` or `SSH-1.99-`, possibly after other lines of text.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a server sent before its identification.
#[derive(Debug, Default)]
pub(super) struct Identification(Mutex<IdentificationState>);

#[derive(Debug, Default)]
struct IdentificationState {
    /// The first bytes.
    start: Vec<u8>,
    /// The server sent its identification.
    is_ssh: bool,
}

/// Stored bytes of an answer without identification.
const START_LIMIT: usize = 1024;
/// Bytes of the answer in messages.
const EXCERPT_BYTES: usize = 60;

impl Identification {
    /// Whether the server sent its identification.
    pub(super) fn is_ssh(&self) -> bool {
        self.state().is_ssh
    }

    /// The answer of a server that sent something else, for a message.
    pub(super) fn other_answer(&self) -> Option<String> {
        let state = self.state();
        if state.is_ssh || state.start.is_empty() {
            return None;
        }
        let mut lines = state.start.split(|byte| *byte == b'\n');
        let line = lines.find(|line| !line.trim_ascii().is_empty())?;
        let line = line.trim_ascii();
        let text = line[..line.len().min(EXCERPT_BYTES)].escape_ascii();
        Some(match binary_protocol(&state.start) {
            Some(name) => format!("{name} (\"{text}\")"),
            None => format!("\"{text}\""),
        })
    }

    /// Adds received bytes. Returns whether the server cannot be an SSH server.
    fn add(&self, bytes: &[u8]) -> bool {
        let mut state = self.state();
        if state.is_ssh {
            return false;
        }
        let free = START_LIMIT - state.start.len();
        state.start.extend(&bytes[..bytes.len().min(free)]);
        let mut lines = state.start.split(|byte| *byte == b'\n');
        state.is_ssh = lines.any(|line| SSH.iter().any(|start| line.starts_with(start)));
        !state.is_ssh && (is_other_protocol(&state.start) || state.start.len() == START_LIMIT)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, IdentificationState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const SSH: [&[u8]; 2] = [b"SSH-2.0-", b"SSH-1.99-"];

fn is_other_protocol(start: &[u8]) -> bool {
    let is_version_1 = |line: &[u8]| {
        line.starts_with(b"SSH-1.") && !b"SSH-1.99-".starts_with(&line[..line.len().min(9)])
    };
    start.starts_with(b"HTTP/")
        || start.starts_with(b"<")
        || start.split(|byte| *byte == b'\n').any(is_version_1)
        || binary_protocol(start).is_some()
}

/// The name of a protocol that is no text.
fn binary_protocol(start: &[u8]) -> Option<&'static str> {
    const TELNET_COMMAND: u8 = 0xff;
    const TLS_ALERT: u8 = 0x15;
    const TLS_HANDSHAKE: u8 = 0x16;
    match start {
        [TELNET_COMMAND, ..] => Some("Telnet"),
        [TLS_ALERT | TLS_HANDSHAKE, 3, ..] => Some("TLS"),
        [0..=8, ..] => Some("binary data"),
        _ => None,
    }
}

/// A stream to a server that did not send its identification yet. A read fails as soon as the
/// server cannot be an SSH server.
pub(super) struct IdentifyingStream<S> {
    stream: S,
    identification: Arc<Identification>,
}

impl<S> IdentifyingStream<S> {
    pub(super) fn new(stream: S, identification: &Arc<Identification>) -> Self {
        Self {
            stream,
            identification: Arc::clone(identification),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdentifyingStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        Poll::Ready(if !self.identification.add(&buffer.filled()[before..]) {
            Ok(())
        } else {
            Err(io::ErrorKind::InvalidData.into())
        })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdentifyingStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identification_is_recognized_byte_by_byte() {
        let cases: [(&[u8], bool, bool); 9] = [
            (b"SSH-2.0-Cisco-1.25\r\n", true, false),
            (b"SSH-1.99-Cisco-1.25\r\n", true, false),
            (b"Authorized users only\r\nSSH-2.0-x\r\n", true, false),
            (b"SSH-1.5-Cisco-1.25\r\n", false, true),
            (b"HTTP/1.1 400 Bad Request\r\n", false, true),
            (b"<html>", false, true),
            (b"\xff\xfd\x18\xff\xfd\x20", false, true),
            (b"\x15\x03\x01\x00\x02\x02\x46", false, true),
            // Text may precede the identification.
            (b"220 ftp.example ready\r\n", false, false),
        ];
        for (bytes, is_ssh, is_other) in cases {
            let name = bytes.escape_ascii();
            let identification = Identification::default();
            let refused = bytes.iter().any(|byte| identification.add(&[*byte]));
            assert_eq!(refused, is_other, "{name}");
            assert_eq!(identification.is_ssh(), is_ssh, "{name}");
            assert_eq!(identification.other_answer().is_some(), !is_ssh, "{name}");
        }
        let identification = Identification::default();
        assert!(identification.add(&[b'x'; 2 * START_LIMIT]));
    }
}
