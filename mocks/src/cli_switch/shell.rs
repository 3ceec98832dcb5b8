//! One terminal session: bytes in, bytes out. Independent of sockets and SSH.
//!
//! Input can have any number of lines. Each is answered in order with its echo, output and prompt, as if
//! typed after the previous prompt. [`InputState`] is the expected input (a line, a password, a confirmation, a banner, a
//! key at ` --More-- `) and selects the module for the next byte: [`line_editor`], [`question`] or
//! [`pager`]. Complete configuration lines are executed here, all others in [`exec`].

mod exec;
mod fault_state;
mod line_editor;
mod pager;
mod question;
mod reload;
mod users;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::configure::ConfigSession;
use super::device::{Device, Mode, Position};
use super::effect::{Reply, Show};
use super::grammar::{SyntaxError, tokens};
use super::reload::RequestedReload;
use crate::control::{ExchangeLog, lock};
use crate::fault::{ConnectionStage, EndlessOutput, FaultDecision, FaultKind, FaultPlan};
use crate::terminal::{ConnectionState, Terminal, TerminalOutput};
use crate::terminal_lines::TerminalLines;

/// Maximum length of the host name in the prompts of configuration modes.
const HOSTNAME_LIMIT: usize = 20;
/// Maximum length of these prompts. The name of the mode is truncated: Cisco IOS Configuration Fundamentals Command
/// Reference, "hostname".
const PROMPT_LIMIT: usize = 30;
const REFUSED: &str = "% Command rejected: refused by the mock";
const UNLISTED: &str = "System busy, try again later.";
const SYSLOG: &str =
    "*Jan  2 03:04:05.678: %LINK-3-UPDOWN: Interface GigabitEthernet1/0/48, changed state to down";

/// The input that the session expects.
#[derive(Debug, Clone)]
enum InputState {
    Line,
    EnablePassword {
        refused: u32,
    },
    Confirm {
        line: String,
        lost: bool,
    },
    UnexpectedConfirm {
        line: String,
    },
    FileName,
    ClearLine(usize),
    ReloadSave(RequestedReload),
    ReloadConfirm(RequestedReload),
    Banner {
        identity: String,
        text: String,
        delimiter: String,
    },
    Pager {
        rest: VecDeque<String>,
    },
    EndlessPager,
    EndlessQuestion,
    /// A command that is executed later, with the input after it.
    Deferred {
        line: String,
        decision: FaultDecision,
        input: Vec<u8>,
    },
    Nothing,
}

/// Data that all sessions of a switch share.
#[derive(Debug, Clone)]
pub(super) struct SwitchContext {
    /// The switch.
    pub device: Arc<Mutex<Device>>,
    /// Its faults.
    pub faults: Arc<Mutex<FaultPlan>>,
    /// Its log.
    pub log: ExchangeLog,
    /// Password for `enable`.
    pub enable_password: Option<String>,
    /// The user of its login.
    pub user: String,
    /// Its terminal lines.
    pub lines: Arc<Mutex<TerminalLines>>,
}

/// A terminal session.
#[derive(Debug)]
pub(super) struct Shell {
    shared: SwitchContext,
    connection: u64,
    position: Position,
    waiting: InputState,
    line: Vec<u8>,
    after_return: bool,
    literal: bool,
    length: usize,
    width: usize,
    cursor: usize,
    out: Vec<u8>,
    ending: ConnectionState,
    endless: Option<EndlessOutput>,
    deferral: Option<Option<Duration>>,
    /// Restarts of the device before the session.
    restarts: u32,
    /// The last command, if it was a `show`.
    last_show: Option<Show>,
    /// The last message about a reload: its time, and the minutes before it.
    announced: Option<(Instant, u64)>,
}

