//! What the dialogue engine must know of a platform, as data.
//!
//! Made from the sections `[connection]`, `[mode.*]`, `[open]`, `[close]`, `[save]`, `[error]` and
//! `[confirm.*]` of a platform's file by [`Rules::read`]. No platform is named in code.

use crate::pattern::{Pattern, Patterns};

/// Index of a mode in [`Rules::modes`].
pub type ModeId = usize;

/// How one platform talks.
#[derive(Clone, Debug)]
pub struct CliRules {
    /// TCP port where the inventory names none.
    pub port: u16,
    /// What ends a line that we send.
    pub newline: String,
    /// How much may be written before its prompts are seen.
    pub window: Window,
    /// Lines that are no part of any answer: log messages, time stamps.
    pub noise: Patterns,
    /// Lines with secrets, whoever set them; group 1 is the secret.
    pub secrets: Vec<Pattern>,
    pub pager: Option<Pager>,
    /// Lines that change the host name in the prompt.
    pub rename: Option<Pattern>,
    /// What the device prints when it begins to take a text without prompts.
    pub text_entry: Option<Pattern>,
    pub modes: Vec<Mode>,
    /// Where reads are sent.
    pub read_mode: ModeId,
    /// Where global configuration lines are sent.
    pub config_mode: Option<ModeId>,
    /// The one mode that stands for all configuration sub-modes.
    pub sub_mode: Option<ModeId>,
    /// A sub-mode can be entered directly from another one.
    pub direct_sub_modes: bool,
    /// Sent once after login; none of these may ask a question.
    pub open: Vec<Step>,
    pub close: Vec<Step>,
    pub save: Vec<Step>,
    pub errors: ErrorRules,
    pub confirms: Vec<ConfirmRule>,
}

/// How much may be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub lines: usize,
    pub bytes: usize,
}

/// A program that stops after each page.
#[derive(Clone, Debug)]
pub struct Pager {
    pub marker: Pattern,
    /// The key for the next page.
    pub key: String,
}

/// A state of the command line, known by its prompt.
#[derive(Clone, Debug)]
pub struct Mode {
    pub name: String,
    /// The whole last line is this prompt.
    pub(super) prompt_line: Pattern,
    /// A line begins with this prompt.
    pub(super) prompt_prefix: Pattern,
    /// Texts that the prompt must not contain.
    pub excludes: Vec<String>,
    pub transitions: Vec<ModeTransition>,
}

/// A way from one mode to another.
#[derive(Clone, Debug)]
pub struct ModeTransition {
    pub to: ModeId,
    pub send: String,
    /// The device asks for a secret on this way, or may do so.
    pub secret: Option<SecretRequest>,
    /// What must be true after the way was taken.
    pub verify: Option<Step>,
}

/// A request for a secret and the signs that it was wrong.
#[derive(Clone, Debug)]
pub struct SecretRequest {
    /// The last line when the device asks.
    pub request: Pattern,
    /// Output that means "wrong" or "not possible".
    pub refused: Vec<Pattern>,
}

/// A line that belongs to opening, closing or saving.
#[derive(Clone, Debug)]
pub struct Step {
    pub send: String,
    /// The modes in which it is sent; empty means the mode for reads.
    pub modes: Vec<ModeId>,
    /// What the output must contain.
    pub expect: Option<Pattern>,
    /// A refusal does not matter.
    pub optional: bool,
}

/// What a line of output means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageClass {
    /// Says nothing.
    Ignore,
    /// The command took effect, and people should see this.
    Warning,
    /// The login is not valid any more: nothing further may be tried.
    Fatal,
    /// This user may not do this; others lines may still work.
    Authorization,
    /// The command was refused.
    Command,
}

/// The lines of output that mean something.
#[derive(Clone, Debug, Default)]
pub struct ErrorRules {
    /// In order of precedence.
    pub patterns: Patterns,
    /// What each of the patterns means.
    pub classes: Vec<MessageClass>,
}

/// A question that the device may ask.
#[derive(Clone, Debug)]
pub struct ConfirmRule {
    pub name: String,
    pub question: Vec<Pattern>,
    /// What agrees, sent with a newline. `None`: never agreed to.
    pub answer: Option<String>,
    /// Commands after which it is expected; empty means any.
    pub only_after: Vec<Pattern>,
    /// Keys that decline, sent as they are.
    pub refuse: String,
    /// So distinctive that it is recognised even where typed-ahead text has answered it.
    pub anywhere: bool,
}

impl CliRules {
    /// The mode whose prompt is this whole line, with the host name in it.
    pub fn prompt(&self, line: &str) -> Option<(ModeId, String)> {
        self.modes.iter().enumerate().find_map(|(id, mode)| {
            let found = mode.prompt_line.captures(line)?;
            mode.allows(line)
                .then(|| (id, named_group(&found, "name").to_owned()))
        })
    }

    /// The prompt at the beginning of a line and what follows it.
    pub(super) fn leading_prompt<'l>(&self, line: &'l str) -> Option<(ModeId, String, &'l str)> {
        self.modes.iter().enumerate().find_map(|(id, mode)| {
            let found = mode.prompt_prefix.captures(line)?;
            let end = found.get(0).map_or(0, |all| all.end());
            mode.allows(&line[..end])
                .then(|| (id, named_group(&found, "name").to_owned(), &line[end..]))
        })
    }

    /// The edge between two modes.
    pub fn transition(&self, from: ModeId, to: ModeId) -> Option<&ModeTransition> {
        self.modes[from]
            .transitions
            .iter()
            .find(|edge| edge.to == to)
    }

    /// The edges of the shortest way between two modes.
    pub fn transition_path(&self, from: ModeId, to: ModeId) -> Option<Vec<&ModeTransition>> {
        let mut reached: Vec<Option<(ModeId, &ModeTransition)>> = vec![None; self.modes.len()];
        let mut border = vec![from];
        while !border.is_empty() && from != to && reached[to].is_none() {
            let mut next = Vec::new();
            for mode in border {
                for edge in &self.modes[mode].transitions {
                    if edge.to != from && reached[edge.to].is_none() {
                        reached[edge.to] = Some((mode, edge));
                        next.push(edge.to);
                    }
                }
            }
            border = next;
        }
        let mut way = Vec::new();
        let mut at = to;
        while at != from {
            let (before, edge) = reached[at]?;
            way.push(edge);
            at = before;
        }
        way.reverse();
        Some(way)
    }

    /// Whether configuration lines are taken in this mode.
    pub fn is_config_mode(&self, mode: ModeId) -> bool {
        Some(mode) == self.config_mode || Some(mode) == self.sub_mode
    }
}

impl Mode {
    fn allows(&self, prompt: &str) -> bool {
        !self.excludes.iter().any(|text| prompt.contains(text))
    }
}

impl Step {
    /// Whether the step belongs in a mode.
    pub fn applies_in(&self, mode: ModeId, read_mode: ModeId) -> bool {
        if self.modes.is_empty() {
            mode == read_mode
        } else {
            self.modes.contains(&mode)
        }
    }
}

fn named_group<'t>(found: &regex::Captures<'t>, name: &str) -> &'t str {
    found.name(name).map_or("", |part| part.as_str())
}
