//! Arguments of faults: their formats and parsers.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;
use regex::Regex;

use super::Trigger;

/// Format of a fault's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentFormat {
    /// A duration; the fault is always active.
    Time,
    /// A number of bytes or logins.
    Count,
    /// A number of commands or a regular expression; fires once.
    Once,
    /// A regular expression; fires on each match.
    Each,
    /// A regular expression and the message of the device; fires on each match.
    EachWithText,
    /// A number and optionally a regular expression; fires on the first N matches.
    First,
}

impl fmt::Display for ArgumentFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ArgumentFormat::Time => "TIME",
            ArgumentFormat::Count => "N",
            ArgumentFormat::Once => "N|REGEX",
            ArgumentFormat::Each => "REGEX",
            ArgumentFormat::EachWithText => "REGEX[ => TEXT]",
            ArgumentFormat::First => "N[ REGEX]",
        })
    }
}

/// Why an argument is invalid.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    /// Neither digits nor a unit that is known.
    #[error("a duration is required, for example 20ms")]
    Duration,
    /// No unsigned number.
    #[error("a number is required")]
    Number,
    /// Nothing follows the equals sign.
    #[error("a regular expression is required")]
    EmptyPattern,
    /// The regular expression has a syntax error.
    #[error(transparent)]
    Pattern(#[from] regex::Error),
}

impl ArgumentFormat {
    /// Reads an argument.
    ///
    /// # Errors
    /// The argument does not have this format.
    pub(super) fn parse(self, text: &str) -> Result<Trigger, ArgumentError> {
        Ok(match self {
            ArgumentFormat::Time => Trigger::Always {
                pause: duration(text)?,
            },
            ArgumentFormat::Count => Trigger::Limit(number(text)?),
            ArgumentFormat::Once => match number(text) {
                Ok(count) => Trigger::After(count),
                Err(_) => Trigger::FirstMatch(pattern(text)?),
            },
            ArgumentFormat::Each => Trigger::EachMatch {
                pattern: pattern(text)?,
                text: None,
            },
            ArgumentFormat::EachWithText => {
                let (expression, message) = match text.split_once(" => ") {
                    Some((expression, message)) => (expression, Some(message.to_owned())),
                    None => (text, None),
                };
                Trigger::EachMatch {
                    pattern: pattern(expression)?,
                    text: message,
                }
            }
            ArgumentFormat::First => {
                let (count, expression) = match text.split_once(' ') {
                    Some((count, expression)) => (count, Some(expression)),
                    None => (text, None),
                };
                Trigger::FirstMatches {
                    count: number(count)?,
                    pattern: expression.map(pattern).transpose()?,
                }
            }
        })
    }
}

fn number(text: &str) -> Result<u64, ArgumentError> {
    text.trim().parse().map_err(|_| ArgumentError::Number)
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