impl Shell {
    /// A new session, with the width of the terminal (0 if unknown).
    pub(super) fn new(
        shared: SwitchContext,
        connection: u64,
        privileged: bool,
        width: usize,
    ) -> Self {
        let restarts = lock(&shared.device).restarts;
        lock(&shared.lines).occupy(Some(connection), &shared.user);
        Shell {
            shared,
            connection,
            restarts,
            position: Position::exec(privileged),
            waiting: InputState::Line,
            line: Vec::new(),
            after_return: false,
            literal: false,
            length: 24,
            width: if width == 0 { 80 } else { width },
            cursor: 0,
            out: Vec::new(),
            ending: ConnectionState::Open,
            endless: None,
            deferral: None,
            last_show: None,
            announced: None,
        }
    }

    fn take(&mut self) -> TerminalOutput {
        TerminalOutput {
            bytes: std::mem::take(&mut self.out),
            ending: self.ending,
            endless: self.endless.take(),
            deferral: self.deferral.take(),
        }
    }

    fn print(&mut self, text: &str) {
        self.out.extend(text.replace('\n', "\r\n").bytes());
    }

    fn prompt_text(&self) -> String {
        let device = lock(&self.shared.device);
        match self.position.mode.tag() {
            Some(tag) => {
                let name: String = device.hostname.chars().take(HOSTNAME_LIMIT).collect();
                let tag_limit = PROMPT_LIMIT - "()#".len() - name.chars().count();
                let tag: String = tag.chars().take(tag_limit).collect();
                format!("{name}({tag})#")
            }
            None if self.position.mode == Mode::Exec => format!("{}>", device.hostname),
            None => format!("{}#", device.hostname),
        }
    }

    fn prompt(&mut self) {
        let prompt = self.prompt_text();
        self.cursor = prompt.len();
        self.print(&prompt);
    }

    fn key(&mut self, byte: u8) {
        // A line feed can follow a carriage return and belongs to it.
        let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        if byte == b'\n' && follows_return {
            return;
        }
        match &mut self.waiting {
            InputState::Pager { .. } => self.pager_key(byte),
            InputState::EndlessPager => self.endless_page(),
            InputState::EndlessQuestion => self.endless_question(),
            InputState::Confirm { .. }
            | InputState::UnexpectedConfirm { .. }
            | InputState::ClearLine(_) => self.confirm_key(byte),
            InputState::ReloadConfirm(_) => self.reload_key(byte),
            _ => self.line_key(byte),
        }
    }

    /// Handles a complete line.
    fn finished(&mut self, line: &str) {
        match std::mem::replace(&mut self.waiting, InputState::Line) {
            InputState::EnablePassword { refused } => self.enable_password(line, refused),
            InputState::Banner {
                identity,
                text,
                delimiter,
            } => self.banner_line(line, identity, text, delimiter),
            InputState::FileName => {
                self.record("filename", line, "[OK]");
                self.save();
                self.print("Building configuration...\n[OK]\n");
                self.prompt();
            }
            InputState::ReloadSave(requested) => self.reload_save(line, requested),
            _ => self.command(line),
        }
    }

    /// Whether the device has closed the connection: it restarted, or a change has cut it off.
    fn is_disconnected(&self) -> bool {
        let mut device = lock(&self.shared.device);
        device.expire();
        let is_cleared = lock(&self.shared.lines).line(self.connection).is_none();
        device.is_cut_off || device.restarts != self.restarts || is_cleared
    }

    fn record(&self, mode: &str, received: &str, answered: &str) {
        self.shared
            .log
            .record(self.connection, mode, received.to_owned(), answered, None);
    }

    fn command(&mut self, line: &str) {
        if line.trim().is_empty() {
            return self.prompt();
        }
        let mode = self.position.mode.name();
        let decision = lock(&self.shared.faults).decide(line);
        if self.is_silenced(&decision) || self.is_withheld(line, &decision) {
            return self.record(mode, line, "");
        }
        if decision.has(FaultKind::Confirm) {
            let question = "This was not expected. Continue? [confirm]";
            self.record(mode, line, question);
            self.print(question);
            self.waiting = InputState::UnexpectedConfirm {
                line: line.to_owned(),
            };
            return;
        }
        self.execute(mode, line, &decision);
    }

