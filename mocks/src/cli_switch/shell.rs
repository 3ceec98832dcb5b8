//! One terminal session: bytes in, bytes out. Knows neither sockets nor SSH.
//!
//! Input may hold any number of lines; each is answered in order with its echo, output and prompt, as if it had been
//! typed after the prompt before it. What the session is waiting for (a line, a password, a yes, the end of a banner, a
//! key at ` --More-- `) is [`Waiting`]; it decides which room has the next byte: [`line_editor`], [`question`] or
//! [`pager`]. A line that is complete is carried out here when it configures, and in [`exec`] when it does not.

mod exec;
mod line_editor;
mod pager;
mod question;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::configure::Configuring;
use super::device::{Device, Mode, Position};
use super::effect::Reply;
use super::grammar::{SyntaxError, tokens};
use crate::control::{ExchangeLog, lock};
use crate::fault::{FaultDecision, FaultKind, FaultPlan, garbage};

/// A host name is cut to this many characters in the prompts of configuration modes.
const PROMPT_LIMIT: usize = 20;
const REFUSED: &str = "% Command rejected: refused by the mock";
const SYSLOG: &str =
    "*Jan  2 03:04:05.678: %LINK-3-UPDOWN: Interface GigabitEthernet1/0/48, changed state to down";

/// What the session does with the next bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Waiting {
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
    Banner {
        identity: String,
        text: String,
        delimiter: String,
    },
    Pager {
        rest: VecDeque<String>,
    },
    Nothing,
}

/// What happens to the connection after the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It stays.
    Open,
    /// It is closed in order.
    Close,
    /// It is cut.
    Cut,
}

/// Bytes to send, then the fate of the connection.
#[derive(Debug)]
pub struct Output {
    /// What to send.
    pub bytes: Vec<u8>,
    /// What follows.
    pub ending: Ending,
}

/// What a session shares with its device.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The switch.
    pub device: Arc<Mutex<Device>>,
    /// Its faults.
    pub faults: Arc<Mutex<FaultPlan>>,
    /// Its log.
    pub log: ExchangeLog,
    /// Password for `enable`.
    pub enable_password: Option<String>,
}

/// A terminal session.
#[derive(Debug)]
pub struct Shell {
    shared: Shared,
    connection: u64,
    position: Position,
    waiting: Waiting,
    line: Vec<u8>,
    after_return: bool,
    literal: bool,
    length: usize,
    width: usize,
    cursor: usize,
    out: Vec<u8>,
    ending: Ending,
}

impl Shell {
    /// A session that has just been opened, with the terminal's width (0 when it has none).
    pub fn new(shared: Shared, connection: u64, privileged: bool, width: usize) -> Self {
        Shell {
            shared,
            connection,
            position: Position::exec(privileged),
            waiting: Waiting::Line,
            line: Vec::new(),
            after_return: false,
            literal: false,
            length: 24,
            width: if width == 0 { 80 } else { width },
            cursor: 0,
            out: Vec::new(),
            ending: Ending::Open,
        }
    }

    /// The message of the day and the first prompt.
    pub fn greet(&mut self) -> Output {
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
        self.print("\n");
        for banner in banners {
            self.print(&banner);
            self.print("\n");
        }
        self.prompt();
        self.take()
    }

    /// Answers bytes from the terminal.
    pub fn feed(&mut self, bytes: &[u8]) -> Output {
        lock(&self.shared.device).expire(Instant::now());
        for byte in bytes {
            if self.ending != Ending::Open || self.waiting == Waiting::Nothing {
                break;
            }
            self.key(*byte);
        }
        self.take()
    }

    fn take(&mut self) -> Output {
        Output {
            bytes: std::mem::take(&mut self.out),
            ending: self.ending,
        }
    }

    fn print(&mut self, text: &str) {
        self.out.extend(text.replace('\n', "\r\n").bytes());
    }

