//! Rules of a platform's command line, as data.
//!
//! Made from the sections `[connection]`, `[mode.*]`, `[open]`, `[close]`, `[save]`, `[error]` and
//! `[confirm.*]` of a platform's file by [`CliRules::read`].

use std::ops::Range;
use std::sync::Arc;

use super::candidate_rules::CandidateRules;
use super::hostname_pattern::HostnamePattern;
use super::line_request_rules::LineRequestRules;
use super::protect_rules::ProtectMethods;
use super::session_limits::SessionLimits;
use super::session_rules::{LockRules, SessionRules};
use crate::diagnostic::{Diagnostic, Source};
use crate::pattern::{Pattern, Patterns};
use crate::secret_text::SecretText;

/// Index of a mode in [`CliRules::modes`].
pub(crate) type ModeId = usize;

/// Rules of a platform's command line.
#[derive(Clone, Debug)]
pub(crate) struct CliRules {
    /// Default TCP port.
    pub(crate) port: u16,
    /// Line end of commands.
    pub(crate) newline: String,
    /// Limit of commands without an answer.
    pub(crate) window: Window,
    /// Absolute limits.
    pub(crate) limits: SessionLimits,
    /// Lines to ignore: log messages, timestamps.
    pub(crate) noise: Patterns,
    /// Lines that are ignored directly before and after such a line: the frame of a message.
    pub(crate) noise_frame: Patterns,
    /// The part of a line by which a log message is recognized.
    pub(crate) log_message: Option<Pattern>,
    /// Where secrets stand in the text of the devices.
    pub(crate) secrets: SecretText,
    /// The pager, if the device has one.
    pub(crate) pager: Option<Pager>,
    /// Commands that change the host name in the prompt.
    pub(crate) rename: Option<Pattern>,
    /// Output that requests a text without prompts.
    pub(crate) text_entry: Option<Pattern>,
    /// All modes.
    pub(crate) modes: Vec<Mode>,
    /// The mode of reads.
    pub(crate) read_mode: ModeId,
    /// The mode of global configuration lines.
    pub(crate) config_mode: Option<ModeId>,
    /// The mode that represents all configuration sub-modes.
    pub(crate) sub_mode: Option<ModeId>,
    /// A sub-mode can be entered from another sub-mode.
    pub(crate) direct_sub_modes: bool,
    /// Lines that enter a mode whose changes the device applies, or refuses, when it is left.
    pub(crate) applies_on_exit: Patterns,
    /// Commands after login, without questions.
    pub(crate) open: Vec<Step>,
    /// Commands that log off.
    pub(crate) close: Vec<Step>,
    /// Commands that save the running configuration.
    pub(crate) save: Vec<Step>,
    /// The candidate configuration, if the device has one.
    pub(crate) candidate: Option<CandidateRules>,
    /// How the device reverts the changes of a run.
    pub(crate) protect: ProtectMethods,
    /// How sessions are listed and ended.
    pub(crate) sessions: Option<SessionRules>,
    /// The lock of the configuration.
    pub(crate) lock: Option<LockRules>,
    /// Error messages.
    pub(crate) errors: ErrorRules,
    /// Questions.
    pub(crate) confirms: Vec<ConfirmRule>,
    /// How command lines travel in HTTP requests, if the device has such an interface.
    pub(crate) http: Option<Arc<LineRequestRules>>,
}

/// Limit of commands without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Number of commands.
    pub(crate) lines: usize,
    /// Their length.
    pub(crate) bytes: usize,
}

/// A pager, which stops after each page of output.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    /// Its prompt.
    pub(crate) marker: Pattern,
    /// The key for the next page.
    pub(crate) key: String,
}

/// A mode of the command line, recognized by its prompt.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    /// Name in the definition.
    pub(crate) name: String,
    /// The file of the prompt, and its position.
    pub(super) source: Arc<Source>,
    pub(super) span: Range<usize>,
    /// The prompt.
    pub(super) prompt: Pattern,
    /// Matches a line that is only the prompt.
    pub(super) prompt_line: Pattern,
    /// Matches the prompt at the start of a line.
    pub(super) prompt_prefix: Pattern,
    /// Texts that the prompt must not contain.
    pub(crate) excludes: Vec<String>,
    /// Transitions to other modes.
    pub(crate) transitions: Vec<ModeTransition>,
}

/// A transition from one mode to another.
#[derive(Clone, Debug)]
pub(crate) struct ModeTransition {
    /// The other mode.
    pub(crate) to: ModeId,
    /// The command.
    pub(crate) send: String,
    /// The secret that the device may request.
    pub(crate) secret: Option<SecretRequest>,
    /// The check after the transition.
    pub(crate) verify: Option<Step>,
}

