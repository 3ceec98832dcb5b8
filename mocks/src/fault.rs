//! Faults that a mock can be told to show, and the plan that says when each of them strikes.
//!
//! A [`Fault`] is parsed from a word such as `latency=20ms` or `refuse=^vlan 30`; [`FORMS`] lists
//! them all and tells which mocks can show which. A device keeps one [`FaultPlan`] for all its connections: what counts commands counts them
//! across connections, and what strikes once does not strike again after a reconnection.
//!
//! *Latency* is that of a network, not of a processor: everything that is written to the socket arrives that
//! much later, and a burst of pipelined lines therefore costs it once.

mod forms;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use regex::Regex;

pub(crate) use forms::check;
use forms::listing;
pub use forms::{FORMS, Form, Mock, UnsuitedFault};

/// A fault and its parameters.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Every byte arrives this much later: the round trip time of the network, handshakes included.
    Latency(Duration),
    /// The connection is cut when the command arrives; the command has no effect.
    DropAfter(Trigger),
    /// The command is carried out, then the connection is cut in place of the answer.
    DropUnanswered(Trigger),
    /// The connection is cut after this many bytes of terminal output or response body.
    DropAtByte(u64),
    /// The command is received and nothing is ever answered on that connection.
    StallAfter(Trigger),
    /// The answer is replaced by noise without a prompt (a switch) or without JSON (a load balancer).
    GarbageAfter(Trigger),
    /// Commands that match are refused with the text, always.
    Refuse {
        /// Lines of a switch, `METHOD /path` of a load balancer.
        pattern: Regex,
        /// What the device says; a default when none was given.
        answer: Option<String>,
    },
    /// The first attempts to log in are refused although the password is right.
    LoginRefused(u32),
    /// The response has its full length in the header and half of its body.
    HalfBody(Trigger),
    /// The first requests that match are answered 503.
    Unavailable {
        /// How many.
        count: u32,
        /// Which; all when there is no pattern.
        pattern: Option<Regex>,
    },
    /// Matching writes are answered as if accepted, and change nothing.
    LostWrite(Regex),
    /// Matching lines ask a question that nobody expects.
    Confirm(Regex),
    /// A system message is printed into the answer.
    SyslogAfter(Trigger),
    /// Output is sent one byte at a time with this pause (switch), or the body in pieces (load balancer).
    SlowBytes(Duration),
}

/// When a fault strikes, once: at the command after the first N, or at the first that matches.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// N commands are served before the one that is struck.
    After(u64),
    /// The first command that matches is struck.
    Matching(Regex),
}

/// Why a fault could not be understood.
#[derive(Debug, thiserror::Error)]
pub enum ParseFaultError {
    /// No fault of that name.
    #[error("no fault is called `{name}`; there are: {}", listing(None))]
    Unknown {
        /// The name as written.
        name: String,
    },
    /// The part after the equals sign is not what this fault takes.
    #[error("`{value}` does not suit the fault `{name}`: {reason} (as in `{example}`)")]
    Value {
        /// The fault's name.
        name: String,
        /// The value as written.
        value: String,
        /// What was expected.
        reason: String,
        /// The form from [`FORMS`].
        example: &'static str,
    },
}

impl FromStr for Fault {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let name = name.trim();
        let example = FORMS
            .iter()
            .find(|form| form.name() == name)
            .map(|form| form.text)
            .ok_or_else(|| ParseFaultError::Unknown {
                name: name.to_owned(),
            })?;
        let bad = |reason: String| ParseFaultError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            reason,
            example,
        };
        let number = || {
            value
                .trim()
                .parse::<u64>()
                .map_err(|_| bad("a number is needed".to_owned()))
        };
        let count = || {
            value
                .trim()
                .parse::<u32>()
                .map_err(|_| bad("a number is needed".to_owned()))
        };
        let pattern = |text: &str| {
            if text.is_empty() {
                return Err(bad("a regular expression is needed".to_owned()));
            }
            Regex::new(text).map_err(|error| bad(error.to_string()))
        };
        let trigger = || match value.trim().parse() {
            Ok(number) => Ok(Trigger::After(number)),
            Err(_) => pattern(value).map(Trigger::Matching),
        };
        let duration = || {
            parse_duration(value.trim())
                .ok_or_else(|| bad("a duration in us, ms or s is needed".to_owned()))
        };
        Ok(match name {
            "latency" => Fault::Latency(duration()?),
            "drop-after" => Fault::DropAfter(trigger()?),
            "drop-unanswered" => Fault::DropUnanswered(trigger()?),
            "drop-at-byte" => Fault::DropAtByte(number()?),
            "stall-after" => Fault::StallAfter(trigger()?),
            "garbage-after" => Fault::GarbageAfter(trigger()?),
            "refuse" => {
                let (expression, answer) = match value.split_once(" => ") {
                    Some((expression, answer)) => (expression, Some(answer.to_owned())),
                    None => (value, None),
                };
                Fault::Refuse {
                    pattern: pattern(expression)?,
                    answer,
                }
            }
            "login-refused" => Fault::LoginRefused(count()?),
            "half-body" => Fault::HalfBody(trigger()?),
            "unavailable" => {
                let (number, expression) = value.split_once(' ').unwrap_or((value, ""));
                Fault::Unavailable {
                    count: number
                        .trim()
                        .parse()
                        .map_err(|_| bad("a number is needed".to_owned()))?,
                    pattern: (!expression.is_empty())
                        .then(|| pattern(expression))
                        .transpose()?,
                }
            }
            "lost-write" => Fault::LostWrite(pattern(value)?),
            "confirm" => Fault::Confirm(pattern(value)?),
            "syslog-after" => Fault::SyslogAfter(trigger()?),
            "slow" => Fault::SlowBytes(duration()?),
            _ => {
                return Err(ParseFaultError::Unknown {
                    name: name.to_owned(),
                });
            }
        })
    }
}

