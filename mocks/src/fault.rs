//! Faults that a mock injects on request.
//!
//! A [`Fault`] is parsed from text such as `latency=20ms` or `refuse=^vlan 30`. [`FAULTS`] is the
//! table of all faults. A device has one [`FaultPlan`] for all its connections: commands are
//! counted across connections, and a fault that fires once does not fire again after a reconnect.
//!
//! A fault of a stage ([`ConnectionStage`]) affects a connection before its first command.
//!
//! Latency delays the network, not the device: each written byte arrives that much later, so a
//! burst of pipelined lines is delayed once.

mod argument;
mod deferred;
mod endless;
mod plan;
mod stage;
mod table;

use std::str::FromStr;
use std::time::Duration;

use regex::Regex;

pub use argument::{ArgumentError, ArgumentFormat};
pub(crate) use deferred::DeferredWork;
pub(crate) use endless::{EndlessOutput, write_endlessly};
pub use plan::{FaultDecision, FaultPlan, garbage};
pub use stage::ConnectionStage;
pub use table::{FAULTS, FaultDescription, FaultKind, MockKind};

/// A fault: an effect, and the condition under which it occurs.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The effect.
    pub kind: FaultKind,
    /// The condition.
    pub trigger: Trigger,
    /// The parameter of the effect; `None` for its default.
    pub parameter: Option<FaultParameter>,
}

/// A parameter of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultParameter {
    /// A pause, or a delay.
    Time(Duration),
    /// A message of the device.
    Text(String),
    /// An HTTP status.
    Status(u16),
}

/// When a fault fires.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// At all times.
    Always,
    /// Once, at this number of bytes of output.
    AtByte(u64),
    /// At this number of logins, from the first.
    FirstLogins(u64),
    /// Once, after this number of commands.
    After(u64),
    /// Once, at this stage of a connection.
    At(ConnectionStage),
    /// Once, at the first command that matches. Commands are lines of a switch, `METHOD /path` of a
    /// load balancer.
    FirstMatch(Regex),
    /// At each command that matches.
    EachMatch(Regex),
    /// At the first commands that match.
    FirstMatches {
        /// Number of commands.
        count: u64,
        /// `None` matches all commands.
        pattern: Option<Regex>,
    },
}

impl Trigger {
    /// Whether a command triggers the fault, after this number of commands and firings.
    fn fires(&self, command: &str, earlier_commands: u64, fired: u64) -> bool {
        match self {
            Trigger::Always | Trigger::AtByte(_) | Trigger::FirstLogins(_) | Trigger::At(_) => {
                false
            }
            Trigger::After(count) => fired == 0 && earlier_commands >= *count,
            Trigger::FirstMatch(pattern) => fired == 0 && pattern.is_match(command),
            Trigger::EachMatch(pattern) => pattern.is_match(command),
            Trigger::FirstMatches { count, pattern } => {
                fired < *count
                    && pattern
                        .as_ref()
                        .is_none_or(|pattern| pattern.is_match(command))
            }
        }
    }
}

