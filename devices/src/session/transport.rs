//! The transport of a command line: writes commands to a byte stream and reads answers, with
//! timeouts.
//!
//! The [`Dialogue`] assigns received bytes to commands. Only [`PermittedCommand`]s are written.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

use super::deadline::{Deadline, StopCause, WaitEnd};
use super::error::SessionErrorKind;
use super::fence::Fence;
use super::mask::Mask;
use super::transcript::Transcript;
use super::write_guard::PermittedCommand;
use crate::clock;
use crate::dialogue::cli_rules::Window;
use crate::dialogue::{Answer, Command, Dialogue, Event};
use crate::secret::Text;

/// The byte stream of a terminal.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Why a connection closed, if the SSH library reported it.
pub(super) type CloseReason = Arc<OnceLock<String>>;

/// Interval without received bytes after which the current line is evaluated again.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// Idle intervals before an empty line is sent to a device without a prompt.
const IDLE_INTERVALS_BEFORE_NEWLINE: u32 = 2;
/// Bytes per read.
const READ_SIZE: usize = 4 << 10;

/// A byte stream and the dialogue on it.
pub(super) struct CliTransport {
    stream: Box<dyn Stream>,
    pub(crate) dialogue: Dialogue,
    pub(crate) mask: Mask,
    pub(crate) transcript: Transcript,
    close_reason: CloseReason,
    window: Window,
    newline: String,
    /// Timeout of one command, counted from the last byte received.
    limit: Duration,
    /// Limit of one command, counted from the answer before its own.
    command_limit: Duration,
    deadline: Deadline,
    fence: Arc<dyn Fence>,
    /// Waits for the device after something was written.
    pub(crate) round_trips: u64,
    /// Something was written since the last wait.
    has_written: bool,
    /// Bytes of the last read.
    buffer: Vec<u8>,
}

/// A command and its answer.
#[derive(Debug)]
pub(super) struct AnsweredCommand {
    pub(crate) command: Command,
    pub(crate) answer: Answer,
    pub(crate) duration: Duration,
}

/// The result of a batch of commands.
#[derive(Debug, Default)]
pub(super) struct BatchResult {
    pub(crate) answered: Vec<AnsweredCommand>,
    /// Number of commands that were written and not answered.
    pub(crate) unanswered: usize,
    /// Why some were not answered.
    pub(crate) failure: Option<SessionErrorKind>,
}

/// Commands without an answer, each with the time when it was written and its length.
type SentCommands = VecDeque<(Command, Instant, usize)>;

fn pop_answered(sent: &mut SentCommands, answer: Answer) -> AnsweredCommand {
    let (command, sent_at, _) = sent
        .pop_front()
        .expect("only written commands have answers");
    AnsweredCommand {
        command,
        answer,
        duration: sent_at.elapsed(),
    }
}

pub(super) struct TransportOptions {
    pub(crate) close_reason: CloseReason,
    pub(crate) window: Window,
    pub(crate) newline: String,
    pub(crate) limit: Duration,
    pub(crate) command_limit: Duration,
    pub(crate) deadline: Deadline,
    pub(crate) fence: Arc<dyn Fence>,
}

