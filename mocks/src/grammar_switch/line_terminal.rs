//! A session over SSH: echo, pages and faults.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::config_editor::LineRefusal;
use super::device_state::GrammarDevice;
use super::line_session::{LineAnswer, LineSession, OutputForm};
use crate::control::{ExchangeLog, lock};
use crate::fault::{FaultDecision, FaultKind, FaultPlan};
use crate::terminal::{ConnectionState, Terminal, TerminalOutput};

/// Data that all sessions of a device share.
#[derive(Debug, Clone)]
pub(super) struct GrammarContext {
    pub(super) device: Arc<Mutex<GrammarDevice>>,
    pub(super) faults: Arc<Mutex<FaultPlan>>,
    pub(super) log: ExchangeLog,
}

/// A session whose lines faults can affect.
#[derive(Debug)]
pub(super) struct FaultySession {
    shared: GrammarContext,
    connection: u64,
    pub(super) session: LineSession,
}

impl FaultySession {
    pub(super) fn new(shared: GrammarContext, connection: u64) -> Self {
        Self {
            session: LineSession::new(shared.device.clone()),
            shared,
            connection,
        }
    }

    fn decide(&self, line: &str) -> FaultDecision {
        lock(&self.shared.faults).decide(line)
    }

    /// Executes a line, with the faults that change its answer or effect.
    pub(super) fn execute(
        &mut self,
        line: &str,
        form: OutputForm,
        decision: &FaultDecision,
    ) -> LineAnswer {
        let mode = self.session.mode_name().to_owned();
        let answer = self.answer(line, form, decision);
        let log = &self.shared.log;
        log.record(self.connection, &mode, line.to_owned(), &answer.text, None);
        answer
    }

    fn answer(&mut self, line: &str, form: OutputForm, decision: &FaultDecision) -> LineAnswer {
        if let Some(message) = decision.message(FaultKind::Refuse) {
            let text = message.unwrap_or("% Error").to_owned();
            return LineAnswer {
                text: format!("{text}\n"),
                refusal: Some(LineRefusal::Message(text)),
                ..LineAnswer::default()
            };
        }
        let before = decision.has(FaultKind::LostWrite).then(|| {
            let device = lock(&self.shared.device);
            (device.running.clone(), device.candidates.clone())
        });
        let mut answer = self.session.execute(line, form);
        if let Some((running, candidates)) = before {
            let mut device = lock(&self.shared.device);
            device.running = running;
            device.candidates = candidates;
        }
        if let Some(message) = decision.message(FaultKind::UnlistedAnswer) {
            answer.text = format!("{}\n", message.unwrap_or_default());
        }
        answer
    }

    /// Executes a line of a request.
    pub(super) fn request(&mut self, line: &str, form: OutputForm) -> LineAnswer {
        let decision = self.decide(line);
        self.execute(line, form, &decision)
    }
}

/// A terminal.
#[derive(Debug)]
pub(super) struct LineTerminal {
    session: FaultySession,
    line: Vec<u8>,
    after_return: bool,
    /// Lines behind the page that is printed.
    rest: VecDeque<String>,
    out: Vec<u8>,
    ending: ConnectionState,
    /// A fault has silenced the session.
    is_silent: bool,
}

impl LineTerminal {
    pub(super) fn new(shared: GrammarContext, connection: u64, user: &str) -> Self {
        lock(&shared.device)
            .terminals
            .occupy(Some(connection), user);
        let mut session = FaultySession::new(shared.clone(), connection);
        session.session.connection = Some(connection);
        Self {
            session,
            line: Vec::new(),
            after_return: false,
            rest: VecDeque::new(),
            out: Vec::new(),
            ending: ConnectionState::Open,
            is_silent: false,
        }
    }

    fn key(&mut self, byte: u8) {
        // A line feed can follow a carriage return and belongs to it.
        let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        if byte == b'\n' && follows_return {
            return;
        }
        if !self.rest.is_empty() {
            return self.page_key(byte);
        }
        match byte {
            b'\r' | b'\n' => {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                self.out.extend(b"\r\n");
                self.finished(line.trim_end());
            }
            0x08 | 0x7f => {
                if self.line.pop().is_some() {
                    self.out.extend(b"\x08 \x08");
                }
            }
            0x03 => {
                self.line.clear();
                self.out.extend(b"^C\r\n");
                self.prompt();
            }
            0x1a => {
                self.line.clear();
                self.out.extend(b"^Z\r\n");
                self.finished("end");
            }
            byte if byte < b' ' => {}
            byte => {
                self.line.push(byte);
                self.out.push(byte);
            }
        }
    }

    fn finished(&mut self, line: &str) {
        let decision = self.session.decide(line);
        if decision.has(FaultKind::DropAfter) {
            self.ending = ConnectionState::Cut;
            return;
        }
        if decision.has(FaultKind::StallAfter) {
            self.is_silent = true;
            return;
        }
        let answer = self.session.execute(line, OutputForm::Text, &decision);
        if decision.has(FaultKind::DropUnanswered) {
            self.ending = ConnectionState::Cut;
            return;
        }
        if answer.closes {
            self.ending = ConnectionState::Close;
            return;
        }
        self.rest = answer.text.lines().map(str::to_owned).collect();
        let length = self.session.session.page_length;
        self.page(length.saturating_sub(1));
    }

    /// Prints a number of lines, then the question for more or the prompt.
    fn page(&mut self, count: usize) {
        let is_all = self.session.session.page_length == 0 || self.rest.len() <= count;
        let count = if is_all { self.rest.len() } else { count };
        for line in self.rest.drain(..count) {
            self.out.extend(line.bytes());
            self.out.extend(b"\r\n");
        }
        if self.rest.is_empty() {
            self.prompt();
        } else {
            let question = self.session.session.pager().to_owned();
            self.out.extend(question.bytes());
        }
    }

    fn page_key(&mut self, byte: u8) {
        let width = self.session.session.pager().len();
        self.out.push(b'\r');
        self.out.extend(std::iter::repeat_n(b' ', width));
        self.out.push(b'\r');
        match byte {
            b' ' => self.page(self.session.session.page_length.saturating_sub(1)),
            b'\r' | b'\n' => self.page(1),
            _ => {
                self.rest.clear();
                self.prompt();
            }
        }
    }

    fn prompt(&mut self) {
        self.out.extend(self.session.session.prompt().bytes());
    }

    fn take(&mut self) -> TerminalOutput {
        if self.is_silent {
            self.out.clear();
        }
        TerminalOutput {
            bytes: std::mem::take(&mut self.out),
            ending: self.ending,
            endless: None,
            deferral: None,
        }
    }
}

impl Terminal for LineTerminal {
    fn greet(&mut self) -> TerminalOutput {
        self.out.extend(b"\r\n");
        self.prompt();
        self.take()
    }

    fn feed(&mut self, bytes: &[u8]) -> TerminalOutput {
        let FaultySession {
            shared, connection, ..
        } = &self.session;
        if lock(&shared.device).terminals.line(*connection).is_none() {
            self.ending = ConnectionState::Cut;
        }
        for byte in bytes {
            if self.ending != ConnectionState::Open || self.is_silent {
                break;
            }
            self.key(*byte);
        }
        self.take()
    }

    /// No command is ever deferred.
    fn resume(&mut self) -> TerminalOutput {
        self.take()
    }
}

impl Drop for LineTerminal {
    fn drop(&mut self) {
        let in_order = self.ending == ConnectionState::Close;
        let FaultySession {
            shared, connection, ..
        } = &self.session;
        lock(&shared.device)
            .terminals
            .release(*connection, in_order);
    }
}
