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
use super::guard::Permitted;
use super::mask::Mask;
use super::transcript::Transcript;
use crate::dialogue::rules::Window;
use crate::dialogue::{Answer, Dialogue, Event, Input};
use crate::secret::Text;

/// Both directions of a terminal.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Why a connection ended, where the transport has learnt it.
pub(super) type EndReason = Arc<OnceLock<String>>;

/// A pause after which what stands there is looked at again.
const QUIET: Duration = Duration::from_secs(1);
/// Quiet pauses before a login without a prompt gets an empty line.
const PAUSES_BEFORE_KNOCKING: u32 = 2;
/// An answer longer than this is no answer.
const ANSWER_LIMIT: usize = 64 << 20;
/// Most bytes that are received at once.
const PIECE: usize = 16 << 10;

/// A terminal with a dialogue on it.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    pub dialogue: Dialogue,
    pub mask: Mask,
    pub transcript: Transcript,
    end: EndReason,
    window: Window,
    newline: String,
    /// For one line, counted from the last byte received.
    limit: Duration,
    /// Times that we waited after having written something.
    pub round_trips: u64,
    /// Something was written since we last waited.
    wrote: bool,
    /// What came last.
    buffer: Vec<u8>,
}

/// A line and what the device answered to it.
#[derive(Debug)]
pub(super) struct Answered {
    pub input: Input,
    pub answer: Answer,
    pub took: Duration,
}

/// What became of the lines of one burst.
#[derive(Debug, Default)]
pub(super) struct Burst {
    pub answered: Vec<Answered>,
    /// Lines that were written and not answered.
    pub unanswered: usize,
    /// Why not all were answered.
    pub failure: Option<SessionErrorKind>,
}

/// Lines that were written, when, and their bytes.
type Waiting = VecDeque<(Input, Instant, usize)>;

fn take(waiting: &mut Waiting, answer: Answer) -> Answered {
    let (input, since, _) = waiting.pop_front().expect("answers are to written lines");
    Answered {
        input,
        answer,
        took: since.elapsed(),
    }
}

pub(super) struct WireOptions {
    pub end: EndReason,
    pub window: Window,
    pub newline: String,
    pub limit: Duration,
}

impl Wire {
    pub fn new(
        stream: Box<dyn Stream>,
        dialogue: Dialogue,
        (mask, transcript): (Mask, Transcript),
        options: WireOptions,
    ) -> Self {
        Self {
            stream,
            dialogue,
            mask,
            transcript,
            end: options.end,
            window: options.window,
            newline: options.newline,
            limit: options.limit,
            round_trips: 0,
            wrote: false,
            buffer: Vec::with_capacity(PIECE),
        }
    }

