//! The options that users, tokens and workers have in common.

use jiff::{SignedDuration, Timestamp};

use crate::clock;
use crate::serve::access::RESERVED_NAMES;

#[derive(Debug, clap::Args)]
pub(super) struct AccessNameArgs {
    /// Name of the user or token
    #[arg(value_name = "NAME")]
    pub(super) name: String,
}

/// A name that is readable in logs.
pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "._@-".contains(letter);
    if text.is_empty() || text.len() > 64 || !text.chars().all(is_valid) {
        return Err("write up to 64 letters, digits, `.`, `_`, `@` or `-`".to_owned());
    }
    if RESERVED_NAMES.contains(&text) {
        return Err("the program itself has this name: choose another one".to_owned());
    }
    Ok(text.to_owned())
}

/// The end of an access that is valid for a number of days.
pub(super) fn expiry(days: Option<u16>) -> Option<Timestamp> {
    let time = |days| SignedDuration::from_hours(24 * i64::from(days));
    days.map(|days| clock::timestamp() + time(days))
}
