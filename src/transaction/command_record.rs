//! Commands of a resource as text, with their outcomes and the answers of the device.

use serde::{Deserialize, Serialize};
use switchtender_devices::operation::{Action, Operation, Outcome};
use switchtender_devices::value::Name;

use super::event::OperationRecord;

/// A command with the answer of the device; secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = StoredOperation)]
pub struct CommandRecord {
    /// The modes in which the line is entered, outermost first.
    #[serde(default)]
    pub mode: Vec<String>,
    /// The line, request or edit. `None`: the operation only enters its mode.
    pub text: Option<String>,
    /// `planned`, `done`, `refused`, `not_sent` or `unknown`.
    #[schema(value_type = String)]
    pub outcome: CommandOutcome,
    /// What the device answered.
    pub device_message: Option<String>,
    /// How long it took; `None` if it was not sent.
    pub milliseconds: Option<u64>,
    /// Further lines that the device reads without a prompt, such as the text of a banner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) body: Vec<String>,
    #[serde(skip)]
    pub(crate) kind: CommandKind,
    /// The attributes that it changes.
    #[serde(skip)]
    pub(crate) attributes: Vec<Name>,
    /// A warning about its effect.
    #[serde(skip)]
    pub(crate) warning: Option<String>,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandOutcome {
    /// A run with changes would send it.
    #[default]
    Planned,
    /// The device accepted it.
    Done,
    /// The device refused it.
    Refused,
    /// It was not sent, because of an earlier failure.
    NotSent,
    /// Whether the device has applied it is not known.
    Unknown,
}

/// The protocol of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CommandKind {
    #[default]
    Line,
    Request,
    Edit,
}

impl CommandRecord {
    /// A command that was sent, or that a preview found.
    pub(super) fn new(record: &OperationRecord) -> Self {
        let planned = Self::planned(&record.operation);
        let Some((outcome, took)) = &record.result else {
            return planned;
        };
        let (outcome, device_message) = match outcome {
            Outcome::Done { messages } => (
                CommandOutcome::Done,
                Some(messages.join("\n")).filter(|text| !text.is_empty()),
            ),
            Outcome::Refused { message } => (CommandOutcome::Refused, Some(message.clone())),
            Outcome::NotSent => (CommandOutcome::NotSent, None),
            Outcome::Unknown { reason, .. } => (CommandOutcome::Unknown, Some(reason.clone())),
        };
        Self {
            outcome,
            device_message,
            milliseconds: Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            ..planned
        }
    }

    /// A command that would be sent.
    pub(crate) fn planned(operation: &Operation) -> Self {
        let texts =
            |texts: &[_]| -> Vec<String> { texts.iter().map(ToString::to_string).collect() };
        let command = match &operation.action {
            Action::Line(line) => Self {
                mode: texts(&line.mode),
                text: line.text.as_ref().map(ToString::to_string),
                body: texts(&line.body),
                ..Self::default()
            },
            Action::Request(request) => Self {
                text: Some(request.to_string()),
                kind: CommandKind::Request,
                ..Self::default()
            },
            Action::Edit(edit) => Self {
                text: Some(edit.config.to_string()),
                kind: CommandKind::Edit,
                ..Self::default()
            },
        };
        Self {
            attributes: operation.attributes.clone(),
            warning: operation.warning().map(str::to_owned),
            ..command
        }
    }

    /// All its texts, for masks.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &String> {
        let command = self.mode.iter().chain(&self.text).chain(&self.body);
        command.chain(&self.device_message)
    }

    /// As [`CommandRecord::texts`].
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let command = self.mode.iter_mut().chain(&mut self.text);
        command
            .chain(&mut self.body)
            .chain(&mut self.device_message)
    }

    /// The outcome in words, unless the command succeeded or is planned.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match self.outcome {
            CommandOutcome::Planned | CommandOutcome::Done => None,
            CommandOutcome::Refused => Some("refused"),
            CommandOutcome::NotSent => Some("not sent"),
            CommandOutcome::Unknown => Some("unknown"),
        }
    }
}