/// A request for a secret.
#[derive(Clone, Debug)]
pub(crate) struct SecretRequest {
    /// The last line of the request.
    pub(crate) request: Pattern,
    /// Output if the secret is wrong or not accepted.
    pub(crate) refused: Vec<Pattern>,
}

/// A command that opens or closes a session, or saves.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The command.
    pub(crate) send: String,
    /// The modes in which it is sent; empty: the mode of reads.
    pub(crate) modes: Vec<ModeId>,
    /// Pattern that the output must match.
    pub(crate) expect: Option<Pattern>,
    /// A refusal is ignored.
    pub(crate) optional: bool,
}

/// The class of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageClass {
    /// No meaning.
    Ignore,
    /// The command was accepted, with a message for the user.
    Warning,
    /// The login is no longer valid: the session ends.
    Fatal,
    /// The user is not authorized for this command.
    Authorization,
    /// The command was refused.
    Command,
    /// It may be a complaint: the device must be read to determine whether the command was applied.
    Unclear,
}

/// Patterns of messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorRules {
    /// In order of precedence.
    pub(crate) patterns: Patterns,
    /// The class of each pattern.
    pub(crate) classes: Vec<MessageClass>,
}

/// A question of the device.
#[derive(Clone, Debug)]
pub(crate) struct ConfirmRule {
    /// Patterns of the question.
    pub(crate) question: Vec<Pattern>,
    /// The answer that accepts it, sent with a newline. `None`: always declined.
    pub(crate) answer: Option<String>,
    /// Commands that may cause it; empty: any.
    pub(crate) only_after: Vec<Pattern>,
    /// Keys that decline it.
    pub(crate) refuse: String,
    /// Recognized within output too, if the next command was consumed as its answer.
    pub(crate) anywhere: bool,
}

impl CliRules {
    /// The mode whose prompt is this line, and the host name in it.
    ///
    /// A name may look like a mode, `core(lab)#`. Of several modes, the first with the host name of the
    /// device counts, and without one the first.
    pub(crate) fn prompt(&self, line: &str, hostname: Option<&str>) -> Option<(ModeId, String)> {
        let found = self.matching_mode(line, hostname, |mode| &mode.prompt_line)?;
        Some((found.0, found.1.to_owned()))
    }