impl CliTransport {
    pub(crate) fn new(
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
            command_limit: options.command_limit,
            deadline: options.deadline,
            fence: options.fence,
            round_trips: 0,
            has_written: false,
            buffer: Vec::with_capacity(READ_SIZE),
        }
    }

    /// Waits for the first prompt. Sends one empty line if nothing arrives.
    ///
    /// # Cancellation
    /// May be dropped; nothing more can be sent then.
    pub(crate) async fn wait_for_first_prompt(&mut self) -> Result<Answer, SessionErrorKind> {
        self.has_written = true;
        let mut idle_intervals = 0;
        let mut last_byte = clock::instant();
        loop {
            let events = match self.receive().await? {
                Some(events) => {
                    last_byte = clock::instant();
                    idle_intervals = 0;
                    events
                }
                None => {
                    idle_intervals += 1;
                    if idle_intervals == IDLE_INTERVALS_BEFORE_NEWLINE {
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
                    Event::LimitExceeded(reason) => return Err(self.invalid_answer(reason)),
                }
            }
            self.check_idle(last_byte)?;
        }
    }

    /// Writes commands, as many at once as the window allows, and collects their answers. After an
    /// answer for which `go_on` is false nothing more is written, and nothing if the fence refuses it.
    ///
    /// # Cancellation
    /// Must not be dropped midway; each wait has a limit.
    pub(crate) async fn send_batch(
        &mut self,
        commands: Vec<PermittedCommand>,
        mut go_on: impl FnMut(&Command, &Answer) -> bool + Send,
    ) -> BatchResult {
        let mut batch = BatchResult::default();
        let mut sent = SentCommands::new();
        let writes = commands.iter().any(|command| command.writes);
        let mut fenced = None;
        let mut commands = commands.into_iter().peekable();
        let mut stopped = false;
        let mut last_byte = clock::instant();
        let mut last_answer = last_byte;
        loop {
            let mut bytes = Text::new();
            // Refill at half, because single commands would need a round trip each.
            let refill = sent.len() <= self.window.lines / 2;
            if writes
                && refill
                && !stopped
                && let Some(next) = commands.peek()
            {
                fenced = self.fence_error(next.line());
                stopped = fenced.is_some();
            }
            while refill && !stopped && commands.peek().is_some() && self.has_capacity(&sent) {
                let Some(line) = commands.next() else { break };
                let command = line.into_command();
                self.mask.add_all(&command.line);
                for text in &command.body {
                    self.mask.add_all(text);
                }
                let written = self.dialogue.send(command.clone());
                sent.push_back((command, clock::instant(), written.len()));
                bytes.append(written);
            }
            if !bytes.is_empty() {
                last_byte = clock::instant();
                if let Err(failure) = self.write(&bytes).await {
                    batch.failure = Some(failure);
                    break;
                }
            }
            if sent.is_empty() {
                break;
            }
            let events = match self.receive().await {
                Ok(Some(events)) => {
                    last_byte = clock::instant();
                    events
                }
                Ok(None) => self.dialogue.on_idle(),
                Err(failure) => {
                    batch.failure = Some(failure);
                    break;
                }
            };
            for event in events {
                match event {
                    Event::Write(text) => {
                        self.mask.add_all(&text);
                        let refused = (sent.front().filter(|_| writes))
                            .and_then(|(command, ..)| self.fence_error(&command.line));
                        batch.failure = match refused {
                            Some(failure) => Some(failure),
                            None => self.write(&text).await.err(),
                        };
                    }
                    Event::LimitExceeded(reason) => {
                        batch.failure = Some(self.invalid_answer(reason));
                        break;
                    }
                    Event::Answered(answer) => {
                        last_answer = clock::instant();
                        let answered = pop_answered(&mut sent, answer);
                        stopped |= !go_on(&answered.command, &answered.answer);
                        batch.answered.push(answered);
                    }
                }
            }
            if !sent.is_empty()
                && batch.failure.is_none()
                && let Err(failure) = self.check_limits(last_byte, last_answer)
            {
                batch.failure = Some(failure);
            }
            if batch.failure.is_some() {
                break;
            }
        }
        if let Some(failure) = &mut batch.failure {
            for event in self.dialogue.finish_at_end() {
                if let Event::Answered(answer) = event {
                    batch.answered.push(pop_answered(&mut sent, answer));
                }
            }
            if let SessionErrorKind::Disconnected { command, .. } = failure {
                *command = self.current_command();
            }
        }
        batch.unanswered = sent.len();
        batch.failure = batch.failure.or(fenced);
        batch
    }

    /// Why a line may not be written now.
    fn fence_error(&self, line: &Text) -> Option<SessionErrorKind> {
        let error = self.fence.check().err()?;
        let command = self.mask.apply(&line.to_string());
        let reason = error.reason;
        Some(SessionErrorKind::Fenced { command, reason })
    }

    /// Writes the last command and reads until the device closes the connection.
    ///
    /// # Cancellation
    /// May be dropped; nothing more can be sent then.
    pub(crate) async fn send_last(&mut self, line: PermittedCommand) {
        let text = self.dialogue.send(line.into_command());
        if self.write(&text).await.is_ok() {
            while self.read_bytes().await.is_ok() {}
        }
    }

    fn has_capacity(&self, sent: &SentCommands) -> bool {
        let bytes: usize = sent.iter().map(|(_, _, bytes)| bytes).sum();
        sent.is_empty() || sent.len() < self.window.lines && bytes < self.window.bytes
    }

    async fn write(&mut self, text: &Text) -> Result<(), SessionErrorKind> {
        self.transcript.sent(&text.to_string(), &self.mask);
        self.has_written = true;
        let revealed = text.reveal();
        let written = async {
            self.stream.write_all(revealed.as_bytes()).await?;
            self.stream.flush().await
        };
        match self
            .deadline
            .within(clock::instant() + self.limit, written)
            .await
        {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.disconnect_error(&error.to_string())),
            Err(WaitEnd::Limit) => Err(self.timeout_error()),
            Err(WaitEnd::Stopped(cause)) => Err(self.stop_error(cause)),
        }
    }

    /// Reads bytes and returns their events; `None` after an interval without bytes.
    async fn receive(&mut self) -> Result<Option<Vec<Event>>, SessionErrorKind> {
        let is_received = self.read_bytes().await?;
        Ok(is_received.then(|| self.dialogue.receive(&self.buffer)))
    }

    /// Reads bytes into the buffer. Returns false after an interval without bytes.
    async fn read_bytes(&mut self) -> Result<bool, SessionErrorKind> {
        self.round_trips += u64::from(std::mem::take(&mut self.has_written));
        let pause = IDLE_INTERVAL.min(self.limit);
        self.buffer.clear();
        let read = self.stream.read_buf(&mut self.buffer);
        match self.deadline.within(clock::instant() + pause, read).await {
            Err(WaitEnd::Limit) => return Ok(false),
            Err(WaitEnd::Stopped(cause)) => return Err(self.stop_error(cause)),
            Ok(Err(error)) => return Err(self.disconnect_error(&error.to_string())),
            Ok(Ok(0)) => return Err(self.disconnect_error("the device closed it")),
            Ok(Ok(_)) => {}
        }
        self.transcript.received(&self.buffer, &self.mask);
        Ok(true)
    }

    fn check_idle(&self, last_byte: Instant) -> Result<(), SessionErrorKind> {
        if last_byte.elapsed() < self.limit {
            Ok(())
        } else {
            Err(self.timeout_error())
        }
    }

    fn check_limits(
        &self,
        last_byte: Instant,
        last_answer: Instant,
    ) -> Result<(), SessionErrorKind> {
        if last_answer.elapsed() >= self.command_limit {
            return Err(SessionErrorKind::CommandLimit {
                command: self.current_command(),
                limit: self.command_limit,
                last_output: self.last_output(),
            });
        }
        self.check_idle(last_byte)
    }

    /// Whether the run has ended, so that nothing is waited for.
    pub(crate) fn is_stopped(&self) -> bool {
        self.deadline.passed_by().is_some()
    }

    /// The end of the received text, masked.
    pub(crate) fn last_output(&self) -> String {
        self.mask.apply(&self.dialogue.last_output())
    }

    fn invalid_answer(&self, reason: String) -> SessionErrorKind {
        SessionErrorKind::InvalidAnswer {
            command: self.current_command(),
            reason,
        }
    }

    fn stop_error(&self, cause: StopCause) -> SessionErrorKind {
        SessionErrorKind::Stopped {
            command: self.current_command(),
            cause,
        }
    }

    fn timeout_error(&self) -> SessionErrorKind {
        SessionErrorKind::CommandTimeout {
            command: self.current_command(),
            limit: self.limit,
            last_output: self.last_output(),
        }
    }

    fn disconnect_error(&self, reason: &str) -> SessionErrorKind {
        SessionErrorKind::Disconnected {
            command: self.current_command(),
            reason: self
                .close_reason
                .get()
                .map_or(reason, String::as_str)
                .to_owned(),
        }
    }

    /// The command without an answer, masked.
    fn current_command(&self) -> String {
        self.dialogue
            .current_command()
            .map(|line| self.mask.apply(&line.to_string()))
            .unwrap_or_default()
    }
}
