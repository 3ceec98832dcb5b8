//! Input that is not a command: confirmations, the password for `enable`, the lines of a banner.

use super::{CommandOutput, InputState, Shell};
use crate::cli_switch::configure::ConfigSession;
use crate::cli_switch::device::Position;
use crate::cli_switch::grammar::global::set_banner;
use crate::control::lock;
use crate::fault::FaultDecision;

impl Shell {
    /// Handles the answer to a question, a single key: return and `y` confirm.
    pub(super) fn confirm_key(&mut self, byte: u8) {
        let waiting = std::mem::replace(&mut self.waiting, InputState::Line);
        let yes = matches!(byte, b'\r' | b'\n' | b'y' | b'Y');
        self.record("confirm", if yes { "yes" } else { "no" }, "");
        self.print("\n");
        let answer = match waiting {
            InputState::Confirm { line, lost } if yes => self.run(&line, lost, true),
            InputState::ClearLine(number) if yes => self.clear_line(number),
            InputState::UnexpectedConfirm { line } if yes => self.run(&line, false, false),
            _ => CommandOutput::text(String::new()),
        };
        self.deliver(answer, &FaultDecision::default());
    }

    pub(super) fn enable_password(&mut self, typed: &str, refused: u32) {
        if self.shared.enable_password.as_deref() == Some(typed) {
            self.record("password", "<password>", "");
            self.position = Position::exec(true);
            return self.prompt();
        }
        self.record("password", "<password>", "refused");
        if refused < 2 {
            self.print("Password: ");
            self.waiting = InputState::EnablePassword {
                refused: refused + 1,
            };
        } else {
            self.print("% Bad secrets\n\n");
            self.prompt();
        }
    }

    pub(super) fn banner_line(
        &mut self,
        line: &str,
        identity: String,
        mut text: String,
        delimiter: String,
    ) {
        self.record(self.position.mode.name(), line, "");
        text.push('\n');
        match line.split_once(&delimiter) {
            None => {
                text.push_str(line);
                self.waiting = InputState::Banner {
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

    pub(super) fn store_banner(&mut self, identity: &str, text: &str) {
        let mut device = lock(&self.shared.device);
        set_banner(
            &mut ConfigSession {
                device: &mut device,
                position: &mut self.position,
            },
            identity,
            text,
        );
    }
}
