//! How each fault is written, what it does, and which mocks can show it.

use std::fmt;

use super::Fault;

/// A kind of mock device, as far as faults are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mock {
    /// A switch over SSH.
    Switch,
    /// A load balancer over HTTPS.
    LoadBalancer,
}

/// A fault as it is written.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Name and parameters, as in `drop-after=N|REGEX`.
    pub text: &'static str,
    /// What happens.
    pub meaning: &'static str,
    /// The only kind of mock that can show it; `None` when all can.
    pub only: Option<Mock>,
}

const fn both(text: &'static str, meaning: &'static str) -> Form {
    Form {
        text,
        meaning,
        only: None,
    }
}

const fn only(mock: Mock, text: &'static str, meaning: &'static str) -> Form {
    Form {
        text,
        meaning,
        only: Some(mock),
    }
}

/// All faults, for messages and help.
pub const FORMS: &[Form] = &[
    both(
        "latency=20ms",
        "everything that is sent arrives this much later",
    ),
    both(
        "drop-after=N|REGEX",
        "cut the connection when the command arrives, without carrying it out",
    ),
    both(
        "drop-unanswered=N|REGEX",
        "carry the command out, then cut the connection",
    ),
    both(
        "drop-at-byte=N",
        "cut the connection after N bytes of output",
    ),
    both("stall-after=N|REGEX", "never answer the command"),
    both("garbage-after=N|REGEX", "answer the command with noise"),
    both(
        "refuse=REGEX[ => TEXT]",
        "refuse matching commands with the text",
    ),
    both("login-refused=N", "refuse the first N logins"),
    both("lost-write=REGEX", "accept matching writes and forget them"),
    both(
        "slow=1ms",
        "send the output with this pause between bytes (a switch) or pieces (a load balancer)",
    ),
    only(
        Mock::Switch,
        "confirm=REGEX",
        "ask an unexpected [confirm] question",
    ),
    only(
        Mock::Switch,
        "syslog-after=N|REGEX",
        "print a system message into the answer",
    ),
    only(
        Mock::LoadBalancer,
        "half-body=N|REGEX",
        "send half of the response's body",
    ),
    only(
        Mock::LoadBalancer,
        "unavailable=N[ REGEX]",
        "answer the first N (matching) requests with 503",
    ),
];

/// A mock was asked for a fault that it cannot show.
#[derive(Debug, thiserror::Error)]
#[error("a mock {mock} cannot show the fault `{name}`; it can show: {}", listing(Some(*mock)))]
pub struct UnsuitedFault {
    /// The fault's name.
    pub name: &'static str,
    /// Which kind of mock.
    pub mock: Mock,
}

impl Form {
    /// The part before the equals sign.
    pub fn name(&self) -> &'static str {
        self.text.split('=').next().unwrap_or(self.text)
    }

    /// Whether a mock can show the fault.
    pub fn suits(&self, mock: Mock) -> bool {
        self.only.is_none_or(|only| only == mock)
    }
}

/// The forms of the faults that a mock can show, or of all.
pub(super) fn listing(mock: Option<Mock>) -> String {
    let forms = FORMS
        .iter()
        .filter(|form| mock.is_none_or(|mock| form.suits(mock)));
    forms.map(|form| form.text).collect::<Vec<_>>().join(", ")
}

/// Makes sure that a mock can show these faults: one that it ignored would make whatever is
/// tested with it look sound.
///
/// # Errors
/// The first that it cannot show.
pub(crate) fn check(faults: &[Fault], mock: Mock) -> Result<(), UnsuitedFault> {
    let unsuited = FORMS.iter().filter(|form| !form.suits(mock));
    let unsuited: Vec<&'static str> = unsuited.map(Form::name).collect();
    let mut names = faults.iter().map(Fault::name);
    match names.find(|name| unsuited.contains(name)) {
        Some(name) => Err(UnsuitedFault { name, mock }),
        None => Ok(()),
    }
}

impl fmt::Display for Mock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Mock::Switch => "switch",
            Mock::LoadBalancer => "load balancer",
        })
    }
}