    fn prompt_text(&self) -> String {
        let device = lock(&self.shared.device);
        match self.position.mode.tag() {
            Some(tag) => {
                let name: String = device.hostname.chars().take(PROMPT_LIMIT).collect();
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
        // A return may be followed by a line feed that belongs to it.
        let follows_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        if byte == b'\n' && follows_return {
            return;
        }
        match &mut self.waiting {
            Waiting::Pager { .. } => self.pager_key(byte),
            Waiting::Confirm { .. } | Waiting::UnexpectedConfirm { .. } => self.confirm_key(byte),
            _ => self.line_key(byte),
        }
    }

    /// A line is complete.
    fn finished(&mut self, line: &str) {
        match std::mem::replace(&mut self.waiting, Waiting::Line) {
            Waiting::EnablePassword { refused } => self.enable_password(line, refused),
            Waiting::Banner {
                identity,
                text,
                delimiter,
            } => self.banner_line(line, identity, text, delimiter),
            Waiting::FileName => {
                self.record("filename", line, "[OK]");
                self.save();
                self.print("Building configuration...\n[OK]\n");
                self.prompt();
            }
            _ => self.command(line),
        }
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
        if decision.has(FaultKind::DropAfter) {
            self.record(mode, line, "");
            self.ending = Ending::Cut;
            return;
        }
        if decision.has(FaultKind::StallAfter) {
            self.record(mode, line, "");
            self.waiting = Waiting::Nothing;
            return;
        }
        if decision.has(FaultKind::Confirm) {
            let question = "This was not expected. Continue? [confirm]";
            self.record(mode, line, question);
            self.print(question);
            self.waiting = Waiting::UnexpectedConfirm {
                line: line.to_owned(),
            };
            return;
        }
        let answer = match decision.refusal() {
            Some(text) => Answer::text(format!("{}\n", text.unwrap_or(REFUSED))),
            None => self.run(line, decision.has(FaultKind::LostWrite), false),
        };
        self.record(mode, line, &answer.text);
        self.deliver(answer, &decision);
    }

    /// Prints an answer and what follows it, disturbed as the faults say.
    fn deliver(&mut self, answer: Answer, decision: &FaultDecision) {
        if decision.has(FaultKind::DropUnanswered) {
            self.ending = Ending::Cut;
            return;
        }
        if decision.has(FaultKind::GarbageAfter) {
            self.out.extend(garbage());
            return;
        }
        let mut text = answer.text;
        if decision.has(FaultKind::SyslogAfter) {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let (before, after) = lines.split_at(lines.len() / 2);
            text = format!("{}{SYSLOG}\n{}", before.concat(), after.concat());
        }
        match answer.then {
            Then::Prompt => self.page(&text),
            Then::Wait(waiting) => {
                self.print(&text);
                self.waiting = waiting;
            }
            Then::Close => {
                self.print(&text);
                self.ending = Ending::Close;
            }
        }
    }

    /// Carries a line out in the mode of the session.
    fn run(&mut self, line: &str, lost: bool, confirmed: bool) -> Answer {
        let configuring = self.position.mode.tag().is_some();
        let words = tokens(line);
        let is_do = configuring
            && words
                .first()
                .is_some_and(|word| word.text.eq_ignore_ascii_case("do"));
        if is_do {
            return self.exec(line, &words[1..]);
        }
        if !configuring {
            return self.exec(line, &words);
        }
        let shared = self.shared.device.clone();
        let mut device = lock(&shared);
        let before = device.clone();
        let result = Configuring {
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
            Ok(Reply::Silent) => Answer::text(String::new()),
            Ok(Reply::Say(text)) => Answer::text(format!("{text}\n")),
            Ok(Reply::Ask(question)) => Answer {
                text: question,
                then: Then::Wait(Waiting::Confirm {
                    line: line.to_owned(),
                    lost,
                }),
            },
            Ok(Reply::Collect {
                identity,
                begun,
                delimiter,
            }) => match begun.split_once(&delimiter) {
                Some((text, _)) => {
                    if !lost {
                        self.store_banner(&identity, text);
                    }
                    Answer::text(String::new())
                }
                None => Answer {
                    text: format!("Enter TEXT message.  End with the character '{delimiter}'.\n"),
                    then: Then::Wait(Waiting::Banner {
                        identity,
                        text: begun,
                        delimiter,
                    }),
                },
            },
            // The handlers' own complaints were turned into syntax errors before they got here.
            Ok(Reply::Invalid(_) | Reply::Incomplete) => Answer::text(String::new()),
            Err(error) => self.complaint(&error),
        }
    }

    /// The caret stands under the word as it was echoed after the prompt.
    fn complaint(&self, error: &SyntaxError) -> Answer {
        Answer::text(match error {
            SyntaxError::Invalid(column) => {
                let blanks = " ".repeat(self.prompt_text().len() + column);
                format!("{blanks}^\n% Invalid input detected at '^' marker.\n\n")
            }
            SyntaxError::Incomplete => "% Incomplete command.\n\n".to_owned(),
            SyntaxError::Ambiguous(text) => format!("% Ambiguous command:  \"{text}\"\n"),
        })
    }
}

struct Answer {
    text: String,
    then: Then,
}

enum Then {
    Prompt,
    Wait(Waiting),
    Close,
}

impl Answer {
    fn text(text: String) -> Self {
        Answer {
            text,
            then: Then::Prompt,
        }
    }
}
