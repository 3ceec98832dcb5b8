//! The settings of a platform: prompts, messages, and the form of the printed configuration.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::interface_kind::InterfaceKind;
use crate::command_api::CommandApiForm;

/// `platform.toml` of a grammar.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlatformSettings {
    /// The first word of a negation.
    pub(super) negate: String,
    /// The first word of a line that resets another one to its default.
    pub(super) reset: Option<String>,
    /// Blanks before a line of a block.
    pub(super) indent: String,
    /// The line between parts of the printed configuration.
    pub(super) separator: String,
    /// Lines before the configuration, with `{hostname}` and `{time}`.
    pub(super) header: String,
    /// Lines behind it.
    #[serde(default)]
    pub(super) footer: String,
    /// The question between pages.
    pub(super) pager: String,
    /// The answer to a saved configuration.
    pub(super) saved: String,
    /// Product number.
    pub(super) model: String,
    /// Version of the software.
    pub(super) version: String,
    /// The configuration of a new device. Its blocks cannot be removed.
    pub(super) factory: String,
    /// The start of the lines whose blocks are parts of the device. A configuration that has some
    /// replaces those of the factory.
    pub(super) ports: Vec<String>,
    pub(super) prompt: PromptSettings,
    pub(super) message: MessageSettings,
    pub(super) api: ApiSettings,
    pub(super) interface: BTreeMap<String, InterfaceKind>,
}

/// Prompts, with `{hostname}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromptSettings {
    /// Sessions begin in this mode, if there is one.
    pub(super) user: Option<String>,
    pub(super) exec: String,
    /// `{mode}` is the text of the mode, `{session}` that of a candidate.
    pub(super) config: String,
}

/// Refusals. `{caret}` is a line with a caret below the first wrong word, `{word}` the word,
/// `{number}` its number from 0.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageSettings {
    pub(super) invalid: String,
    pub(super) incomplete: String,
    pub(super) ambiguous: String,
    /// The error of a removal of a block that is part of the device.
    pub(super) permanent: String,
}

/// Requests over HTTP.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiSettings {
    pub(super) form: CommandApiForm,
    /// The refusals in answers.
    pub(super) invalid: String,
    pub(super) incomplete: String,
    pub(super) ambiguous: String,
}
