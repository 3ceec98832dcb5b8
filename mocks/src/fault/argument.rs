//! Arguments of faults: their formats and parsers.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;
use regex::Regex;

use super::{ConnectionStage, FaultParameter, Trigger};

/// Format of a fault's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentFormat {
    /// A duration; the fault is always active.
    Time,
    /// A number of bytes.
    Bytes,
    /// A number of logins.
    Logins,
    /// A number of commands, a regular expression or a stage of the connection; fires once.
    Once,
    /// A number of commands, fires once; or a regular expression, fires on each match.
    Each,
    /// Like [`Each`](Self::Each), with the message of the device.
    EachWithText,
    /// A number and optionally a regular expression; fires on the first N matches.
    First,
    /// Like [`Once`](Self::Once), with the duration until the command is executed.
    Deferred,
    /// An HTTP status and [`Once`](Self::Once).
    Status,
}

impl fmt::Display for ArgumentFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ArgumentFormat::Time => "TIME",
            ArgumentFormat::Bytes | ArgumentFormat::Logins => "N",
            ArgumentFormat::Once => "N|REGEX",
            ArgumentFormat::Each => "N|EACH",
            ArgumentFormat::EachWithText => "N|EACH[ => TEXT]",
            ArgumentFormat::First => "N[ REGEX]",
            ArgumentFormat::Deferred => "N|REGEX[ for TIME]",
            ArgumentFormat::Status => "STATUS N|REGEX",
        })
    }
}

/// Why an argument is invalid.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    /// No duration with a unit.
    #[error("a duration is required, for example 20ms")]
    Duration,
    /// No unsigned number.
    #[error("a number of bytes is required")]
    Bytes,
    /// No unsigned number.
    #[error("a number of logins is required")]
    Logins,
    /// No unsigned number.
    #[error("a number of commands is required")]
    Commands,
    /// Nothing follows the equals sign.
    #[error("a regular expression is required")]
    EmptyPattern,
    /// No status of an error.
    #[error("an HTTP status from 400 to 599 is required, then a space")]
    Status,
    /// The regular expression has a syntax error.
    #[error(transparent)]
    Pattern(#[from] regex::Error),
}

impl ArgumentFormat {
    /// Reads an argument.
    ///
    /// # Errors
    /// The argument does not have this format.
    pub(super) fn parse(
        self,
        text: &str,
    ) -> Result<(Trigger, Option<FaultParameter>), ArgumentError> {
        let trigger = match self {
            ArgumentFormat::Time => {
                return Ok((Trigger::Always, Some(FaultParameter::Time(duration(text)?))));
            }
            ArgumentFormat::Bytes => Trigger::AtByte(number(text).ok_or(ArgumentError::Bytes)?),
            ArgumentFormat::Logins => {
                Trigger::FirstLogins(number(text).ok_or(ArgumentError::Logins)?)
            }
            ArgumentFormat::Once => once(text)?,
            ArgumentFormat::Each => each(text)?,
            ArgumentFormat::EachWithText => {
                let Some((condition, message)) = text.split_once(" => ") else {
                    return Ok((each(text)?, None));
                };
                let message = FaultParameter::Text(message.to_owned());
                return Ok((each(condition)?, Some(message)));
            }
            ArgumentFormat::First => {
                let (count, expression) = match text.split_once(' ') {
                    Some((count, expression)) => (count, Some(expression)),
                    None => (text, None),
                };
                Trigger::FirstMatches {
                    count: number(count).ok_or(ArgumentError::Commands)?,
                    pattern: expression.map(pattern).transpose()?,
                }
            }
            ArgumentFormat::Deferred => {
                let Some((condition, time)) = text.rsplit_once(" for ") else {
                    return Ok((once(text)?, None));
                };
                let time = FaultParameter::Time(duration(time)?);
                return Ok((once(condition)?, Some(time)));
            }
            ArgumentFormat::Status => {
                let (status, condition) = text.split_once(' ').ok_or(ArgumentError::Status)?;
                let status = status.parse().ok().filter(|code| (400..600).contains(code));
                let status = FaultParameter::Status(status.ok_or(ArgumentError::Status)?);
                return Ok((once(condition)?, Some(status)));
            }
        };
        Ok((trigger, None))
    }
}

fn once(text: &str) -> Result<Trigger, ArgumentError> {
    if let Some(stage) = ConnectionStage::parse(text) {
        return Ok(Trigger::At(stage));
    }
    Ok(match number(text) {
        Some(count) => Trigger::After(count),
        None => Trigger::FirstMatch(pattern(text)?),
    })
}

fn each(text: &str) -> Result<Trigger, ArgumentError> {
    Ok(match number(text) {
        Some(count) => Trigger::After(count),
        None => Trigger::EachMatch(pattern(text)?),
    })
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

fn pattern(text: &str) -> Result<Regex, ArgumentError> {
    if text.is_empty() {
        return Err(ArgumentError::EmptyPattern);
    }
    Ok(Regex::new(text)?)
}

fn duration(text: &str) -> Result<Duration, ArgumentError> {
    let parsed: SignedDuration = text.trim().parse().map_err(|_| ArgumentError::Duration)?;
    Duration::try_from(parsed).map_err(|_| ArgumentError::Duration)
}
