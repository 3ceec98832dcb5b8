//! What pages and the API search in configurations.

use std::collections::BTreeSet;

use switchtender_devices::printable;

use crate::history::configuration_search::{ConfigurationSearch, line_pattern};
use crate::history::device_state::KnownDevice;
use crate::inventory::DeviceSelection;

/// A search in the words of its request.
pub(super) struct LineQuery<'a> {
    pub(super) text: &'a str,
    pub(super) is_regex: bool,
    /// Searches the devices without such a line.
    pub(super) is_absent: bool,
    /// An expression that selects devices. Empty: all.
    pub(super) target: &'a str,
}

impl LineQuery<'_> {
    /// The search in the visible devices.
    ///
    /// # Errors
    /// The regular expression or the target is invalid.
    pub(super) fn search(&self, visible: &[KnownDevice]) -> Result<ConfigurationSearch, String> {
        let pattern = line_pattern(self.text, self.is_regex).map_err(|error| {
            let text = printable::escape(self.text);
            let reason = match error {
                regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
                error => last_line(&error.to_string()),
            };
            format!("`{text}` is no regular expression: {reason}")
        })?;
        Ok(ConfigurationSearch {
            pattern,
            is_regex: self.is_regex,
            is_absent: self.is_absent,
            names: names(self.target, visible)?,
            limit: 0,
            offset: 0,
        })
    }
}

/// The names of the devices that an expression selects; `None`: all.
///
/// # Errors
/// The expression is invalid.
pub(super) fn names(
    target: &str,
    visible: &[KnownDevice],
) -> Result<Option<BTreeSet<String>>, String> {
    if target.trim().is_empty() {
        return Ok(None);
    }
    let selection = DeviceSelection::parse(target).map_err(|error| error.to_string())?;
    let selected = visible.iter().filter(|device| selection.matches(*device));
    Ok(Some(selected.map(|device| device.name.clone()).collect()))
}

/// The reason at the end of an error with an excerpt.
fn last_line(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}