impl Fault {
    /// The part of its form before the equals sign.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Latency(_) => "latency",
            Fault::DropAfter(_) => "drop-after",
            Fault::DropUnanswered(_) => "drop-unanswered",
            Fault::DropAtByte(_) => "drop-at-byte",
            Fault::StallAfter(_) => "stall-after",
            Fault::GarbageAfter(_) => "garbage-after",
            Fault::Refuse { .. } => "refuse",
            Fault::LoginRefused(_) => "login-refused",
            Fault::HalfBody(_) => "half-body",
            Fault::Unavailable { .. } => "unavailable",
            Fault::LostWrite(_) => "lost-write",
            Fault::Confirm(_) => "confirm",
            Fault::SyslogAfter(_) => "syslog-after",
            Fault::SlowBytes(_) => "slow",
        }
    }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let split = text.find(|character: char| character.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let number: u64 = number.trim().parse().ok()?;
    match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

/// What happens to one command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Disturbance {
    /// Cut the connection, do not carry the command out.
    pub drop: bool,
    /// Carry it out, cut the connection in place of the answer.
    pub drop_unanswered: bool,
    /// Say nothing on this connection from now on.
    pub stall: bool,
    /// Answer with noise.
    pub garbage: bool,
    /// Send half of the body.
    pub half_body: bool,
    /// Answer 503.
    pub unavailable: bool,
    /// Refuse with this text; an inner `None` means the device's default words.
    pub refuse: Option<Option<String>>,
    /// Answer as if accepted, change nothing.
    pub lost: bool,
    /// Ask an unexpected question.
    pub confirm: bool,
    /// Print a system message into the answer.
    pub syslog: bool,
}

/// The faults of one device and how often each of them has struck.
#[derive(Debug, Default)]
pub struct FaultPlan {
    faults: Vec<(Fault, u32)>,
    commands: u64,
    bytes: u64,
    logins: u32,
}

impl FaultPlan {
    /// A plan in which nothing has struck yet.
    pub fn new(faults: &[Fault]) -> Self {
        FaultPlan {
            faults: faults.iter().map(|fault| (fault.clone(), 0)).collect(),
            ..FaultPlan::default()
        }
    }