    /// The prompt at the start of a line, and the rest of the line; see [`CliRules::prompt`].
    pub(super) fn leading_prompt<'l>(
        &self,
        line: &'l str,
        hostname: Option<&str>,
    ) -> Option<(ModeId, String, &'l str)> {
        let found = self.matching_mode(line, hostname, |mode| &mode.prompt_prefix)?;
        Some((found.0, found.1.to_owned(), &line[found.2..]))
    }

    /// The mode, the host name, and the end of the prompt.
    fn matching_mode<'l>(
        &self,
        line: &'l str,
        hostname: Option<&str>,
        pattern: impl Fn(&Mode) -> &Pattern,
    ) -> Option<(ModeId, &'l str, usize)> {
        let matches = self.modes.iter().enumerate().filter_map(|(id, mode)| {
            let found = pattern(mode).captures(line)?;
            let end = found.get(0).map_or(0, |all| all.end());
            let name = found.name("name").map_or("", |part| part.as_str());
            mode.allows(&line[..end]).then_some((id, name, end))
        });
        let Some(hostname) = hostname else {
            return matches.into_iter().next();
        };
        let mut first = None;
        for found in matches {
            if self.is_hostname(found.0, found.1, hostname) {
                return Some(found);
            }
            first = first.or(Some(found));
        }
        first
    }

    /// Whether the prompt of a mode shows this host name. Prompts of configuration modes truncate long
    /// names.
    pub(super) fn is_hostname(&self, mode: ModeId, rendered: &str, hostname: &str) -> bool {
        rendered == hostname || self.is_config_mode(mode) && hostname.starts_with(rendered)
    }

    /// These rules, with another pattern of the host name in all prompts.
    #[must_use]
    pub(crate) fn with_hostname(&self, hostname: &HostnamePattern) -> Self {
        let mut rules = self.clone();
        for mode in &mut rules.modes {
            // Only a pattern of an excessive size is refused here, and matches no prompt.
            if let Some(prompt) = hostname.insert_into(mode.prompt.as_str())
                && let Ok(prompt_line) = Pattern::new(&prompt_line(&prompt))
                && let Ok(prompt_prefix) = Pattern::new(&prompt_prefix(&prompt))
                && let Ok(prompt) = Pattern::new(&prompt)
            {
                (mode.prompt, mode.prompt_line, mode.prompt_prefix) =
                    (prompt, prompt_line, prompt_prefix);
            }
        }
        rules
    }

    /// Prompts that several modes recognize: the first mode would be taken for the others.
    pub(crate) fn ambiguous_prompts(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for (id, mode) in self.modes.iter().enumerate() {
            for (other_id, other) in self.modes.iter().enumerate() {
                let example = mode.prompt_examples(&|_| None).into_iter().find(|prompt| {
                    other_id != id
                        && other.prompt_line.is_match(prompt)
                        && other.allows(prompt)
                        && !(Some(id) == self.sub_mode && other.has_other_hostname(mode, prompt))
                });
                let Some(example) = example else { continue };
                let message = format!(
                    "the modes `{}` and `{}` have the same prompt `{example}`",
                    mode.name, other.name
                );
                let text =
                    "list texts of the other prompt in `unless`, or make the pattern narrower";
                findings.push(other.finding("ambiguous-prompt", message).help(text));
            }
        }
        findings
    }

    /// The transition between two modes.
    pub(crate) fn transition(&self, from: ModeId, to: ModeId) -> Option<&ModeTransition> {
        self.modes[from]
            .transitions
            .iter()
            .find(|transition| transition.to == to)
    }

    /// The transitions of the shortest path between two modes.
    pub(crate) fn transition_path(&self, from: ModeId, to: ModeId) -> Option<Vec<&ModeTransition>> {
        let mut reached: Vec<Option<(ModeId, &ModeTransition)>> = vec![None; self.modes.len()];
        let mut border = vec![from];
        while !border.is_empty() && from != to && reached[to].is_none() {
            let mut next = Vec::new();
            for mode in border {
                for transition in &self.modes[mode].transitions {
                    if transition.to != from && reached[transition.to].is_none() {
                        reached[transition.to] = Some((mode, transition));
                        next.push(transition.to);
                    }
                }
            }
            border = next;
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let (before, transition) = reached[at]?;
            path.push(transition);
            at = before;
        }
        path.reverse();
        Some(path)
    }

    /// The command that leaves one level of configuration; empty: there is none.
    pub(crate) fn exit_line(&self) -> &str {
        let transition = self
            .sub_mode
            .zip(self.config_mode)
            .and_then(|(from, to)| self.transition(from, to));
        transition.map_or("", |transition| &transition.send)
    }

    /// The command that leaves configuration from any mode; empty: there is none.
    pub(crate) fn end_line(&self) -> &str {
        [self.sub_mode, self.config_mode]
            .into_iter()
            .flatten()
            .find_map(|mode| self.transition(mode, self.read_mode))
            .map_or("", |transition| &transition.send)
    }

    /// Whether the mode accepts configuration lines.
    pub(crate) fn is_config_mode(&self, mode: ModeId) -> bool {
        Some(mode) == self.config_mode || Some(mode) == self.sub_mode
    }
}

impl Mode {
    /// An error at the section of the mode.
    pub(crate) fn finding(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, self.span.clone(), "")
    }

    /// Prompts of the mode; `group` is the text of a named group.
    pub(crate) fn prompt_examples(&self, group: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        let examples = self.prompt.examples(group).into_iter();
        examples.filter(|prompt| self.allows(prompt)).collect()
    }

    /// Whether this mode and `other` recognize a prompt with different host names: then the name of the
    /// device decides.
    fn has_other_hostname(&self, other: &Mode, prompt: &str) -> bool {
        let name = |mode: &Mode| {
            let found = mode.prompt_line.captures(prompt)?;
            Some(found.name("name")?.range())
        };
        name(self).is_some() && name(self) != name(other)
    }

    fn allows(&self, prompt: &str) -> bool {
        !self.excludes.iter().any(|text| prompt.contains(text))
    }
}

impl Step {
    /// Whether the step is sent in a mode.
    pub(crate) fn applies_in(&self, mode: ModeId, read_mode: ModeId) -> bool {
        if self.modes.is_empty() {
            mode == read_mode
        } else {
            self.modes.contains(&mode)
        }
    }
}

/// The pattern of a line that is only the prompt.
pub(super) fn prompt_line(prompt: &str) -> String {
    format!(r"^(?:{prompt})\s*$")
}

/// The pattern of a line that begins with the prompt.
pub(super) fn prompt_prefix(prompt: &str) -> String {
    format!("^(?:{prompt}) ?")
}
