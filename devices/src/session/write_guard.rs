//! Checks of what a session may send.
//!
//! A [`PermittedCommand`] can only be made here, and only such lines can be sent. A read-only
//! session may send the reads of the platform and the lines that open and close the session.

use super::Access;
use super::error::SessionErrorKind;
use crate::dialogue::netconf::is_read;
use crate::dialogue::{CliRules, Command};
use crate::secret::Text;

/// A command that may be sent.
#[derive(Debug)]
pub(super) struct PermittedCommand {
    command: Command,
    /// It may change the device.
    pub(crate) writes: bool,
}

impl PermittedCommand {
    pub(crate) fn line(&self) -> &Text {
        &self.command.line
    }

    pub(crate) fn into_command(self) -> Command {
        self.command
    }
}

/// The permissions of one session.
#[derive(Clone, Debug)]
pub(super) struct WriteGuard {
    access: Access,
    /// The commands that change nothing.
    reads: Vec<String>,
}

impl WriteGuard {
    /// Permissions for a command line. `reads` are those of the platform, with `{name}` for a word.
    pub(crate) fn new(access: Access, rules: &CliRules, reads: &[String]) -> Self {
        let steps = rules.open.iter().chain(&rules.close);
        let mut permitted: Vec<_> = steps.map(|step| step.send.clone()).collect();
        permitted.extend_from_slice(reads);
        permitted.extend(rules.protect.reads().cloned());
        permitted.extend(rules.sessions.iter().map(|rules| rules.list.clone()));
        for (mode, transition) in rules.modes.iter().enumerate().flat_map(|(mode, from)| {
            from.transitions
                .iter()
                .map(move |transition| (mode, transition))
        }) {
            // Entering configuration is not allowed; leaving it is.
            if rules.is_config_mode(transition.to) && !rules.is_config_mode(mode) {
                continue;
            }
            permitted.push(transition.send.clone());
            permitted.extend(transition.verify.iter().map(|step| step.send.clone()));
        }
        Self {
            access,
            reads: permitted,
        }
    }

    /// Checks a command.
    ///
    /// # Errors
    /// The session is read-only, and the command is not a read.
    pub(crate) fn permit(
        &self,
        mut command: Command,
    ) -> Result<PermittedCommand, SessionErrorKind> {
        let writes = !self.only_reads(&command);
        if self.access == Access::ReadOnly {
            if writes {
                return Err(SessionErrorKind::ReadOnly {
                    command: command.line.to_string(),
                });
            }
            command.accept_questions = false;
        }
        Ok(PermittedCommand { command, writes })
    }

    fn only_reads(&self, command: &Command) -> bool {
        let line = command.line.reveal();
        let mut templates = self.reads.iter();
        command.body.is_empty()
            && !line.contains(['\r', '\n'])
            && templates.any(|template| matches_template(template, &line))
    }
}

/// Whether a NETCONF session may send an operation. A read-only session reads and ends.
pub(super) fn permits_operation(access: Access, name: &str) -> bool {
    !writes(name) || access == Access::ReadWrite && !name.is_empty()
}

/// Whether a NETCONF operation may change the device.
pub(super) fn writes(name: &str) -> bool {
    !is_read(name) && name != "close-session"
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
