//! Commands in Puppet's reports, an extension: with the outcome and the answer of the device.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use switchtender_devices::value::Name;

use crate::transaction::{CommandKind, CommandOutcome, CommandRecord};

/// A command.
#[derive(Serialize, Deserialize)]
pub(super) struct PuppetOperation<'a> {
    #[serde(flatten)]
    action: PuppetAction<'a>,
    #[serde(default)]
    attributes: Cow<'a, [Name]>,
    outcome: CommandOutcome,
    device_message: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u64>,
}

/// What is sent.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PuppetAction<'a> {
    Request {
        request: Cow<'a, str>,
    },
    Edit {
        edit: Cow<'a, str>,
    },
    Line {
        #[serde(default)]
        mode: Cow<'a, [String]>,
        line: Option<Cow<'a, str>>,
    },
}

impl<'a> From<&'a CommandRecord> for PuppetOperation<'a> {
    fn from(command: &'a CommandRecord) -> Self {
        let text = command.text.as_deref().map(Cow::Borrowed);
        Self {
            action: match command.kind {
                CommandKind::Line => PuppetAction::Line {
                    mode: Cow::Borrowed(&command.mode),
                    line: text,
                },
                CommandKind::Request => PuppetAction::Request {
                    request: text.unwrap_or_default(),
                },
                CommandKind::Edit => PuppetAction::Edit {
                    edit: text.unwrap_or_default(),
                },
            },
            attributes: Cow::Borrowed(&command.attributes),
            outcome: command.outcome,
            device_message: command.device_message.as_deref().map(Cow::Borrowed),
            milliseconds: command.milliseconds,
        }
    }
}

impl PuppetOperation<'_> {
    pub(super) fn into_command(self) -> CommandRecord {
        let (kind, mode, text) = match self.action {
            PuppetAction::Line { mode, line } => (CommandKind::Line, mode.into_owned(), line),
            PuppetAction::Request { request } => (CommandKind::Request, Vec::new(), Some(request)),
            PuppetAction::Edit { edit } => (CommandKind::Edit, Vec::new(), Some(edit)),
        };
        CommandRecord {
            mode,
            text: text.map(Cow::into_owned),
            outcome: self.outcome,
            device_message: self.device_message.map(Cow::into_owned),
            milliseconds: self.milliseconds,
            kind,
            attributes: self.attributes.into_owned(),
            ..CommandRecord::default()
        }
    }
}