impl Fault {
    /// The message of the device, if the fault has one.
    pub fn text(&self) -> Option<&str> {
        match &self.parameter {
            Some(FaultParameter::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The duration, if the fault has one.
    pub fn time(&self) -> Option<Duration> {
        match self.parameter {
            Some(FaultParameter::Time(time)) => Some(time),
            _ => None,
        }
    }

    /// The HTTP status, if the fault has one.
    pub fn status(&self) -> Option<u16> {
        match self.parameter {
            Some(FaultParameter::Status(status)) => Some(status),
            _ => None,
        }
    }
}

/// Why a fault cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum ParseFaultError {
    /// The table has no fault of that name.
    #[error("unknown fault `{name}`")]
    Unknown {
        /// The name as written.
        name: String,
    },
    /// The text after the equals sign is invalid.
    #[error("invalid argument `{value}` of the fault `{name}` (example: `{example}`)")]
    Argument {
        /// The fault's name.
        name: &'static str,
        /// The argument as written.
        value: String,
        /// The example of the table.
        example: &'static str,
        /// The reason.
        source: ArgumentError,
    },
}

/// A mock does not support a fault.
#[derive(Debug, thiserror::Error)]
pub enum UnsupportedFault {
    /// At any time.
    #[error("the mock {mock} does not support the fault `{name}`; supported: {}", syntax_list(*mock))]
    Kind {
        /// The fault's name.
        name: &'static str,
        /// The kind of mock.
        mock: MockKind,
    },
    /// At a stage of the connection.
    #[error("the mock {mock} does not support the fault `{name}` at `{stage}`")]
    Stage {
        /// The fault's name.
        name: &'static str,
        /// The kind of mock.
        mock: MockKind,
        /// The stage.
        stage: ConnectionStage,
    },
}

impl FromStr for Fault {
    type Err = ParseFaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let name = name.trim();
        let description = FAULTS
            .iter()
            .find(|description| description.name == name)
            .ok_or_else(|| ParseFaultError::Unknown {
                name: name.to_owned(),
            })?;
        let argument = description.argument.parse(value);
        let (trigger, parameter) = argument.map_err(|source| ParseFaultError::Argument {
            name: description.name,
            value: value.to_owned(),
            example: description.example,
            source,
        })?;
        Ok(Fault {
            kind: description.kind,
            trigger,
            parameter,
        })
    }
}

/// The syntax of all faults that a mock supports.
fn syntax_list(mock: MockKind) -> String {
    let rows = FAULTS.iter().filter(|row| row.is_supported_by(mock));
    let syntaxes: Vec<String> = rows.map(FaultDescription::syntax).collect();
    syntaxes.join(", ")
}

/// Checks that a mock supports all faults. A fault that is ignored would make a test pass without
/// reason.
///
/// # Errors
/// The first fault that the mock does not support.
pub fn check_supported(faults: &[Fault], mock: MockKind) -> Result<(), UnsupportedFault> {
    for fault in faults {
        let row = fault.kind.description();
        if !row.is_supported_by(mock) {
            return Err(UnsupportedFault::Kind {
                name: row.name,
                mock,
            });
        }
        if let Trigger::At(stage) = fault.trigger
            && !stage.supports(fault.kind, mock)
        {
            return Err(UnsupportedFault::Stage {
                name: row.name,
                mock,
                stage,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_examples_parse() {
        for row in FAULTS {
            let fault: Fault = row.example.parse().unwrap();
            assert_eq!(fault.kind, row.kind);
            assert_eq!(fault.kind.description().name, row.name);
        }
    }

    #[test]
    fn fault_parse_errors_name_the_reason() {
        let unknown = "latncy=20ms".parse::<Fault>().unwrap_err().to_string();
        assert_eq!(unknown, "unknown fault `latncy`");
        for (text, reason) in [
            ("latency=soon", "a duration is required, for example 20ms"),
            ("latency=-1s", "a duration is required, for example 20ms"),
            ("drop-at-byte=x", "a number of bytes is required"),
            ("login-refused=x", "a number of logins is required"),
            ("refuse=", "a regular expression is required"),
            ("refuse=(", "unclosed group"),
            (
                "error-status=502",
                "an HTTP status from 400 to 599 is required",
            ),
            (
                "error-status=200 ^POST",
                "an HTTP status from 400 to 599 is required",
            ),
            ("busy=^vlan for ever", "a duration is required"),
        ] {
            let error = text.parse::<Fault>().unwrap_err();
            let source = std::error::Error::source(&error).unwrap().to_string();
            assert!(source.contains(reason), "{text}: {source}");
        }
    }

    #[test]
    fn fault_plan_fires_counts_and_first_matches_once() {
        let mut plan = FaultPlan::new(&[
            "drop-after=2".parse().unwrap(),
            "stall-after=^vlan 30".parse().unwrap(),
        ]);
        let decisions: Vec<_> = ["a", "vlan 30", "c", "d"]
            .iter()
            .map(|line| plan.decide(line))
            .map(|decision| {
                (
                    decision.has(FaultKind::DropAfter),
                    decision.has(FaultKind::StallAfter),
                )
            })
            .collect();
        assert_eq!(
            decisions,
            [(false, false), (false, true), (true, false), (false, false)]
        );
    }

    #[test]
    fn fault_stages_are_not_commands() {
        let mut plan = FaultPlan::new(&[
            "drop-after=0".parse().unwrap(),
            "stall-after=<login>".parse().unwrap(),
        ]);
        let login = plan.decide_stage(ConnectionStage::Login);
        assert!(login.has(FaultKind::StallAfter) && !login.has(FaultKind::DropAfter));
        let again = plan.decide_stage(ConnectionStage::Login);
        assert!(!again.has(FaultKind::StallAfter));
        let command = plan.decide("<login>");
        assert!(command.has(FaultKind::DropAfter) && !command.has(FaultKind::StallAfter));
    }

    #[test]
    fn fault_of_an_unsuited_stage_is_refused() {
        let cases = [
            ("syslog-after=<shell>", MockKind::Switch),
            ("flood=<login>", MockKind::Switch),
            ("drop-after=<login>", MockKind::LoadBalancer),
            ("drop-after=<shell>", MockKind::LoadBalancer),
        ];
        for (text, mock) in cases {
            let error = check_supported(&[text.parse().unwrap()], mock).unwrap_err();
            assert!(error.to_string().contains(" at `<"), "{text}: {error}");
        }
        check_supported(
            &["flood=<connect>".parse().unwrap()],
            MockKind::LoadBalancer,
        )
        .unwrap();
    }

    #[test]
    fn fault_plan_cuts_output_at_the_byte() {
        let mut plan = FaultPlan::new(&["drop-at-byte=10".parse().unwrap()]);
        assert_eq!(
            [plan.cut_output(8), plan.cut_output(8), plan.cut_output(8)],
            [None, Some(2), None]
        );
    }
}
