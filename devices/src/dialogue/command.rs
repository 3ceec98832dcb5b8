//! A line that is sent, and the answer to it.

use super::cli_rules::{ModeId, SecretRequest};
use crate::secret::Text;

/// A line to be answered by a prompt.
#[derive(Clone, Debug, Default)]
pub struct Command {
    pub line: Text,
    /// Lines that are read without a prompt in between.
    pub body: Vec<Text>,
    /// The secret to give if the device asks for it.
    pub secret: Option<SecretResponse>,
    /// Agree to the questions that the rules expect after this line. Otherwise all are declined.
    pub accept_questions: bool,
}

/// What to do when a secret is asked for.
#[derive(Clone, Debug)]
pub struct SecretResponse {
    pub request: SecretRequest,
    /// `None`: there is none to give.
    pub value: Option<Text>,
}

impl Command {
    /// A line that cannot ask anything.
    pub fn line(line: impl Into<Text>) -> Self {
        Self {
            line: line.into(),
            ..Self::default()
        }
    }
}

/// The answer to one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Lines between the echo and the prompt, noise removed.
    pub output: Vec<String>,
    pub prompt: Prompt,
    /// The questions that were asked, in order.
    pub questions: Vec<AskedQuestion>,
    pub secret: SecretState,
    /// The device took the body of the line; true where there is none.
    pub body_accepted: bool,
    /// Column in the echoed line's own text of a printed column, for error marks.
    pub prompt_width: usize,
}

/// Where the device is after an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub mode: ModeId,
    /// As printed, `core1(config-if)#`.
    pub text: String,
}

/// A question and what was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedQuestion {
    pub text: String,
    pub accepted: bool,
}

/// What became of a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretState {
    /// It was not asked for, and so not sent.
    #[default]
    NotAsked,
    Given,
    /// It was given and asked for again, or refused in words.
    Wrong,
    /// It was asked for and there was none to give.
    Missing,
}
