//! A command and its answer.

use super::cli_rules::{ModeId, SecretRequest};
use crate::pattern::Pattern;
use crate::secret::Text;

/// A command line, which a prompt answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Command {
    /// The line.
    pub(crate) line: Text,
    /// Further lines that the device reads without a prompt.
    pub(crate) body: Vec<Text>,
    /// The secret to send if the device requests it.
    pub(crate) secret: Option<SecretResponse>,
    /// Accept the questions that the rules list for this command, up to the first one that is declined.
    /// Otherwise all are declined.
    pub(crate) accept_questions: bool,
    /// The answer to a question of this command alone.
    pub(crate) answer: Option<ExpectedAnswer>,
}

/// A question and its answer, sent with a newline.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedAnswer {
    pub(crate) question: Pattern,
    pub(crate) answer: String,
}

/// The response to a request for a secret.
#[derive(Clone, Debug)]
pub(crate) struct SecretResponse {
    pub(crate) request: SecretRequest,
    /// `None`: no secret is configured.
    pub(crate) value: Option<Text>,
}

impl Command {
    /// A command that declines all questions.
    pub(crate) fn line(line: impl Into<Text>) -> Self {
        Self {
            line: line.into(),
            ..Self::default()
        }
    }
}

/// The answer to one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Lines between the echo and the prompt, without noise.
    pub(crate) output: Vec<String>,
    /// For each log message that was dropped between them, the number of lines before it.
    pub(crate) log_positions: Vec<usize>,
    pub(crate) prompt: Prompt,
    /// The questions of the device, in order.
    pub(crate) questions: Vec<DeviceQuestion>,
    pub(crate) secret: SecretState,
    /// An unexpected question may have consumed the command as its answer.
    pub(crate) is_consumed: bool,
    /// The device accepted the body; true if there is none.
    pub(crate) body_accepted: bool,
    /// Width of the prompt before the echo, for the column of error marks.
    pub(crate) prompt_width: usize,
}

/// The prompt after an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) mode: ModeId,
    /// Its text: `core1(config-if)#`.
    pub(crate) text: String,
}

/// A question of the device and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceQuestion {
    pub(crate) text: String,
    pub(crate) accepted: bool,
}

/// What happened to a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SecretState {
    /// The device did not request it.
    #[default]
    NotRequested,
    /// It was sent.
    Sent,
    /// It was sent, and the device requested it again or refused it.
    Wrong,
    /// The device requested it, and none is configured.
    Missing,
}
