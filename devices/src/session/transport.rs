//! The pump: lines to a byte stream and answers back, with time limits.
//!
//! Nothing is decided here; the [`Dialogue`] says which bytes are whose answer, and only lines
//! with a permit are written.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use super::error::SessionErrorKind;
use super::mask::Mask;
use super::transcript::Transcript;
use super::write_guard::PermittedCommand;
use crate::dialogue::cli_rules::Window;
use crate::dialogue::{Answer, Command, Dialogue, Event};
use crate::secret::Text;

/// Both directions of a terminal.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Why a connection ended, where the transport has learnt it.
pub(super) type CloseReason = Arc<OnceLock<String>>;

/// A pause after which what stands there is looked at again.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// Quiet pauses before a login without a prompt gets an empty line.
const IDLE_INTERVALS_BEFORE_NEWLINE: u32 = 2;
/// An answer longer than this is no answer.
const ANSWER_LIMIT: usize = 64 << 20;
/// Most bytes that are received at once.
const READ_SIZE: usize = 16 << 10;

/// A terminal with a dialogue on it.
pub(super) struct CliTransport {
    stream: Box<dyn Stream>,
    pub dialogue: Dialogue,
    pub mask: Mask,
    pub transcript: Transcript,
    close_reason: CloseReason,
    window: Window,
    newline: String,
    /// For one line, counted from the last byte received.
    limit: Duration,
    /// Times that we waited after having written something.
    pub round_trips: u64,
    /// Something was written since we last waited.
    has_written: bool,
    /// What came last.
    buffer: Vec<u8>,
}

/// A line and what the device answered to it.
#[derive(Debug)]
pub(super) struct AnsweredCommand {
    pub command: Command,
    pub answer: Answer,
    pub duration: Duration,
}

/// What became of the lines of one burst.
#[derive(Debug, Default)]
pub(super) struct BatchResult {
    pub answered: Vec<AnsweredCommand>,
    /// Lines that were written and not answered.
    pub unanswered: usize,
    /// Why not all were answered.
    pub failure: Option<SessionErrorKind>,
}

/// Lines that were written, when, and their bytes.
type SentCommands = VecDeque<(Command, Instant, usize)>;

fn pop_answered(waiting: &mut SentCommands, answer: Answer) -> AnsweredCommand {
    let (input, since, _) = waiting.pop_front().expect("answers are to written lines");
    AnsweredCommand {
        command: input,
        answer,
        duration: since.elapsed(),
    }
}

pub(super) struct TransportOptions {
    pub close_reason: CloseReason,
    pub window: Window,
    pub newline: String,
    pub limit: Duration,
}

impl CliTransport {
    pub fn new(
        stream: Box<dyn Stream>,
        dialogue: Dialogue,
        (mask, transcript): (Mask, Transcript),
        options: TransportOptions,
    ) -> Self {
        Self {
            stream,
            dialogue,
            mask,
            transcript,
            close_reason: options.close_reason,
            window: options.window,
            newline: options.newline,
            limit: options.limit,
            round_trips: 0,
            has_written: false,
            buffer: Vec::with_capacity(READ_SIZE),
        }
    }

    /// Waits for the first prompt. A device that says nothing gets one empty line.
    pub async fn wait_for_first_prompt(&mut self) -> Result<Answer, SessionErrorKind> {
        self.has_written = true;
        let mut pauses = 0;
        let mut last_byte = Instant::now();
        loop {
            let events = match self.receive().await? {
                Some(events) => {
                    last_byte = Instant::now();
                    pauses = 0;
                    events
                }
                None => {
                    pauses += 1;
                    if pauses == IDLE_INTERVALS_BEFORE_NEWLINE {
                        let newline = Text::plain(&self.newline);
                        self.write(&newline).await?;
                    }
                    self.dialogue.on_idle()
                }
            };
            for event in events {
                match event {
                    Event::Answered(answer) => return Ok(answer),
                    Event::Write(text) => self.write(&text).await?,
                }
            }
            self.check_timeout(last_byte)?;
        }
    }

