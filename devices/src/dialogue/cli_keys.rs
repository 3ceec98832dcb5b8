//! The keys of the sections about the dialogue with a command line.

use std::num::NonZeroU32;

use super::candidate_rules::CandidateCommand;
use super::cli_rules::{prompt_line, prompt_prefix};
use super::session_limits::LimitKeys;
use crate::document::{At, Item, KeyValue, Named, ValueShape, keys};
use crate::pattern::Pattern;

keys! {
    /// Connection of a command line.
    pub(crate) struct CliConnectionKeys {
        /// Default TCP port.
        port: u16 = 22,
        /// End of a sent line; default: carriage return.
        newline: String = "\r".to_owned(),
        /// Number of lines that are sent ahead of their answers, 40 by default.
        window: Option<NonZeroU32>,
        /// Absolute limits.
        limits: Option<LimitKeys>,
        /// Patterns of lines to drop.
        noise: Vec<Pattern>,
        /// Patterns of lines to drop directly before and after such a line.
        noise_frame: Vec<Pattern>,
        /// Pattern of a log message anywhere in a line.
        log_message: Option<Pattern>,
        /// The pager of the device.
        pager: Option<PagerKeys>,
        /// Pattern of lines that may change the hostname in the prompt.
        rename: Option<Pattern>,
        /// Output before the entry of a text of several lines.
        text_entry: Option<Pattern>,
        /// Mode in which reads are sent.
        read_mode: At<String>,
        /// Mode of global configuration lines.
        config_mode: Option<At<String>>,
        /// Mode that stands for all submodes.
        sub_mode: Option<At<String>>,
        /// A submode can be entered from another one.
        direct_sub_modes: bool,
        /// Patterns of lines that enter a mode whose changes apply when it is left.
        applies_on_exit: Vec<Pattern>,
    }
}

keys! {
    /// Output in pages.
    pub(crate) struct PagerKeys {
        /// Pattern of the end of a page.
        question: Pattern,
        /// Key for the next page.
        answer: String = " ".to_owned(),
    }
}

/// The pattern of a prompt, and those of a line and its beginning that can be one.
#[derive(Clone, Debug)]
pub(crate) struct PromptPatterns {
    pub(super) complete: Pattern,
    pub(super) line: Pattern,
    pub(super) prefix: Pattern,
}

impl KeyValue for PromptPatterns {
    fn declare(shape: &ValueShape) {
        Pattern::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let prompt = item.string()?;
        Some(Self {
            complete: item.compile(&prompt)?,
            line: item.compile(&prompt_line(&prompt))?,
            prefix: item.compile(&prompt_prefix(&prompt))?,
        })
    }
}

keys! {
    /// A mode of a command line.
    pub(crate) struct ModeKeys {
        /// Pattern of the whole prompt; the group `name` is the hostname.
        prompt: At<PromptPatterns>,
        /// Texts that the prompt must not contain.
        unless: Vec<String>,
        /// Transitions to other modes.
        to: Named<TransitionKeys>,
    }
}

keys! {
    /// The command to another mode.
    pub(crate) struct TransitionKeys {
        /// The line that leads to the mode; `{candidate}` is the name of a new candidate.
        send: CandidateCommand,
        /// The transition asks for the enable password.
        secret: Option<SecretRequestKeys>,
        /// A command that is checked after the transition.
        check: Option<StepKeys>,
    }
}

keys! {
    /// A secret that the device requests.
    pub(crate) struct SecretRequestKeys {
        /// Pattern of the request for it.
        question: Pattern,
        /// Pattern of its refusal.
        refused: Vec<Pattern>,
    }
}

keys! {
    /// A command at the beginning or end of a session.
    pub(crate) struct StepKeys {
        /// The command.
        send: String,
        /// Modes in which it is sent; without it, all.
        modes as "in": Vec<At<String>>,
        /// Pattern that its output must match.
        expect: Option<Pattern>,
        /// A rejection is ignored.
        optional: bool,
    }
}

keys! {
    /// Messages of the device by their class, in order of precedence.
    pub(crate) struct CliErrorKeys {
        /// Patterns of output without a meaning.
        ignore: Vec<Pattern>,
        /// Patterns of warnings: the line is applied.
        warning: Vec<Pattern>,
        /// Patterns that end the session.
        fatal: Vec<Pattern>,
        /// Patterns of refused authorization.
        authorization: Vec<Pattern>,
        /// Patterns of rejected lines.
        command: Vec<Pattern>,
        /// Patterns of output that may be an error.
        unclear: Vec<Pattern>,
    }
}

/// The patterns of a question; at least one.
#[derive(Clone, Debug)]
pub(crate) struct Questions(pub(super) Vec<Pattern>);

impl KeyValue for Questions {
    fn declare(shape: &ValueShape) {
        Vec::<Pattern>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        Vec::read(item).map(Self)
    }
}

keys! {
    /// A question of the device.
    pub(crate) struct ConfirmQuestionKeys {
        /// Pattern at the end of the last line.
        question: Questions,
        /// The answer; without it, the command is refused.
        answer: Option<String>,
        /// Patterns of lines whose question is confirmed.
        only_after: Vec<Pattern>,
        /// Keys that decline.
        refuse: String = "\u{3}".to_owned(),
        /// The question may be in the middle of output.
        anywhere: bool,
    }
}
