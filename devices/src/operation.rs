//! What is sent to a device: configuration lines in their modes, or requests.
//!
//! An [`Operation`] names the attributes whose change it carries, so that the device's answer can
//! be told per attribute. Its text may hold secrets ([`Text`]) and shows them to nobody.

use std::fmt;
use std::time::Duration;

use crate::secret::Text;
use crate::value::Name;

/// One step towards a wanted state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The attributes that it changes; `ensure` for existence.
    pub attributes: Vec<Name>,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Line(ConfigLine),
    Request(Request),
}

impl Action {
    /// The secrets in it, as they are sent.
    pub fn secrets(&self) -> Vec<&str> {
        match self {
            Action::Line(line) => {
                let texts = line.mode.iter().chain(&line.text).chain(&line.body);
                texts.flat_map(Text::secrets).collect()
            }
            Action::Request(request) => request.body.iter().flat_map(Text::secrets).collect(),
        }
    }
}

/// A configuration line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigLine {
    /// The lines that lead from global configuration to the line's mode, outermost first:
    /// `["interface GigabitEthernet1/0/1"]`. Empty for global lines.
    pub mode: Vec<Text>,
    /// The line itself; `None` when entering the mode is all there is to do (`vlan 42`).
    pub text: Option<Text>,
    /// Further lines that the device reads without a prompt in between (a banner's text).
    pub body: Vec<Text>,
    /// The line may be answered by a question and must go alone.
    pub may_prompt: bool,
    /// A warning that people should see before it is sent.
    pub warning: Option<String>,
}

impl ConfigLine {
    /// The line that enters these modes, the outermost first.
    pub fn enter_mode(mode: &[Text]) -> Self {
        Self {
            mode: mode.to_vec(),
            text: None,
            body: Vec::new(),
            may_prompt: false,
            warning: None,
        }
    }

    /// A line of global configuration, or one that leads there.
    pub fn global(text: Text) -> Self {
        Self {
            text: Some(text),
            ..Self::enter_mode(&[])
        }
    }
}

/// As it is told in a message: what is sent last.
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
    pub method: Method,
    /// Path with query, as sent: `/mgmt/tm/ltm/pool/~Common~web`.
    pub path: String,
    /// JSON text; secrets in it are JSON-escaped.
    pub body: Option<Text>,
    /// Sending it twice does no harm, so it may be repeated after a lost answer.
    pub idempotent: bool,
}

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
        match &self.body {
            Some(body) => write!(f, " {body}"),
            None => Ok(()),
        }
    }
}

/// What became of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The device took it. What else it said, beyond its prompt or its answer, is kept.
    Done { messages: Vec<String> },
    /// The device refused it, in these words.
    Refused { message: String },
    /// It was not sent, because of what happened before it.
    NotSent,
    /// It was sent and the answer never came.
    Unknown { reason: String },
}

/// The outcome of one operation, with the time from sending it to its answer.
#[derive(Clone, Debug)]
pub struct OperationResult {
    pub outcome: Outcome,
    pub duration: Duration,
    /// The line on the way to the operation's mode at which it ended: the outcome is that line's,
    /// and the operation itself was not sent.
    pub failed_mode_line: Option<ConfigLine>,
}

impl OperationResult {
    /// Of an operation that was sent, or of which nothing was.
    pub fn new(outcome: Outcome, took: Duration) -> Self {
        Self {
            outcome,
            duration: took,
            failed_mode_line: None,
        }
    }

    pub fn not_sent() -> Self {
        Self::new(Outcome::NotSent, Duration::ZERO)
    }
}
