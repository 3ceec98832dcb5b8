//! One terminal session: bytes in, bytes out. Knows neither sockets nor SSH.
//!
//! Input may hold any number of lines; each is answered in order with its echo, output and prompt, as if it had been
//! typed after the prompt before it. What the session is waiting for (a line, a password, a yes, the end of a banner, a
//! key at ` --More-- `) is [`Waiting`].

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use super::configure::{Configuring, grammar as configuration_grammar};
use super::device::{Device, Mode, Position, Revert};
use super::effect::{Effect, ExecCommand, Reply, Show};
use super::filter::Filter;
use super::grammar::global::set_banner;
use super::grammar::{Form, Grammar, Scope, SyntaxError, Token, exec, tokens};
use super::show::show;
use crate::control::{ExchangeLog, lock};
use crate::fault::{Disturbance, FaultPlan, noise};

static EXEC: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(exec::RULES));

/// Longest line that a terminal takes.
const LINE_LIMIT: usize = 254;
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

    fn line_key(&mut self, byte: u8) {
        let hidden = matches!(self.waiting, Waiting::EnablePassword { .. });
        if std::mem::take(&mut self.literal) {
            return self.insert(byte, hidden);
        }
        match byte {
            b'\r' | b'\n' => {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                self.out.extend(b"\r\n");
                self.finished(&line);
            }
            0x08 | 0x7f => {
                if self.line.pop().is_some() && !hidden {
                    self.cursor = self.cursor.saturating_sub(1);
                    self.out.extend(b"\x08 \x08");
                }
            }
            0x15 => {
                let erased = std::mem::take(&mut self.line).len();
                if !hidden {
                    self.out.extend(b"\x08 \x08".repeat(erased));
                    self.cursor = self.cursor.saturating_sub(erased);
                }
            }
            0x16 => self.literal = true,
            0x03 | 0x1a => self.interrupt(byte),
            b'?' if self.waiting == Waiting::Line => self.help(),
            // Other control characters have no meaning here, nor has the key that completes words.
            byte if byte < b' ' => {}
            byte => self.insert(byte, hidden),
        }
    }

    fn insert(&mut self, byte: u8, hidden: bool) {
        if self.line.len() >= LINE_LIMIT {
            self.out.push(0x07);
            return;
        }
        self.line.push(byte);
        if hidden {
            return;
        }
        self.out.push(byte);
        self.cursor += 1;
        if self.cursor + 1 >= self.width && self.waiting == Waiting::Line {
            self.scroll();
        }
    }

    /// The line does not fit: go back to its beginning, print a dollar sign and its last few characters.
    fn scroll(&mut self) {
        let shown = self.cursor - self.prompt_text().len().min(self.cursor);
        let tail = self.line[self.line.len().saturating_sub(10)..].to_vec();
        self.out.extend(std::iter::repeat_n(0x08, shown));
        self.out.push(b'$');
        self.out.extend(&tail);
        let blank = shown.saturating_sub(tail.len() + 1);
        self.out.extend(std::iter::repeat_n(b' ', blank));
        self.out.extend(std::iter::repeat_n(0x08, blank));
        self.cursor = self.cursor - shown + tail.len() + 1;
    }

    /// Ctrl-C drops what was typed and leaves configuration; Ctrl-Z is `end`.
    fn interrupt(&mut self, byte: u8) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        let configuring = self.position.mode.tag().is_some();
        self.print(if byte == 0x1a { "^Z\n" } else { "^C\n" });
        if byte == 0x1a && configuring && !line.trim().is_empty() && self.waiting == Waiting::Line {
            self.finished(&line);
            self.out.extend(b"\r\n");
        }
        if configuring && self.ending == Ending::Open {
            let mut device = lock(&self.shared.device);
            device.commit(&mut self.position);
            self.position = Position::exec(true);
        }
        self.waiting = Waiting::Line;
        self.prompt();
    }

    fn help(&mut self) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        let mut words = tokens(&line);
        let begun = if line.ends_with(' ') || line.is_empty() {
            None
        } else {
            words.pop()
        };
        let device = lock(&self.shared.device).clone();
        let interface = match &self.position.mode {
            Mode::Interface(name) => Some(name.clone()),
            _ => None,
        };
        let privileged = self.position.mode != Mode::Exec;
        let scope = Scope {
            hardware: device.hardware,
            interface: interface.as_ref(),
            privileged,
        };
        let grammar = if self.position.mode.tag().is_some() {
            configuration_grammar(&self.position.mode)
        } else {
            &EXEC
        };
        let begun = begun.map_or("", |token| token.text).to_ascii_lowercase();
        let answer = match grammar.expected(&scope, &line, &words) {
            Some(mut expected) => {
                expected.retain(|word| word.to_ascii_lowercase().starts_with(&begun));
                if expected.is_empty() {
                    "% Unrecognized command".to_owned()
                } else {
                    expected
                        .iter()
                        .map(|word| format!("  {word}"))
                        .collect::<Vec<_>>()
                        .join("\n")
                }
            }
            None => "% Unrecognized command".to_owned(),
        };
        self.print(&format!("?\n{answer}\n\n"));
        self.prompt();
        self.cursor += line.len();
        self.print(&line);
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
        let fate = lock(&self.shared.faults).command(line);
        if fate.drop {
            self.record(mode, line, "");
            self.ending = Ending::Cut;
            return;
        }
        if fate.stall {
            self.record(mode, line, "");
            self.waiting = Waiting::Nothing;
            return;
        }
        if fate.confirm {
            let question = "This was not expected. Continue? [confirm]";
            self.record(mode, line, question);
            self.print(question);
            self.waiting = Waiting::UnexpectedConfirm {
                line: line.to_owned(),
            };
            return;
        }
        let answer = match &fate.refuse {
            Some(text) => Answer::text(format!("{}\n", text.as_deref().unwrap_or(REFUSED))),
            None => self.run(line, fate.lost, false),
        };
        self.record(mode, line, &answer.text);
        self.deliver(answer, &fate);
    }

    /// Prints an answer and what follows it, disturbed as the faults say.
    fn deliver(&mut self, answer: Answer, fate: &Disturbance) {
        if fate.drop_unanswered {
            self.ending = Ending::Cut;
            return;
        }
        if fate.garbage {
            self.out.extend(noise());
            return;
        }
        let mut text = answer.text;
        if fate.syslog {
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

    /// Prints output page by page, then the prompt.
    fn page(&mut self, text: &str) {
        let lines: VecDeque<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        self.print_page(lines, self.length.saturating_sub(1));
    }

    fn print_page(&mut self, mut lines: VecDeque<String>, count: usize) {
        let all = self.length == 0 || lines.len() <= count;
        let count = if all { lines.len() } else { count };
        for line in lines.drain(..count) {
            self.print(&line);
        }
        if lines.is_empty() {
            self.waiting = Waiting::Line;
            self.prompt();
        } else {
            self.print(" --More-- ");
            self.waiting = Waiting::Pager { rest: lines };
        }
    }

    fn pager_key(&mut self, byte: u8) {
        let Waiting::Pager { rest } = std::mem::replace(&mut self.waiting, Waiting::Line) else {
            return;
        };
        self.out.extend([0x08; 9]);
        self.out.extend([b' '; 8]);
        self.out.extend([0x08; 9]);
        match byte {
            b' ' => self.print_page(rest, self.length.saturating_sub(1)),
            b'\r' | b'\n' => self.print_page(rest, 1),
            _ => {
                self.print("\n");
                self.prompt();
            }
        }
    }

    /// A question takes a single key: return and `y` mean yes.
    fn confirm_key(&mut self, byte: u8) {
        let waiting = std::mem::replace(&mut self.waiting, Waiting::Line);
        let yes = matches!(byte, b'\r' | b'\n' | b'y' | b'Y');
        self.record("confirm", if yes { "yes" } else { "no" }, "");
        self.print("\n");
        let answer = match waiting {
            Waiting::Confirm { line, lost } if yes => self.run(&line, lost, true),
            Waiting::UnexpectedConfirm { line } if yes => self.run(&line, false, false),
            _ => Answer::text(String::new()),
        };
        self.deliver(answer, &Disturbance::default());
    }

    fn enable_password(&mut self, typed: &str, refused: u32) {
        if self.shared.enable_password.as_deref() == Some(typed) {
            self.record("password", "<password>", "");
            self.position = Position::exec(true);
            return self.prompt();
        }
        self.record("password", "<password>", "refused");
        if refused < 2 {
            self.print("Password: ");
            self.waiting = Waiting::EnablePassword {
                refused: refused + 1,
            };
        } else {
            self.print("% Bad secrets\n\n");
            self.prompt();
        }
    }

    fn banner_line(&mut self, line: &str, identity: String, mut text: String, delimiter: String) {
        self.record(self.position.mode.name(), line, "");
        text.push('\n');
        match line.split_once(&delimiter) {
            None => {
                text.push_str(line);
                self.waiting = Waiting::Banner {
                    identity,
                    text,
                    delimiter,
                };
            }
            Some((last, _)) => {
                text.push_str(last);
                self.store_banner(&identity, &text);
                self.prompt();
            }
        }
    }

    fn store_banner(&mut self, identity: &str, text: &str) {
        let mut device = lock(&self.shared.device);
        set_banner(
            &mut Configuring {
                device: &mut device,
                position: &mut self.position,
            },
            identity,
            text,
        );
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

    fn exec(&mut self, line: &str, words: &[Token<'_>]) -> Answer {
        let privileged = self.position.mode != Mode::Exec;
        let bar = words.iter().position(|word| word.text == "|");
        let (command, filter) = match bar {
            Some(at) => {
                let start = words[at].column + 1;
                match Filter::parse(&line[start..]) {
                    Ok(filter) => (&words[..at], Some(filter)),
                    Err(offset) => return self.complaint(&SyntaxError::Invalid(start + offset)),
                }
            }
            None => (words, None),
        };
        let device = lock(&self.shared.device).clone();
        let scope = Scope {
            hardware: device.hardware,
            interface: None,
            privileged,
        };
        let parsed = match EXEC.parse(&scope, line, command, Form::Whole) {
            Ok(parsed) => parsed,
            Err(SyntaxError::Invalid(column)) if words.len() == 1 && words[0].column == column => {
                return self.unknown_word(&device, words[0].text);
            }
            Err(error) => return self.complaint(&error),
        };
        let Effect::Exec(what) = EXEC.rules[parsed.rule].effect else {
            return self.complaint(&SyntaxError::Incomplete);
        };
        match what {
            ExecCommand::Show(what) => self.show(&device, what, &parsed.words, filter, line),
            other => self.act(other, &parsed.words),
        }
    }

    /// A single unknown word is taken for the name of a host to connect to.
    fn unknown_word(&self, device: &Device, word: &str) -> Answer {
        if device.configuration.root.find("ip domain lookup").is_some() {
            return self.complaint(&SyntaxError::Invalid(0));
        }
        Answer::text(format!(
            "Translating \"{word}\"...domain server (255.255.255.255)\n\n\
             % Unknown command or computer name, or unable to find computer address\n\n"
        ))
    }

    fn show(
        &self,
        device: &Device,
        what: Show,
        words: &[String],
        filter: Option<Filter>,
        line: &str,
    ) -> Answer {
        let privileged = self.position.mode != Mode::Exec;
        let Some(text) = show(device, what, words, privileged) else {
            let last = tokens(line).last().map_or(0, |token| token.column);
            return self.complaint(&SyntaxError::Invalid(last));
        };
        Answer::text(match filter {
            Some(filter) => filter.apply(&text),
            None => text,
        })
    }

    fn save(&self) {
        let mut device = lock(&self.shared.device);
        device.startup = Some((device.hostname.clone(), device.configuration.clone()));
    }

    fn act(&mut self, command: ExecCommand, words: &[String]) -> Answer {
        let number = || {
            words
                .last()
                .and_then(|word| word.parse::<usize>().ok())
                .unwrap_or(0)
        };
        let mut text = String::new();
        match command {
            ExecCommand::Enable if self.position.mode != Mode::Exec => {}
            ExecCommand::Enable => {
                if self.shared.enable_password.is_none() {
                    return Answer::text("% No password set\n".to_owned());
                }
                return Answer {
                    text: "Password: ".to_owned(),
                    then: Then::Wait(Waiting::EnablePassword { refused: 0 }),
                };
            }
            ExecCommand::Disable => self.position = Position::exec(false),
            ExecCommand::Exit => {
                return Answer {
                    text,
                    then: Then::Close,
                };
            }
            ExecCommand::Configure | ExecCommand::ConfigureRevert => {
                if command == ExecCommand::ConfigureRevert {
                    let minutes = u64::try_from(number()).unwrap_or(1);
                    let mut device = lock(&self.shared.device);
                    device.revert = Some(Revert {
                        at: Instant::now() + Duration::from_secs(60 * minutes),
                        hostname: device.hostname.clone(),
                        configuration: device.configuration.clone(),
                    });
                    text.push_str(
                        "Rollback Confirmed Change: Backing up current running config\n\n",
                    );
                }
                self.position.mode = Mode::Config;
                text.push_str("Enter configuration commands, one per line.  End with CNTL/Z.\n");
            }
            ExecCommand::ConfigureConfirm => {
                if lock(&self.shared.device).revert.take().is_none() {
                    text.push_str("%No Rollback Confirmed Change pending\n");
                }
            }
            ExecCommand::ConfigureReplace => {
                text = self.replace(words.get(2).map_or("", String::as_str))
            }
            ExecCommand::TerminalLength => self.length = number(),
            ExecCommand::TerminalWidth => {
                self.width = if number() == 0 { usize::MAX } else { number() }
            }
            ExecCommand::WriteMemory => {
                self.save();
                text.push_str("Building configuration...\n[OK]\n");
            }
            ExecCommand::CopyToStartup => {
                return Answer {
                    text: "Destination filename [startup-config]? ".to_owned(),
                    then: Then::Wait(Waiting::FileName),
                };
            }
            ExecCommand::TerminalOther | ExecCommand::Clear | ExecCommand::Show(_) => {}
        }
        Answer::text(text)
    }

    /// Only the saved configuration is a file here.
    fn replace(&self, file: &str) -> String {
        let mut device = lock(&self.shared.device);
        if !["nvram:startup-config", "startup-config"].contains(&file) {
            return format!("%Error opening {file} (No such file or directory)\n");
        }
        match device.startup.clone() {
            Some((hostname, saved)) => {
                device.hostname = hostname;
                device.configuration = saved;
                "Total number of passes: 1\nRollback Done\n\n".to_owned()
            }
            None => format!("%Error opening {file} (No such file or directory)\n"),
        }
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
