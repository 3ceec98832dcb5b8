//! Operations on a device: configuration lines in their modes, HTTP requests, or edits of NETCONF.
//!
//! An [`Operation`] names the attributes that it changes, so that results are reported per
//! attribute. Its text may contain secrets ([`Text`]), which are masked in every output.

pub(crate) mod outline;

use std::fmt;
use std::time::Duration;

use crate::read::ReadRequest;
use crate::secret::Text;
use crate::value::Name;

/// One command or request that changes a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The attributes that it changes; `ensure` for existence.
    pub attributes: Vec<Name>,
    /// What is sent.
    pub action: Action,
}

impl Operation {
    /// The line of a command line that it sends.
    pub(crate) fn line(&self) -> Option<&ConfigLine> {
        match &self.action {
            Action::Line(line) => Some(line),
            Action::Request(_) | Action::Edit(_) => None,
        }
    }

    /// Whether it writes a document that the device may change when it stores it.
    pub(crate) fn writes_document(&self) -> bool {
        match &self.action {
            Action::Line(_) | Action::Edit(_) => false,
            Action::Request(request) => {
                matches!(request.precondition, Precondition::SameAnswer(_))
            }
        }
    }

    /// A warning for the user about an effect of the operation.
    pub fn warning(&self) -> Option<&str> {
        self.line()?.warning.as_deref()
    }
}

/// What an operation sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A line of a command line.
    Line(ConfigLine),
    /// A request to a REST interface.
    Request(Request),
    /// An edit of a NETCONF configuration.
    Edit(Edit),
}

impl Action {
    /// The lines that lead to a mode and the command, one blank for each level; or method, path and
    /// body; or an edit. Secrets are masked.
    pub fn text(&self) -> String {
        match self {
            Action::Line(line) => {
                let lines = line.mode.iter().chain(&line.text).enumerate();
                let lines = lines.map(|(depth, text)| format!("{}{text}", " ".repeat(depth)));
                let body = line.body.iter().map(ToString::to_string);
                lines.chain(body).collect::<Vec<_>>().join("\n")
            }
            Action::Request(request) => request.to_string(),
            Action::Edit(edit) => edit.config.to_string(),
        }
    }

    /// Its secrets in clear text.
    pub fn secrets(&self) -> Vec<&str> {
        match self {
            Action::Line(line) => {
                let texts = line.mode.iter().chain(&line.text).chain(&line.body);
                texts.flat_map(Text::secrets).collect()
            }
            Action::Request(request) => request.body.iter().flat_map(Text::secrets).collect(),
            Action::Edit(edit) => edit.config.secrets().collect(),
        }
    }
}

/// A configuration line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigLine {
    /// The lines that lead from global configuration to the line's mode, outermost first:
    /// `["interface GigabitEthernet1/0/1"]`. Empty for global lines.
    pub mode: Vec<Text>,
    /// The line itself; `None` if the operation only enters the mode (`vlan 42`).
    pub text: Option<Text>,
    /// Further lines: the device reads them without a prompt, such as the text of a banner, or in the
    /// mode that the line enters.
    pub body: Vec<Text>,
    /// The line enters a mode for the lines of `body`. The last of them leaves it.
    pub enters_mode: bool,
    /// The device may ask a question after the line, so the line is sent alone.
    pub may_prompt: bool,
    /// A warning for the user about this line.
    pub warning: Option<String>,
}

impl ConfigLine {
    /// The operation that only enters these modes, outermost first.
    pub(crate) fn enter_mode(mode: &[Text]) -> Self {
        Self {
            mode: mode.to_vec(),
            text: None,
            body: Vec::new(),
            enters_mode: false,
            may_prompt: false,
            warning: None,
        }
    }

    /// A line of global configuration.
    pub(crate) fn global(text: Text) -> Self {
        Self {
            text: Some(text),
            ..Self::enter_mode(&[])
        }
    }
}

/// The line without its modes, or the last mode line if there is none.
impl fmt::Display for ConfigLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text.as_ref().or(self.mode.last()) {
            Some(text) => text.fmt(f),
            None => Ok(()),
        }
    }
}

/// A request to a REST interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Path with query, as sent: `/mgmt/tm/ltm/pool/~Common~web`.
    pub path: String,
    /// JSON text. Secrets in it are JSON-escaped.
    pub body: Option<Text>,
    /// Shown instead of a body that contains a complete document or file.
    pub abridged: Option<Text>,
    /// The body is the content of a file instead of JSON.
    pub is_file: bool,
    /// Sending it twice has the same effect, so it is repeated after a lost answer.
    pub idempotent: bool,
    /// The state of the object that the request requires.
    pub precondition: Precondition,
}

/// An edit of a NETCONF configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The content of `config` in an `edit-config`; the prefix `nc` is that of NETCONF.
    pub config: Text,
    /// The same as a request, to predict its effect.
    pub(crate) request: Request,
}

/// A condition of a request on the object at its path (RFC 9110, section 13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Any state.
    None,
    /// The object does not exist (`If-None-Match: *`).
    Missing,
    /// The object is as it was read (`If-Match` with its entity tag).
    Unchanged(serde_json::Value),
    /// Another read has the same answer as before.
    SameAnswer(Box<(ReadRequest, serde_json::Value)>),
}

/// An HTTP method.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        })
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        match self.abridged.as_ref().or(self.body.as_ref()) {
            Some(body) => write!(f, " {body}"),
            None => Ok(()),
        }
    }
}

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The device accepted it.
    Done {
        /// Messages of the device before the prompt, such as warnings.
        messages: Vec<String>,
    },
    /// The device refused it.
    Refused {
        /// The device's error message.
        message: String,
    },
    /// It was not sent, because of an earlier failure.
    NotSent,
    /// It was sent, and whether it was applied must be read from the device.
    Unknown {
        /// The error of the session or the message of the device, with the command.
        reason: String,
        /// Why it is unknown.
        cause: UnknownCause,
    },
}

/// Why the outcome of an operation is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownCause {
    /// The session ended without a complete answer: the device may still apply the operation.
    NoAnswer,
    /// A gateway answered for the device, which may still apply it. The session continues.
    Gateway,
    /// The answer may be a complaint: no rule lists it. The session continues.
    UnlistedMessage,
}

impl UnknownCause {
    /// Whether nothing more can be sent in this session.
    pub fn ends_session(self) -> bool {
        self == UnknownCause::NoAnswer
    }

    /// Whether the device may apply the operation later.
    pub fn may_be_pending(self) -> bool {
        self != UnknownCause::UnlistedMessage
    }
}

/// The outcome of one operation and its duration.
#[derive(Clone, Debug)]
pub struct OperationResult {
    /// What happened to it.
    pub outcome: Outcome,
    /// Time from sending it to its answer.
    pub duration: Duration,
    /// The mode line that failed: then the outcome is that of this line, and the operation itself
    /// was not sent.
    pub(crate) failed_mode_line: Option<ConfigLine>,
    /// The precondition of the request is false: the object is not as it was read.
    pub(crate) is_stale: bool,
}

impl OperationResult {
    /// The result of an operation whose mode was entered, or that was not sent.
    pub(crate) fn new(outcome: Outcome, took: Duration) -> Self {
        Self {
            outcome,
            duration: took,
            failed_mode_line: None,
            is_stale: false,
        }
    }

    /// The result of an operation that was not sent.
    pub(crate) fn not_sent() -> Self {
        Self::new(Outcome::NotSent, Duration::ZERO)
    }
}
