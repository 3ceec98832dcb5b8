//! What a session may send, enforced where bytes leave the process.
//!
//! A [`Permitted`] line can only be made here, and only such lines can be written. A read-only
//! session gets a permit for the reads that the platform names and for the steps that lead there,
//! and for nothing else.

use super::Access;
use super::error::SessionErrorKind;
use crate::dialogue::{CliRules, Command};

/// A line that may be sent.
#[derive(Debug)]
pub(super) struct PermittedCommand(Command);

impl PermittedCommand {
    pub fn into_command(self) -> Command {
        self.0
    }
}

/// The rule of one session.
#[derive(Clone, Debug)]
pub(super) struct WriteGuard {
    access: Access,
    /// All that a read-only session may send.
    allowed: Vec<String>,
}

impl WriteGuard {
    /// The rule for a command line: `reads` are the platform's, with `{name}` for a word.
    pub fn new(access: Access, rules: &CliRules, reads: &[String]) -> Self {
        let steps = rules.open.iter().chain(&rules.close);
        let mut harmless: Vec<_> = steps.map(|step| step.send.clone()).collect();
        harmless.extend_from_slice(reads);
        for (mode, edge) in rules
            .modes
            .iter()
            .enumerate()
            .flat_map(|(mode, from)| from.transitions.iter().map(move |edge| (mode, edge)))
        {
            // A way into configuration is none for this session; a way out of it is.
            if rules.is_config_mode(edge.to) && !rules.is_config_mode(mode) {
                continue;
            }
            harmless.push(edge.send.clone());
            harmless.extend(edge.verify.iter().map(|step| step.send.clone()));
        }
        Self {
            access,
            allowed: harmless,
        }
    }

    /// Asks for a permit.
    ///
    /// # Errors
    /// The session may only read, and this is no read.
    pub fn permit(&self, mut input: Command) -> Result<PermittedCommand, SessionErrorKind> {
        if self.access == Access::ReadOnly {
            let line = input.line.reveal();
            let harmless = input.body.is_empty()
                && !line.contains(['\r', '\n'])
                && self
                    .allowed
                    .iter()
                    .any(|known| matches_template(known, &line));
            if !harmless {
                return Err(SessionErrorKind::ReadOnly {
                    command: input.line.to_string(),
                });
            }
            input.accept_questions = false;
        }
        Ok(PermittedCommand(input))
    }
}

/// Whether a line is a named read; `{…}` stands for one word without separators of commands.
fn matches_template(known: &str, line: &str) -> bool {
    let (mut known, mut line) = (known.split(' '), line.split(' '));
    loop {
        match (known.next(), line.next()) {
            (None, None) => return true,
            (Some(known), Some(word)) => {
                let hole = known.starts_with('{') && known.ends_with('}');
                let one_word = !word.is_empty() && !word.contains(['|', ';', '\u{3}']);
                let fits = known == word || hole && one_word;
                if !fits {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
