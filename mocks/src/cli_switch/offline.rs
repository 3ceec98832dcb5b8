//! A switch without network and login: configuration lines and outputs only.

use super::StartSwitchError;
use super::configure::ConfigSession;
use super::device::{Device, Mode, Position};
use super::effect::{Effect, ExecCommand, Reply};
use super::factory_config::new_device;
use super::grammar::global::set_banner;
use super::grammar::{Grammar, LineForm, RuleScope, exec, tokens};
use super::options::SwitchOptions;
use super::show::show;

/// A configuration line that the switch rejects.
#[derive(Debug, thiserror::Error)]
#[error("the switch rejected the line: {answer}")]
pub struct RejectedLine {
    /// Its answer.
    pub answer: String,
}

/// A switch that tests use without a session.
#[derive(Debug)]
pub struct OfflineSwitch {
    device: Device,
    position: Position,
    exec: Vec<(String, super::effect::Show)>,
}

impl OfflineSwitch {
    /// A switch with the model and the configuration of the options.
    ///
    /// # Errors
    /// The model is not supported.
    pub fn new(options: &SwitchOptions) -> Result<Self, StartSwitchError> {
        let profile = super::profile(options)?;
        let (device, _) = new_device(profile, options);
        Ok(Self {
            device,
            position: config(),
            exec: Vec::new(),
        })
    }

    /// The output of a `show` command; `None` if the switch rejects it.
    pub fn show(&mut self, command: &str) -> Option<String> {
        let listed = self.exec.iter().find(|(text, _)| text == command);
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let what = match listed {
            Some((_, what)) => *what,
            None => {
                let grammar = Grammar::new(exec::RULES);
                let scope = RuleScope {
                    profile: self.device.profile,
                    interface: None,
                    privileged: true,
                };
                let parsed = grammar
                    .parse(&scope, command, &tokens(command), LineForm::Complete)
                    .ok()?;
                let Effect::Exec(ExecCommand::Show(what)) = exec::RULES[parsed.rule].effect else {
                    return None;
                };
                self.exec.push((command.to_owned(), what));
                what
            }
        };
        show(&self.device, what, &words, true)
    }

    /// Executes a global configuration line, or one of the submode that the lines before it
    /// entered. `body` are the further lines of a text. Questions are confirmed.
    ///
    /// # Errors
    /// The switch rejects the line.
    pub fn configure(&mut self, line: &str, body: &[String]) -> Result<(), RejectedLine> {
        let mut session = ConfigSession {
            device: &mut self.device,
            position: &mut self.position,
        };
        let mut reply = session.line(line, false);
        if matches!(reply, Ok(Reply::Ask(_))) {
            reply = session.line(line, true);
        }
        match reply {
            Ok(Reply::Text(text)) if !text.is_empty() => Err(RejectedLine { answer: text }),
            Ok(Reply::Collect {
                identity,
                started,
                delimiter,
            }) => {
                let mut text = started;
                for line in body {
                    text.push('\n');
                    text.push_str(line);
                }
                let end = text.find(&delimiter).unwrap_or(text.len());
                set_banner(&mut session, &identity, &text[..end]);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(RejectedLine {
                answer: format!("{error:?}"),
            }),
        }
    }

    /// Returns to the global configuration mode.
    pub fn leave(&mut self) {
        ConfigSession {
            device: &mut self.device,
            position: &mut self.position,
        }
        .leave();
    }
}

fn config() -> Position {
    Position {
        mode: Mode::Config,
        pending: None,
    }
}
