//! The byte stream of a NETCONF session: messages out and in, with limits.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::clock;
use crate::dialogue::netconf::{FrameDecoder, Framing};
use crate::secret::Text;
use crate::session::deadline::{Deadline, WaitEnd};
use crate::session::error::SessionErrorKind;
use crate::session::mask::Mask;
use crate::session::transcript::Transcript;
use crate::session::transport::{CloseReason, Stream};

/// Bytes per read.
const READ_SIZE: usize = 64 << 10;

/// A byte stream and the messages on it.
pub(super) struct NetconfTransport {
    stream: Box<dyn Stream>,
    decoder: FrameDecoder,
    pub(crate) mask: Mask,
    transcript: Transcript,
    close_reason: CloseReason,
    /// Timeout of one message, counted from the last byte received.
    limit: Duration,
    /// Limit of one message, counted from its request.
    message_limit: Duration,
    deadline: Deadline,
    /// The operation without a reply.
    current: String,
    pub(crate) round_trips: u64,
}

impl NetconfTransport {
    pub(crate) fn new(
        stream: Box<dyn Stream>,
        close_reason: CloseReason,
        (mask, transcript): (Mask, Transcript),
        (limit, message_limit): (Duration, Duration),
        deadline: Deadline,
    ) -> Self {
        Self {
            stream,
            decoder: FrameDecoder::new(),
            mask,
            transcript,
            close_reason,
            limit,
            message_limit,
            deadline,
            current: String::new(),
            round_trips: 0,
        }
    }

    /// The framing of all messages after the hello.
    pub(crate) fn set_framing(&mut self, framing: Framing) {
        self.decoder.framing = framing;
    }

    /// Writes a message; `name` is that of its operation in errors.
    pub(crate) async fn send(&mut self, message: Text, name: &str) -> Result<(), SessionErrorKind> {
        name.clone_into(&mut self.current);
        self.mask.add_all(&message);
        self.transcript.sent(&message.to_string(), &self.mask);
        self.round_trips += 1;
        let framed = self.decoder.framing.encode(message).reveal();
        let written = async {
            self.stream.write_all(framed.as_bytes()).await?;
            self.stream.flush().await
        };
        let end = clock::instant() + self.limit;
        match self.deadline.within(end, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.disconnect_error(&error.to_string())),
            Err(end) => Err(self.wait_error(end)),
        }
    }

    /// The next message of the device.
    pub(crate) async fn receive_message(&mut self) -> Result<String, SessionErrorKind> {
        let last = clock::instant() + self.message_limit;
        let mut buffer = Vec::with_capacity(READ_SIZE);
        loop {
            match self.decoder.next_message() {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(error) => {
                    return Err(SessionErrorKind::InvalidAnswer {
                        command: self.current.clone(),
                        reason: error.to_string(),
                    });
                }
            }
            if clock::instant() >= last {
                return Err(SessionErrorKind::CommandLimit {
                    command: self.current.clone(),
                    limit: self.message_limit,
                    last_output: String::new(),
                });
            }
            buffer.clear();
            let read = self.stream.read_buf(&mut buffer);
            let idle = clock::instant() + self.limit;
            match self.deadline.within(idle, read).await {
                Err(end) => return Err(self.wait_error(end)),
                Ok(Err(error)) => return Err(self.disconnect_error(&error.to_string())),
                Ok(Ok(0)) => return Err(self.disconnect_error("the device closed it")),
                Ok(Ok(_)) => {}
            }
            self.transcript.received(&buffer, &self.mask);
            self.decoder.receive(&buffer);
        }
    }

    /// Records an event in the transcript.
    pub(crate) fn note(&mut self, note: &str) {
        self.transcript.note(note, &self.mask);
    }

    /// Whether the run has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.deadline.passed_by().is_some()
    }

    fn wait_error(&self, end: WaitEnd) -> SessionErrorKind {
        let command = self.current.clone();
        match end {
            WaitEnd::Limit => SessionErrorKind::CommandTimeout {
                command,
                limit: self.limit,
                last_output: String::new(),
            },
            WaitEnd::Stopped(cause) => SessionErrorKind::Stopped { command, cause },
        }
    }

    fn disconnect_error(&self, reason: &str) -> SessionErrorKind {
        let closed = self.close_reason.get();
        SessionErrorKind::Disconnected {
            command: self.current.clone(),
            reason: closed.map_or(reason, String::as_str).to_owned(),
        }
    }
}