    /// The latency of the network; zero by default.
    pub fn latency(&self) -> Duration {
        self.faults
            .iter()
            .find_map(|(fault, _)| match fault {
                Fault::Latency(duration) => Some(*duration),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// The pause between bytes, when output is to be slow.
    pub fn slow(&self) -> Option<Duration> {
        self.faults.iter().find_map(|(fault, _)| match fault {
            Fault::SlowBytes(duration) => Some(*duration),
            _ => None,
        })
    }

    /// Counts an attempt to log in and says whether it must be refused.
    pub fn login_refused(&mut self) -> bool {
        self.logins += 1;
        let logins = self.logins;
        self.faults
            .iter()
            .any(|(fault, _)| matches!(fault, Fault::LoginRefused(count) if logins <= *count))
    }

    /// Counts a command (a line at a prompt, or `METHOD /path`) and says what happens to it.
    pub fn command(&mut self, line: &str) -> Disturbance {
        let served = self.commands;
        self.commands += 1;
        let mut outcome = Disturbance::default();
        for (fault, struck) in &mut self.faults {
            let mut strikes = |trigger: &Trigger| {
                let now = *struck == 0
                    && match trigger {
                        Trigger::After(count) => served >= *count,
                        Trigger::Matching(pattern) => pattern.is_match(line),
                    };
                *struck += u32::from(now);
                now
            };
            match fault {
                Fault::DropAfter(trigger) => outcome.drop |= strikes(trigger),
                Fault::DropUnanswered(trigger) => outcome.drop_unanswered |= strikes(trigger),
                Fault::StallAfter(trigger) => outcome.stall |= strikes(trigger),
                Fault::GarbageAfter(trigger) => outcome.garbage |= strikes(trigger),
                Fault::HalfBody(trigger) => outcome.half_body |= strikes(trigger),
                Fault::SyslogAfter(trigger) => outcome.syslog |= strikes(trigger),
                Fault::Unavailable { count, pattern } => {
                    let concerned = pattern
                        .as_ref()
                        .is_none_or(|pattern| pattern.is_match(line));
                    if concerned && *struck < *count {
                        *struck += 1;
                        outcome.unavailable = true;
                    }
                }
                Fault::Refuse { pattern, answer } if pattern.is_match(line) => {
                    outcome.refuse = Some(answer.clone());
                }
                Fault::LostWrite(pattern) => outcome.lost |= pattern.is_match(line),
                Fault::Confirm(pattern) => outcome.confirm |= pattern.is_match(line),
                Fault::Refuse { .. }
                | Fault::Latency(_)
                | Fault::DropAtByte(_)
                | Fault::LoginRefused(_)
                | Fault::SlowBytes(_) => {}
            }
        }
        outcome
    }

    /// Counts output and says after how many of these bytes the connection must be cut, if it must.
    pub fn output(&mut self, length: usize) -> Option<usize> {
        let before = self.bytes;
        self.bytes += length as u64;
        let after = self.bytes;
        for (fault, struck) in &mut self.faults {
            if let Fault::DropAtByte(limit) = fault
                && *struck == 0
                && after >= *limit
            {
                *struck = 1;
                return Some(usize::try_from(limit.saturating_sub(before)).unwrap_or(length));
            }
        }
        None
    }
}

/// Bytes that are no answer: control characters, half a prompt, broken UTF-8; always the same.
pub fn noise() -> Vec<u8> {
    let mut state: u32 = 0x2545_f491;
    (0..256)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            // No prompt may appear by chance, so neither of its last characters does.
            match (state >> 24) as u8 {
                b'#' | b'>' | b'$' | b'\n' => 0xff,
                byte => byte,
            }
        })
        .collect()
}

impl fmt::Display for Trigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::After(count) => write!(formatter, "{count}"),
            Trigger::Matching(pattern) => write!(formatter, "{pattern}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_form_parses_and_errors_list_what_exists() {
        for Form { text: form, .. } in FORMS {
            let text = form
                .split('|')
                .next()
                .unwrap()
                .replace("[ REGEX]", " ^x")
                .replace("=N", "=3")
                .replace("=REGEX[ => TEXT]", "=^x");
            let text = text.replace("=REGEX", "=^x");
            let parsed = text.parse::<Fault>();
            let parsed = parsed.unwrap_or_else(|error| panic!("{form}: {error}"));
            assert_eq!(form.split('=').next(), Some(parsed.name()));
        }
        let unknown = "latncy=20ms".parse::<Fault>().unwrap_err().to_string();
        assert!(
            unknown.contains("latncy") && unknown.contains("drop-after=N|REGEX"),
            "{unknown}"
        );
        for (text, part) in [
            ("latency=soon", "a duration in us, ms or s is needed"),
            ("drop-at-byte=x", "a number is needed"),
            ("refuse=", "a regular expression is needed"),
            ("refuse=(", "unclosed group"),
        ] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn counted_faults_strike_once_and_patterns_at_the_first_match() {
        let mut plan = FaultPlan::new(&[
            "drop-after=2".parse().unwrap(),
            "stall-after=^vlan 30".parse().unwrap(),
        ]);
        let seen: Vec<_> = ["a", "vlan 30", "c", "d"]
            .iter()
            .map(|line| plan.command(line))
            .map(|d| (d.drop, d.stall))
            .collect();
        assert_eq!(
            seen,
            [(false, false), (false, true), (true, false), (false, false)]
        );
    }

    #[test]
    fn output_is_cut_at_the_byte() {
        let mut plan = FaultPlan::new(&["drop-at-byte=10".parse().unwrap()]);
        assert_eq!(
            [plan.output(8), plan.output(8), plan.output(8)],
            [None, Some(2), None]
        );
    }
}