    /// Executes a command and answers it, with the faults that do not prevent it.
    fn execute(&mut self, mode: &str, line: &str, decision: &FaultDecision) {
        let answer = match decision.message(FaultKind::Refuse) {
            Some(text) => CommandOutput::text(format!("{}\n", text.unwrap_or(REFUSED))),
            None => self.run(line, decision.has(FaultKind::LostWrite), false),
        };
        self.record(mode, line, &answer.text);
        let configures = self.position.mode.tag().is_some();
        lock(&self.shared.lines).set_configures(self.connection, configures);
        self.deliver(answer, decision);
    }

    /// Prints the output of a command and applies the faults to it.
    fn deliver(&mut self, mut answer: CommandOutput, decision: &FaultDecision) {
        if decision.has(FaultKind::CutOff) {
            let mut device = lock(&self.shared.device);
            device.is_cut_off = true;
            device.cut_off.notify_one();
        }
        if decision.has(FaultKind::DropUnanswered) || decision.has(FaultKind::CutOff) {
            self.ending = ConnectionState::Cut;
            return;
        }
        if decision.has(FaultKind::LostRevert) {
            if let Some(revert) = &mut lock(&self.shared.device).revert {
                revert.is_lost = true;
            }
            if let AfterOutput::Wait(
                InputState::ReloadSave(requested) | InputState::ReloadConfirm(requested),
            ) = &mut answer.then
            {
                requested.is_lost = true;
            }
        }
        if self.is_replaced(decision) {
            return;
        }
        let mut text = match decision.message(FaultKind::UnlistedAnswer) {
            Some(text) => format!("{}\n", text.unwrap_or(UNLISTED)),
            None => answer.text,
        };
        if decision.has(FaultKind::SyslogAfter) {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let (before, after) = lines.split_at(lines.len() / 2);
            text = format!("{}{SYSLOG}\n{}", before.concat(), after.concat());
        }
        match answer.then {
            AfterOutput::Prompt if decision.has(FaultKind::EndlessPager) => {
                self.print(&text);
                self.endless_page();
            }
            AfterOutput::Prompt => self.page(&text),
            AfterOutput::Announce(announced) => {
                self.page(&text);
                self.announce(&announced);
            }
            AfterOutput::Wait(waiting) => {
                self.print(&text);
                self.waiting = waiting;
            }
            AfterOutput::Close => {
                self.print(&text);
                self.ending = ConnectionState::Close;
            }
        }
    }

    /// Executes a line in the mode of the session.
    fn run(&mut self, line: &str, lost: bool, confirmed: bool) -> CommandOutput {
        let session = self.position.mode.tag().is_some();
        let words = tokens(line);
        let is_do = session
            && words
                .first()
                .is_some_and(|word| word.text.eq_ignore_ascii_case("do"));
        if is_do {
            return self.exec(line, &words[1..]);
        }
        if !session {
            return self.exec(line, &words);
        }
        self.last_show = None;
        let shared = self.shared.device.clone();
        let mut device = lock(&shared);
        let before = device.clone();
        let result = ConfigSession {
            device: &mut device,
            position: &mut self.position,
        }
        .line(line, confirmed);
        if lost {
            *device = before;
            if self.position.mode == Mode::Vlan {
                self.position.pending = None;
            }
        }
        drop(device);
        match result {
            Ok(Reply::Silent) => CommandOutput::text(String::new()),
            Ok(Reply::Text(text)) => CommandOutput::text(format!("{text}\n")),
            Ok(Reply::Ask(question)) => CommandOutput {
                text: question,
                then: AfterOutput::Wait(InputState::Confirm {
                    line: line.to_owned(),
                    lost,
                }),
            },
            Ok(Reply::Collect {
                identity,
                started,
                delimiter,
            }) => match started.split_once(&delimiter) {
                Some((text, _)) => {
                    if !lost {
                        self.store_banner(&identity, text);
                    }
                    CommandOutput::text(String::new())
                }
                None => CommandOutput {
                    text: format!("Enter TEXT message.  End with the character '{delimiter}'.\n"),
                    then: AfterOutput::Wait(InputState::Banner {
                        identity,
                        text: started,
                        delimiter,
                    }),
                },
            },
            // `ConfigSession::line` converts these replies to syntax errors.
            Ok(Reply::Invalid(_) | Reply::Incomplete) => CommandOutput::text(String::new()),
            Err(error) => self.complaint(&error),
        }
    }

