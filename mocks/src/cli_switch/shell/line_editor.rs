//! Line editing: echo, erasing, scrolling, interrupts and `?`.

use super::exec::EXEC;
use super::{InputState, Shell};
use crate::cli_switch::configure::grammar as configuration_grammar;
use crate::cli_switch::device::{Mode, Position};
use crate::cli_switch::grammar::{RuleScope, tokens};
use crate::control::lock;
use crate::terminal::ConnectionState;

/// Maximum length of a line.
const LINE_LIMIT: usize = 254;

impl Shell {
    pub(super) fn line_key(&mut self, byte: u8) {
        let hidden = matches!(self.waiting, InputState::EnablePassword { .. });
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
            b'?' if matches!(self.waiting, InputState::Line) => self.help(),
            // Other control characters and word completion are not supported.
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
        if self.cursor + 1 >= self.width && matches!(self.waiting, InputState::Line) {
            self.scroll();
        }
    }

    /// Scrolls a long line: returns to its start, prints a dollar sign and its last characters.
    fn scroll(&mut self) {
        let columns = self.cursor - self.prompt_text().len().min(self.cursor);
        let tail = self.line[self.line.len().saturating_sub(10)..].to_vec();
        self.out.extend(std::iter::repeat_n(0x08, columns));
        self.out.push(b'$');
        self.out.extend(&tail);
        let blank = columns.saturating_sub(tail.len() + 1);
        self.out.extend(std::iter::repeat_n(b' ', blank));
        self.out.extend(std::iter::repeat_n(0x08, blank));
        self.cursor = self.cursor - columns + tail.len() + 1;
    }

    /// Ctrl-C discards the line and leaves the configuration mode; Ctrl-Z is `end`.
    fn interrupt(&mut self, byte: u8) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        let session = self.position.mode.tag().is_some();
        self.print(if byte == 0x1a { "^Z\n" } else { "^C\n" });
        if byte == 0x1a
            && session
            && !line.trim().is_empty()
            && matches!(self.waiting, InputState::Line)
        {
            self.finished(&line);
            self.out.extend(b"\r\n");
        }
        if session && self.ending == ConnectionState::Open {
            let mut device = lock(&self.shared.device);
            device.commit(&mut self.position);
            self.position = Position::exec(true);
        }
        self.waiting = InputState::Line;
        self.prompt();
    }

    fn help(&mut self) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        let mut words = tokens(&line);
        let started = if line.ends_with(' ') || line.is_empty() {
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
        let scope = RuleScope {
            profile: device.profile,
            interface: interface.as_ref(),
            privileged,
        };
        let grammar = if self.position.mode.tag().is_some() {
            configuration_grammar(&self.position.mode)
        } else {
            &EXEC
        };
        let started = started.map_or("", |token| token.text).to_ascii_lowercase();
        let answer = match grammar.expected(&scope, &line, &words) {
            Some(mut expected) => {
                expected.retain(|word| word.to_ascii_lowercase().starts_with(&started));
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
}
