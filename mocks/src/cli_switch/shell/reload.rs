//! `reload`: its questions, and the messages about a scheduled one.

use std::time::{Duration, Instant};

use super::{AfterOutput, CommandOutput, InputState, Shell};
use crate::cli_switch::reload::{
    NOT_SCHEDULED, REASON, RequestedReload, broadcast, countdown, parse_delay,
};
use crate::control::lock;
use crate::terminal::ConnectionState;

const SAVE: &str = "System configuration has been modified. Save? [yes/no]: ";
/// The minutes before the restart at which all terminals have a message.
const ANNOUNCED: [u64; 2] = [1, 5];

impl Shell {
    /// `reload` and `reload in`, by their words.
    pub(super) fn request_reload(&self, words: &[String]) -> CommandOutput {
        let reason = words.get(3).map_or(REASON, String::as_str);
        let requested = RequestedReload {
            minutes: words.get(2).and_then(|word| parse_delay(word)),
            reason: reason.to_owned(),
            is_lost: false,
        };
        if lock(&self.shared.device).is_modified() {
            return CommandOutput {
                text: format!("\n{SAVE}"),
                then: AfterOutput::Wait(InputState::ReloadSave(requested)),
            };
        }
        CommandOutput {
            text: requested.question(),
            then: AfterOutput::Wait(InputState::ReloadConfirm(requested)),
        }
    }

    /// The answer to the question whether to save the configuration.
    pub(super) fn reload_save(&mut self, line: &str, requested: RequestedReload) {
        self.record("answer", line, "");
        match line.trim().to_ascii_lowercase().as_str() {
            "yes" | "ye" | "y" => {
                self.save();
                self.print("Building configuration...\n[OK]\n");
            }
            "no" | "n" => {}
            _ => {
                self.print(&format!("% Please answer 'yes' or 'no'.\n{SAVE}"));
                self.waiting = InputState::ReloadSave(requested);
                return;
            }
        }
        self.print(&requested.question());
        self.waiting = InputState::ReloadConfirm(requested);
    }

    /// The key that confirms a reload: return or `y`.
    pub(super) fn reload_key(&mut self, byte: u8) {
        let is_confirmed = matches!(byte, b'\r' | b'\n' | b'y' | b'Y');
        self.record("answer", if is_confirmed { "yes" } else { "no" }, "");
        self.print("\n");
        let waiting = std::mem::replace(&mut self.waiting, InputState::Line);
        let InputState::ReloadConfirm(requested) = waiting else {
            return self.prompt();
        };
        match requested.minutes {
            _ if !is_confirmed => self.prompt(),
            None => {
                lock(&self.shared.device).restart();
                self.ending = ConnectionState::Cut;
            }
            Some(minutes) => {
                lock(&self.shared.device).schedule_reload(minutes, requested);
                self.prompt();
                self.announce(&countdown(Duration::from_secs(60 * minutes)));
                self.announced = self.announcement();
            }
        }
    }

    /// `reload cancel`
    pub(super) fn cancel_reload(&self) -> CommandOutput {
        match lock(&self.shared.device).reload.take() {
            None => CommandOutput::text(format!("%{NOT_SCHEDULED}")),
            Some(_) => CommandOutput {
                text: String::new(),
                then: AfterOutput::Announce("ABORTED".to_owned()),
            },
        }
    }

    /// Prints a message behind the prompt. The prompt is repeated with `logging synchronous` only.
    pub(super) fn announce(&mut self, text: &str) {
        self.print(&broadcast(text));
        let is_synchronous = {
            let device = lock(&self.shared.device);
            let lines = device.configuration.root.entries().iter();
            let lines = lines.filter(|entry| entry.identity.starts_with("line vty"));
            let mut blocks = lines.filter_map(|entry| entry.block.as_ref());
            blocks.any(|block| block.find("logging synchronous").is_some())
        };
        if is_synchronous {
            self.prompt()
        } else {
            self.cursor = 0
        }
    }

    /// Prints the message that the device reloads soon, once per time.
    pub(super) fn announce_reload(&mut self) {
        let due = self.announcement();
        if due.is_some() && due != self.announced {
            self.announced = due;
            let left = lock(&self.shared.device).time_to_reload();
            self.announce(&countdown(left.unwrap_or_default()));
        }
    }

    /// The restart and its message that is due.
    fn announcement(&self) -> Option<(Instant, u64)> {
        let device = lock(&self.shared.device);
        let left = device.time_to_reload()?.as_secs();
        let due = ANNOUNCED.into_iter().find(|minutes| left <= 60 * minutes)?;
        Some((device.reload.as_ref()?.at, due))
    }
}
