//! Exec commands: `show`, `enable`, `configure`, `terminal`, saving and reverting.

use std::sync::LazyLock;

use super::{AfterOutput, CommandOutput, InputState, Shell};
use crate::cli_switch::device::{Device, Mode, Position};
use crate::cli_switch::effect::{Effect, ExecCommand, Show};
use crate::cli_switch::filter::Filter;
use crate::cli_switch::grammar::{Grammar, LineForm, RuleScope, SyntaxError, Token, exec, tokens};
use crate::cli_switch::show::show;
use crate::control::lock;

pub(super) static EXEC: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(exec::RULES));

impl Shell {
    pub(super) fn exec(&mut self, line: &str, words: &[Token<'_>]) -> CommandOutput {
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
        let scope = RuleScope {
            profile: device.profile,
            interface: None,
            privileged,
        };
        let parsed = match EXEC.parse(&scope, line, command, LineForm::Complete) {
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
            ExecCommand::Show(what) => {
                let last = self.last_show.replace(what);
                if what == Show::Reload && last == Some(what) && device.reload.is_some() {
                    device.reload_poll.notify_one();
                }
                self.show(&device, what, &parsed.words, filter, line)
            }
            other => {
                self.last_show = None;
                self.act(other, &parsed.words)
            }
        }
    }

    /// A single unknown word is treated as the name of a host to connect to.
    fn unknown_word(&self, device: &Device, word: &str) -> CommandOutput {
        if device.configuration.root.find("ip domain lookup").is_some() {
            return self.complaint(&SyntaxError::Invalid(0));
        }
        CommandOutput::text(format!(
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
    ) -> CommandOutput {
        let privileged = self.position.mode != Mode::Exec;
        let Some(text) = show(device, what, words, privileged) else {
            let last = tokens(line).last().map_or(0, |token| token.column);
            return self.complaint(&SyntaxError::Invalid(last));
        };
        CommandOutput::text(match filter {
            Some(filter) => filter.apply(&text),
            None => text,
        })
    }

    pub(super) fn save(&self) {
        let mut device = lock(&self.shared.device);
        device.startup = Some((device.hostname.clone(), device.configuration.clone()));
    }

    fn act(&mut self, command: ExecCommand, words: &[String]) -> CommandOutput {
        let number = || {
            words
                .last()
                .and_then(|word| word.parse::<usize>().ok())
                .unwrap_or(0)
        };
        let minutes = u64::try_from(number()).unwrap_or(1);
        let mut text = String::new();
        match command {
            ExecCommand::Enable if self.position.mode != Mode::Exec => {}
            ExecCommand::Enable => {
                if self.shared.enable_password.is_none() {
                    return CommandOutput::text("% No password set\n".to_owned());
                }
                return CommandOutput {
                    text: "Password: ".to_owned(),
                    then: AfterOutput::Wait(InputState::EnablePassword { refused: 0 }),
                };
            }
            ExecCommand::Disable => self.position = Position::exec(false),
            ExecCommand::Exit => {
                return CommandOutput {
                    text,
                    then: AfterOutput::Close,
                };
            }
            ExecCommand::Configure | ExecCommand::ConfigureRevert => {
                if let Some(refusal) = self.configuration_lock() {
                    return CommandOutput::text(refusal);
                }
                if command == ExecCommand::ConfigureRevert {
                    match lock(&self.shared.device).begin_timed_change(minutes) {
                        Ok(notice) => text.push_str(&notice),
                        Err(refusal) => return CommandOutput::text(refusal.to_owned()),
                    }
                }
                self.position.mode = Mode::Config;
                text.push_str("Enter configuration commands, one per line.  End with CNTL/Z.\n");
            }
            ExecCommand::ConfigureConfirm => {
                text.push_str(lock(&self.shared.device).confirm_change());
            }
            ExecCommand::ConfigureRevertNow => text = lock(&self.shared.device).revert_now(),
            ExecCommand::ConfigureRevertTimer => {
                text.push_str(lock(&self.shared.device).reset_revert_timer(minutes));
            }
            ExecCommand::ConfigureReplace => {
                let file = words.get(2).map_or("", String::as_str);
                text = lock(&self.shared.device).replace_config(file);
            }
            ExecCommand::ArchiveConfig => {
                text.push_str(lock(&self.shared.device).archive_answer());
            }
            ExecCommand::Reload => return self.request_reload(words),
            ExecCommand::ReloadCancel => return self.cancel_reload(),
            ExecCommand::TerminalLength => self.length = number(),
            ExecCommand::TerminalWidth => {
                self.width = if number() == 0 { usize::MAX } else { number() }
            }
            ExecCommand::WriteMemory => {
                self.save();
                text.push_str("Building configuration...\n[OK]\n");
            }
            ExecCommand::CopyToStartup => {
                return CommandOutput {
                    text: "Destination filename [startup-config]? ".to_owned(),
                    then: AfterOutput::Wait(InputState::FileName),
                };
            }
            ExecCommand::ShowUsers => text = self.users(),
            ExecCommand::ClearLine => {
                return CommandOutput {
                    text: "[confirm]".to_owned(),
                    then: AfterOutput::Wait(InputState::ClearLine(number())),
                };
            }
            ExecCommand::TerminalOther | ExecCommand::Clear | ExecCommand::Show(_) => {}
        }
        CommandOutput::text(text)
    }
}