    /// Writes lines, as many at once as the window allows, and collects their answers. When `go_on`
    /// says no to an answer, nothing further is written.
    ///
    /// # Cancellation
    /// Must not be dropped midway; each wait has a limit.
    pub async fn send_batch(
        &mut self,
        lines: Vec<PermittedCommand>,
        mut go_on: impl FnMut(&Command, &Answer) -> bool + Send,
    ) -> BatchResult {
        let mut burst = BatchResult::default();
        let mut waiting = SentCommands::new();
        let mut lines = lines.into_iter().peekable();
        let mut stopped = false;
        let mut last_byte = Instant::now();
        loop {
            let mut bytes = Text::new();
            // Refilling line by line would make a round trip of each.
            let refill = waiting.len() <= self.window.lines / 2;
            while refill && !stopped && lines.peek().is_some() && self.has_capacity(&waiting) {
                let Some(line) = lines.next() else { break };
                let input = line.into_command();
                self.mask.add_all(&input.line);
                for text in &input.body {
                    self.mask.add_all(text);
                }
                let written = self.dialogue.send(input.clone());
                waiting.push_back((input, Instant::now(), written.len()));
                bytes.append(written);
            }
            if !bytes.is_empty() {
                last_byte = Instant::now();
                if let Err(failure) = self.write(&bytes).await {
                    burst.failure = Some(failure);
                    break;
                }
            }
            if waiting.is_empty() {
                break;
            }
            let events = match self.receive().await {
                Ok(Some(events)) => {
                    last_byte = Instant::now();
                    events
                }
                Ok(None) => self.dialogue.on_idle(),
                Err(failure) => {
                    burst.failure = Some(failure);
                    break;
                }
            };
            for event in events {
                match event {
                    Event::Write(text) => {
                        self.mask.add_all(&text);
                        if let Err(failure) = self.write(&text).await {
                            burst.failure = Some(failure);
                        }
                    }
                    Event::Answered(answer) => {
                        let answered = pop_answered(&mut waiting, answer);
                        stopped |= !go_on(&answered.command, &answered.answer);
                        burst.answered.push(answered);
                    }
                }
            }
            if !waiting.is_empty()
                && burst.failure.is_none()
                && let Err(failure) = self.check_timeout(last_byte)
            {
                burst.failure = Some(failure);
            }
            if burst.failure.is_some() {
                break;
            }
        }
        if let Some(failure) = &mut burst.failure {
            for event in self.dialogue.finish_at_end() {
                if let Event::Answered(answer) = event {
                    burst.answered.push(pop_answered(&mut waiting, answer));
                }
            }
            if let SessionErrorKind::Disconnected { command, .. } = failure {
                *command = self.current_command();
            }
        }
        burst.unanswered = waiting.len();
        burst
    }

    /// Writes a last line and waits until the other side ends the connection, or a moment.
    pub async fn send_last(&mut self, line: PermittedCommand, limit: Duration) {
        let text = self.dialogue.send(line.into_command());
        if self.write(&text).await.is_err() {
            return;
        }
        let until_end = async { while self.receive().await.is_ok() {} };
        // Whatever happens here, the connection is closed next.
        let _ = timeout(limit, until_end).await;
        let _ = timeout(limit, self.stream.shutdown()).await;
    }

    fn has_capacity(&self, waiting: &SentCommands) -> bool {
        let bytes: usize = waiting.iter().map(|(_, _, bytes)| bytes).sum();
        waiting.is_empty() || waiting.len() < self.window.lines && bytes < self.window.bytes
    }

    async fn write(&mut self, text: &Text) -> Result<(), SessionErrorKind> {
        self.transcript.sent(&text.to_string(), &self.mask);
        self.has_written = true;
        let revealed = text.reveal();
        let written = async {
            self.stream.write_all(revealed.as_bytes()).await?;
            self.stream.flush().await
        };
        match timeout(self.limit, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.disconnect_error(&error.to_string())),
            Err(_) => Err(self.timeout_error()),
        }
    }

    /// Bytes, turned into events; `None` after a pause without any.
    async fn receive(&mut self) -> Result<Option<Vec<Event>>, SessionErrorKind> {
        self.round_trips += u64::from(std::mem::take(&mut self.has_written));
        let pause = IDLE_INTERVAL.min(self.limit);
        self.buffer.clear();
        match timeout(pause, self.stream.read_buf(&mut self.buffer)).await {
            Err(_) => return Ok(None),
            Ok(Err(error)) => return Err(self.disconnect_error(&error.to_string())),
            Ok(Ok(0)) => return Err(self.disconnect_error("the device closed it")),
            Ok(Ok(_)) => {}
        }
        self.transcript.received(&self.buffer, &self.mask);
        let events = self.dialogue.receive(&self.buffer);
        if self.dialogue.buffered_bytes() > ANSWER_LIMIT {
            return Err(SessionErrorKind::InvalidAnswer {
                command: self.current_command(),
                why: format!("more than {} MiB without a prompt", ANSWER_LIMIT >> 20),
            });
        }
        Ok(Some(events))
    }

    fn check_timeout(&self, last_byte: Instant) -> Result<(), SessionErrorKind> {
        if last_byte.elapsed() < self.limit {
            Ok(())
        } else {
            Err(self.timeout_error())
        }
    }

    fn timeout_error(&self) -> SessionErrorKind {
        SessionErrorKind::CommandTimeout {
            command: self.current_command(),
            limit: self.limit,
            tail: self.mask.apply(&self.dialogue.last_output()),
        }
    }

    fn disconnect_error(&self, why: &str) -> SessionErrorKind {
        SessionErrorKind::Disconnected {
            command: self.current_command(),
            why: self
                .close_reason
                .get()
                .map_or(why, String::as_str)
                .to_owned(),
        }
    }

    /// The line under way, masked.
    fn current_command(&self) -> String {
        self.dialogue
            .current_command()
            .map(|line| self.mask.apply(&line.to_string()))
            .unwrap_or_default()
    }
}
