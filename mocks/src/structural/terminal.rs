//! A terminal session: echo, prompts, modes and answers.

use std::sync::{Arc, Mutex};

use super::CommandLine;
use super::configuration::{LineEffect, StructuralConfiguration};
use crate::control::{ExchangeLog, lock};
use crate::replay_script::SharedScript;
use crate::terminal::{ConnectionState, Terminal, TerminalOutput};

/// Data that all sessions of a device share.
#[derive(Debug, Clone)]
pub(crate) struct TerminalContext {
    pub(crate) command_line: Arc<CommandLine>,
    pub(crate) configuration: Arc<Mutex<StructuralConfiguration>>,
    /// Recorded answers, which replace those of the configuration.
    pub(crate) script: Option<SharedScript>,
    pub(crate) log: ExchangeLog,
}

/// A terminal session.
#[derive(Debug)]
pub(crate) struct StructuralTerminal {
    shared: TerminalContext,
    connection: u64,
    mode: usize,
    /// The headers of the blocks of the mode, outermost first.
    headers: Vec<String>,
    line: Vec<u8>,
    after_return: bool,
    out: Vec<u8>,
    ending: ConnectionState,
}

impl StructuralTerminal {
    pub(crate) fn new(shared: TerminalContext, connection: u64) -> Self {
        Self {
            mode: shared.command_line.read_mode,
            shared,
            connection,
            headers: Vec::new(),
            line: Vec::new(),
            after_return: false,
            out: Vec::new(),
            ending: ConnectionState::Open,
        }
    }

    fn key(&mut self, byte: u8) {
        // A line feed can follow a carriage return and belongs to it.
        let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if follows_return => {}
            b'\r' | b'\n' => {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                self.out.extend(b"\r\n");
                self.finished(line.trim());
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
            byte if byte < b' ' => {}
            byte => {
                self.line.push(byte);
                self.out.push(byte);
            }
        }
    }

    /// Answers a complete line.
    fn finished(&mut self, line: &str) {
        if !line.is_empty() {
            let mode = self.shared.command_line.modes[self.mode].name.clone();
            let answer = self.answer(line);
            let log = &self.shared.log;
            log.record(self.connection, &mode, line.to_owned(), &answer, None);
            self.print(&answer);
        }
        if self.ending == ConnectionState::Open {
            self.prompt();
        }
    }

    /// Executes a line. Returns its output.
    fn answer(&mut self, line: &str) -> String {
        let rules = self.shared.command_line.clone();
        let transition = rules.modes[self.mode]
            .transitions
            .iter()
            .find(|(send, _)| send == line);
        if let Some((_, to)) = transition {
            self.change_mode(*to, &rules);
            return String::new();
        }
        let is_configuration = self.mode == rules.config_mode || Some(self.mode) == rules.sub_mode;
        if let Some(script) = self.shared.script.clone() {
            return self.replay(line, &rules, is_configuration, &script);
        }
        if self.mode == rules.read_mode {
            if line == rules.config_command {
                return lock(&self.shared.configuration).text();
            }
            if rules.close.iter().any(|command| command == line) {
                self.ending = ConnectionState::Close;
                return String::new();
            }
        }
        if is_configuration && rules.commit.iter().any(|command| command == line) {
            lock(&self.shared.configuration).commit();
            return String::new();
        }
        if is_configuration && rules.abort.as_deref() == Some(line) {
            lock(&self.shared.configuration).discard();
            return String::new();
        }
        if let Some((_, output)) = rules.answers.iter().find(|(command, _)| command == line) {
            return output.clone();
        }
        if is_configuration && self.configure(line, &rules) {
            return String::new();
        }
        rules.refusal.clone()
    }

    /// The recorded answer to a line. Lines of blocks change the mode.
    fn replay(
        &mut self,
        line: &str,
        rules: &CommandLine,
        is_configuration: bool,
        script: &SharedScript,
    ) -> String {
        let recorded = lock(script).answer(line);
        let is_command = |commands: &[String]| commands.iter().any(|command| command == line);
        if self.mode == rules.read_mode && is_command(&rules.close) {
            self.ending = ConnectionState::Close;
            return String::new();
        }
        let of_session = rules.answers.iter().find(|(command, _)| command == line);
        match (recorded, of_session) {
            (Some(recorded), _) if recorded.is_refusal => match recorded.answer.trim() {
                "" => rules.refusal.clone(),
                message => message.to_owned(),
            },
            (Some(recorded), _) => {
                if is_configuration {
                    self.configure(line, rules);
                }
                recorded.answer
            }
            (None, Some((_, output))) => output.clone(),
            (None, None) if is_command(&rules.commit) || rules.abort.as_deref() == Some(line) => {
                String::new()
            }
            (None, None) => {
                lock(script).depart(line);
                rules.refusal.clone()
            }
        }
    }

    /// Goes to another mode. From a block, the mode of lines outside of blocks is the block around it.
    fn change_mode(&mut self, to: usize, rules: &CommandLine) {
        let leaves_block = Some(self.mode) == rules.sub_mode && to == rules.config_mode;
        if leaves_block {
            self.headers.pop();
        } else {
            self.headers.clear();
        }
        if self.headers.is_empty() {
            self.mode = to;
        }
    }

    /// Applies a line of the configuration. Returns whether it is one.
    fn configure(&mut self, line: &str, rules: &CommandLine) -> bool {
        let mut configuration = lock(&self.shared.configuration);
        if rules.direct_sub_modes && !configuration.is_header(&self.headers, line) {
            let outside = (0..self.headers.len())
                .rev()
                .find(|depth| configuration.is_header(&self.headers[..*depth], line));
            self.headers.truncate(outside.unwrap_or(self.headers.len()));
        }
        match configuration.apply(&self.headers, line) {
            LineEffect::Applied => true,
            LineEffect::Refused => false,
            LineEffect::Entered(headers) => {
                self.headers = headers;
                self.mode = rules.sub_mode.unwrap_or(rules.config_mode);
                true
            }
        }
    }

    fn print(&mut self, text: &str) {
        for line in text.lines() {
            self.out.extend(line.bytes());
            self.out.extend(b"\r\n");
        }
    }

    fn prompt(&mut self) {
        let prompt = &self.shared.command_line.modes[self.mode].prompt;
        self.out.extend(prompt.bytes());
    }

    fn take(&mut self) -> TerminalOutput {
        TerminalOutput {
            bytes: std::mem::take(&mut self.out),
            ending: self.ending,
            endless: None,
            deferral: None,
        }
    }
}

impl Terminal for StructuralTerminal {
    fn greet(&mut self) -> TerminalOutput {
        self.out.extend(b"\r\n");
        self.prompt();
        self.take()
    }

    fn feed(&mut self, bytes: &[u8]) -> TerminalOutput {
        for byte in bytes {
            if self.ending != ConnectionState::Open {
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
