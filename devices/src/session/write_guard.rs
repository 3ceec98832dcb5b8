//! Checks of what a session may send.
//!
//! A [`PermittedCommand`] can only be made here, and only such lines can be sent. A read-only
//! session may send the reads of the platform and the lines that open and close the session.

use super::Access;
use super::error::SessionErrorKind;
use crate::dialogue::netconf::is_read;
use crate::dialogue::{CliRules, Command};

/// A command that may be sent.
#[derive(Debug)]
pub(super) struct PermittedCommand(Command);

impl PermittedCommand {
    pub(crate) fn into_command(self) -> Command {
        self.0
    }
}

/// The permissions of one session.
#[derive(Clone, Debug)]
pub(super) struct WriteGuard {
    access: Access,
    /// The commands of a read-only session.
    allowed: Vec<String>,
}

impl WriteGuard {
    /// Permissions for a command line. `reads` are those of the platform, with `{name}` for a word.
    pub(crate) fn new(access: Access, rules: &CliRules, reads: &[String]) -> Self {
        let steps = rules.open.iter().chain(&rules.close);
        let mut allowed: Vec<_> = steps.map(|step| step.send.clone()).collect();
        allowed.extend_from_slice(reads);
        allowed.extend(rules.protect.reads().cloned());
        for (mode, transition) in rules.modes.iter().enumerate().flat_map(|(mode, from)| {
            from.transitions
                .iter()
                .map(move |transition| (mode, transition))
        }) {
            // Entering configuration is not allowed; leaving it is.
            if rules.is_config_mode(transition.to) && !rules.is_config_mode(mode) {
                continue;
            }
            allowed.push(transition.send.clone());
            allowed.extend(transition.verify.iter().map(|step| step.send.clone()));
        }
        Self { access, allowed }
    }

    /// Checks a command.
    ///
    /// # Errors
    /// The session is read-only, and the command is not a read.
    pub(crate) fn permit(
        &self,
        mut command: Command,
    ) -> Result<PermittedCommand, SessionErrorKind> {
        if self.access == Access::ReadOnly {
            let line = command.line.reveal();
            let is_allowed = command.body.is_empty()
                && !line.contains(['\r', '\n'])
                && self
                    .allowed
                    .iter()
                    .any(|template| matches_template(template, &line));
            if !is_allowed {
                return Err(SessionErrorKind::ReadOnly {
                    command: command.line.to_string(),
                });
            }
            command.accept_questions = false;
        }
        Ok(PermittedCommand(command))
    }
}

/// Whether a NETCONF session may send an operation. A read-only session reads and ends.
pub(super) fn permits_operation(access: Access, name: &str) -> bool {
    is_read(name) || name == "close-session" || access == Access::ReadWrite && !name.is_empty()
}

/// Whether a line matches a read; `{…}` matches one word without command separators.
fn matches_template(template: &str, line: &str) -> bool {
    let (mut template, mut line) = (template.split(' '), line.split(' '));
    loop {
        match (template.next(), line.next()) {
            (None, None) => return true,
            (Some(template), Some(word)) => {
                let is_placeholder = template.starts_with('{') && template.ends_with('}');
                let is_word = !word.is_empty() && !word.contains(['|', ';', '\u{3}']);
                let matches = template == word || is_placeholder && is_word;
                if !matches {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