    /// Renders a syntax error. The caret is below the word as echoed after the prompt.
    fn complaint(&self, error: &SyntaxError) -> CommandOutput {
        CommandOutput::text(match error {
            SyntaxError::Invalid(column) => {
                let blanks = " ".repeat(self.prompt_text().len() + column);
                format!("{blanks}^\n% Invalid input detected at '^' marker.\n\n")
            }
            SyntaxError::Incomplete => "% Incomplete command.\n\n".to_owned(),
            SyntaxError::Ambiguous(text) => format!("% Ambiguous command:  \"{text}\"\n"),
        })
    }
}

impl Terminal for Shell {
    fn greet(&mut self) -> TerminalOutput {
        let banners: Vec<String> = {
            let device = lock(&self.shared.device);
            ["banner motd", "banner exec"]
                .iter()
                .filter_map(|kind| device.configuration.root.value(kind))
                .map(|value| {
                    value
                        .trim_start_matches("^C")
                        .trim_end_matches("^C")
                        .to_owned()
                })
                .collect()
        };
        let decision = lock(&self.shared.faults).decide_stage(ConnectionStage::Shell);
        if self.is_silenced(&decision) {
            return self.take();
        }
        self.print("\n");
        for banner in banners {
            self.print(&banner);
            self.print("\n");
        }
        if !self.is_replaced(&decision) {
            self.prompt();
        }
        self.take()
    }

    fn feed(&mut self, bytes: &[u8]) -> TerminalOutput {
        if self.is_disconnected() {
            self.ending = ConnectionState::Cut;
        }
        if matches!(self.waiting, InputState::Line) && self.line.is_empty() {
            self.announce_reload();
        }
        for byte in bytes {
            if let InputState::Deferred { input, .. } = &mut self.waiting {
                input.push(*byte);
                continue;
            }
            if self.ending != ConnectionState::Open || matches!(self.waiting, InputState::Nothing) {
                break;
            }
            self.key(*byte);
        }
        self.take()
    }

    fn resume(&mut self) -> TerminalOutput {
        let waiting = std::mem::replace(&mut self.waiting, InputState::Line);
        let InputState::Deferred {
            line,
            decision,
            input,
        } = waiting
        else {
            self.waiting = waiting;
            return self.take();
        };
        if self.is_disconnected() {
            self.ending = ConnectionState::Cut;
            return self.take();
        }
        self.ending = ConnectionState::Open;
        let mode = self.position.mode.name();
        self.execute(mode, &line, &decision);
        let mut output = self.take();
        let rest = self.feed(&input);
        output.bytes.extend(rest.bytes);
        TerminalOutput {
            bytes: output.bytes,
            ..rest
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let in_order = self.ending == ConnectionState::Close;
        lock(&self.shared.lines).release(self.connection, in_order);
    }
}

struct CommandOutput {
    text: String,
    then: AfterOutput,
}

enum AfterOutput {
    Prompt,
    /// The prompt, and a message about a reload.
    Announce(String),
    Wait(InputState),
    Close,
}

impl CommandOutput {
    fn text(text: String) -> Self {
        CommandOutput {
            text,
            then: AfterOutput::Prompt,
        }
    }
}
