//! A terminal session: echo, prompts, modes and answers.

use std::sync::{Arc, Mutex};

use switchtender_outline::CommandLine;

use super::configuration::{LineEffect, StructuralConfiguration};
use crate::control::{ExchangeLog, lock};
use crate::fault::{FaultDecision, FaultKind, FaultPlan};
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
    pub(crate) faults: Arc<Mutex<FaultPlan>>,
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
    /// A fault has silenced the session.
    is_silent: bool,
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
            is_silent: false,
        }
    }

    /// Begins in another mode than that of reads.
    pub(crate) fn begin_in(&mut self, mode: usize) {
        self.mode = mode;
    }

    /// Executes a line that no terminal sends.
    ///
    /// # Errors
    /// The message of a refused line.
    pub(crate) fn execute(&mut self, line: &str) -> Result<String, String> {
        let mode = self.shared.command_line.modes[self.mode].name.clone();
        let decision = lock(&self.shared.faults).decide(line);
        let answer = self.answer_with_faults(line, &decision);
        let log = &self.shared.log;
        log.record(self.connection, &mode, line.to_owned(), &answer, None);
        let is_refused = decision.has(FaultKind::Refuse);
        if is_refused || answer == self.shared.command_line.refusal {
            Err(answer)
        } else {
            Ok(answer)
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
            let decision = lock(&self.shared.faults).decide(line);
            if decision.has(FaultKind::DropAfter) {
                self.ending = ConnectionState::Cut;
                return;
            }
            if decision.has(FaultKind::StallAfter) {
                self.is_silent = true;
                return;
            }
            let answer = self.answer_with_faults(line, &decision);
            if decision.has(FaultKind::DropUnanswered) {
                self.ending = ConnectionState::Cut;
                return;
            }
            let log = &self.shared.log;
            log.record(self.connection, &mode, line.to_owned(), &answer, None);
            self.print(&answer);
        }
        if self.ending == ConnectionState::Open {
            self.prompt();
        }
    }

    /// The output of a line that a fault may refuse or discard.
    fn answer_with_faults(&mut self, line: &str, decision: &FaultDecision) -> String {
        if let Some(message) = decision.message(FaultKind::Refuse) {
            let refusal = &self.shared.command_line.refusal;
            return message.unwrap_or(refusal).to_owned();
        }
        if decision.has(FaultKind::LostWrite) {
            return String::new();
        }
        let answer = self.answer(line);
        match decision.message(FaultKind::UnlistedAnswer) {
            Some(message) => message.unwrap_or_default().to_owned(),
            None => answer,
        }
    }

    /// Whether a line changes modes or ends the session, and is none of the configuration.
    fn is_of_session(&self, line: &str, rules: &CommandLine) -> bool {
        let transitions = rules.modes.iter().flat_map(|mode| &mode.transitions);
        let mut others = transitions.map(|(send, _)| send).chain(&rules.close);
        others.any(|other| has_words(other, line))
            && !lock(&self.shared.configuration).has_shape(&self.headers, line)
    }

    /// Executes a line. Returns its output.
    fn answer(&mut self, line: &str) -> String {
        let rules = self.shared.command_line.clone();
        let transition = rules.modes[self.mode]
            .transitions
            .iter()
            .find(|(send, _)| has_words(send, line));
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
        // Outside of the configuration, a commit has the name of its candidate.
        let is_commit = |command: &String| {
            has_words(command, line) && (is_configuration || command.contains('{'))
        };
        if rules.commit.iter().any(is_commit) {
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
        if is_configuration && !self.is_of_session(line, &rules) && self.configure(line, &rules) {
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
        let is_command =
            |commands: &[String]| commands.iter().any(|command| has_words(command, line));
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
        let is_in_text = configuration.text_end(&self.headers).is_some();
        if rules.direct_sub_modes && !is_in_text && !configuration.is_header(&self.headers, line) {
            let outside = (0..self.headers.len())
                .rev()
                .find(|depth| configuration.is_header(&self.headers[..*depth], line));
            self.headers.truncate(outside.unwrap_or(self.headers.len()));
        }
        match configuration.apply(&self.headers, line) {
            LineEffect::Applied => true,
            LineEffect::Refused => false,
            LineEffect::Left => {
                self.headers.pop();
                if self.headers.is_empty() {
                    self.mode = rules.config_mode;
                }
                true
            }
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
        let hostname = self.shared.command_line.hostname.as_ref();
        let hostname = hostname.and_then(|(_, initial)| {
            let current = lock(&self.shared.configuration).hostname()?;
            Some(prompt.replacen(initial, &current, 1))
        });
        self.out
            .extend(hostname.as_deref().unwrap_or(prompt).bytes());
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

/// Whether a line has the words of a command; `{candidate}` stands for any word.
fn has_words(command: &str, line: &str) -> bool {
    let (mut words, mut found) = (command.split(' '), line.split(' '));
    loop {
        match (words.next(), found.next()) {
            (None, None) => return true,
            (Some(word), Some(found)) if word == found || word.starts_with('{') => {}
            _ => return false,
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