    /// Waits for the first prompt. A device that says nothing gets one empty line.
    pub async fn greeting(&mut self) -> Result<Answer, SessionErrorKind> {
        self.wrote = true;
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
                    if pauses == PAUSES_BEFORE_KNOCKING {
                        let newline = Text::plain(&self.newline);
                        self.write(&newline).await?;
                    }
                    self.dialogue.quiet()
                }
            };
            for event in events {
                match event {
                    Event::Answered(answer) => return Ok(answer),
                    Event::Write(text) => self.write(&text).await?,
                }
            }
            self.check(last_byte)?;
        }
    }

    /// Writes lines, as many at once as the window allows, and collects their answers. When `go_on`
    /// says no to an answer, nothing further is written.
    ///
    /// # Cancellation
    /// Must not be dropped midway; each wait has a limit.
    pub async fn burst(
        &mut self,
        lines: Vec<Permitted>,
        mut go_on: impl FnMut(&Input, &Answer) -> bool + Send,
    ) -> Burst {
        let mut burst = Burst::default();
        let mut waiting = Waiting::new();
        let mut lines = lines.into_iter().peekable();
        let mut stopped = false;
        let mut last_byte = Instant::now();
        loop {
            let mut bytes = Text::new();
            // Refilling line by line would make a round trip of each.
            let refill = waiting.len() <= self.window.lines / 2;
            while refill && !stopped && lines.peek().is_some() && self.has_room(&waiting) {
                let Some(line) = lines.next() else { break };
                let input = line.into_input();
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
                Ok(None) => self.dialogue.quiet(),
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
                        let answered = take(&mut waiting, answer);
                        stopped |= !go_on(&answered.input, &answered.answer);
                        burst.answered.push(answered);
                    }
                }
            }
            if !waiting.is_empty()
                && burst.failure.is_none()
                && let Err(failure) = self.check(last_byte)
            {
                burst.failure = Some(failure);
            }
            if burst.failure.is_some() {
                break;
            }
        }
        if let Some(failure) = &mut burst.failure {
            for event in self.dialogue.settle() {
                if let Event::Answered(answer) = event {
                    burst.answered.push(take(&mut waiting, answer));
                }
            }
            if let SessionErrorKind::Dropped { command, .. } = failure {
                *command = self.command();
            }
        }
        burst.unanswered = waiting.len();
        burst
    }

    /// Writes a last line and waits until the other side ends the connection, or a moment.
    pub async fn farewell(&mut self, line: Permitted, limit: Duration) {
        let text = self.dialogue.send(line.into_input());
        if self.write(&text).await.is_err() {
            return;
        }
        let until_end = async { while self.receive().await.is_ok() {} };
        // Whatever happens here, the connection is closed next.
        let _ = timeout(limit, until_end).await;
        let _ = timeout(limit, self.stream.shutdown()).await;
    }

    fn has_room(&self, waiting: &Waiting) -> bool {
        let bytes: usize = waiting.iter().map(|(_, _, bytes)| bytes).sum();
        waiting.is_empty() || waiting.len() < self.window.lines && bytes < self.window.bytes
    }

    async fn write(&mut self, text: &Text) -> Result<(), SessionErrorKind> {
        self.transcript.sent(&text.to_string(), &self.mask);
        self.wrote = true;
        let revealed = text.reveal();
        let written = async {
            self.stream.write_all(revealed.as_bytes()).await?;
            self.stream.flush().await
        };
        match timeout(self.limit, written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.dropped(&error.to_string())),
            Err(_) => Err(self.silence()),
        }
    }

    /// Bytes, turned into events; `None` after a pause without any.
    async fn receive(&mut self) -> Result<Option<Vec<Event>>, SessionErrorKind> {
        self.round_trips += u64::from(std::mem::take(&mut self.wrote));
        let pause = QUIET.min(self.limit);
        self.buffer.clear();
        match timeout(pause, self.stream.read_buf(&mut self.buffer)).await {
            Err(_) => return Ok(None),
            Ok(Err(error)) => return Err(self.dropped(&error.to_string())),
            Ok(Ok(0)) => return Err(self.dropped("the device closed it")),
            Ok(Ok(_)) => {}
        }
        self.transcript.received(&self.buffer, &self.mask);
        let events = self.dialogue.receive(&self.buffer);
        if self.dialogue.held() > ANSWER_LIMIT {
            return Err(SessionErrorKind::Garbage {
                command: self.command(),
                why: format!("more than {} MiB without a prompt", ANSWER_LIMIT >> 20),
            });
        }
        Ok(Some(events))
    }

    fn check(&self, last_byte: Instant) -> Result<(), SessionErrorKind> {
        if last_byte.elapsed() < self.limit {
            Ok(())
        } else {
            Err(self.silence())
        }
    }

    fn silence(&self) -> SessionErrorKind {
        SessionErrorKind::Silence {
            command: self.command(),
            limit: self.limit,
            tail: self.mask.apply(&self.dialogue.tail()),
        }
    }

    fn dropped(&self, why: &str) -> SessionErrorKind {
        SessionErrorKind::Dropped {
            command: self.command(),
            why: self.end.get().map_or(why, String::as_str).to_owned(),
        }
    }

    /// The line under way, masked.
    fn command(&self) -> String {
        self.dialogue
            .awaited()
            .map(|line| self.mask.apply(&line.to_string()))
            .unwrap_or_default()
    }
}
