//! Searches the newest configurations of all devices.

use std::collections::BTreeSet;

use jiff::Timestamp;
use regex::{Regex, RegexBuilder};
use serde::Serialize;

use super::time_column::time;
use super::{HistoryError, HistoryReader};

/// Lines of a device in an answer.
const MAX_LINES: usize = 20;

/// Maximum size of a compiled pattern in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// What is searched in configurations.
#[derive(Clone, Debug)]
pub(crate) struct ConfigurationSearch {
    /// Compared with each line.
    pub(crate) pattern: Regex,
    /// Otherwise it is a text.
    pub(crate) is_regex: bool,
    /// Searches the devices that have no such line.
    pub(crate) is_absent: bool,
    /// Only devices with these names.
    pub(crate) names: Option<BTreeSet<String>>,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

/// The devices that a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FoundConfigurations {
    pub(crate) devices: Vec<FoundConfiguration>,
    /// Number of devices that match.
    pub(crate) total: usize,
    /// Number of devices with a configuration.
    pub(crate) searched: usize,
}

/// The lines of a device that match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FoundConfiguration {
    pub(crate) device: String,
    /// When the configuration was read first.
    pub(crate) time: Timestamp,
    /// The first lines.
    pub(crate) lines: Vec<FoundLine>,
    /// Number of all lines that match.
    pub(crate) line_count: usize,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct FoundLine {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: String,
    /// The lines that lead to it, from the outermost on.
    pub(crate) section: Vec<String>,
}

/// A pattern for lines: a text in any case, or a regular expression.
///
/// # Errors
/// The regular expression is invalid, or too large.
pub(crate) fn line_pattern(text: &str, is_regex: bool) -> Result<Regex, regex::Error> {
    let pattern = if is_regex {
        text.to_owned()
    } else {
        regex::escape(text)
    };
    RegexBuilder::new(&pattern)
        .case_insensitive(!is_regex)
        .size_limit(MAX_PATTERN)
        .build()
}

impl HistoryReader<'_> {
    /// Searches the newest configurations of the devices of the inventory.
    pub(crate) fn search_configurations(
        &self,
        search: &ConfigurationSearch,
    ) -> Result<FoundConfigurations, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT device.id AS device, name, configuration.id AS id, time FROM device
             JOIN configuration ON configuration.id =
                 (SELECT max(id) FROM configuration WHERE configuration.device = device.id)
             WHERE is_current ORDER BY name COLLATE natural_order",
        )?;
        let mut found = FoundConfigurations::default();
        select.query_each([], |row| {
            let name: String = row.get("name")?;
            let names = search.names.as_ref();
            if names.is_some_and(|names| !names.contains(&name)) {
                return Ok(());
            }
            let (text, _) = self.text_of(row.get("device")?, row.get("id")?)?;
            found.searched += 1;
            // A whole configuration is searched faster than its lines.
            let is_possible = search.is_regex || search.pattern.is_match(&text);
            let (lines, line_count) = if is_possible {
                matching(&text, &search.pattern)
            } else {
                Default::default()
            };
            if (line_count == 0) != search.is_absent {
                return Ok(());
            }
            found.total += 1;
            if found.total > search.offset && found.devices.len() < search.limit {
                found.devices.push(FoundConfiguration {
                    device: name,
                    time: time(row, "time")?,
                    lines,
                    line_count,
                });
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The first lines that match, and the number of all.
fn matching(text: &str, pattern: &Regex) -> (Vec<FoundLine>, usize) {
    let mut found = Vec::new();
    let mut count = 0;
    // The lines above with less indentation.
    let mut section: Vec<(usize, &str)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        while section
            .last()
            .is_some_and(|(outer, _)| *outer >= indentation)
        {
            section.pop();
        }
        if pattern.is_match(line) {
            count += 1;
            if found.len() < MAX_LINES {
                found.push(FoundLine {
                    number: index + 1,
                    text: line.to_owned(),
                    section: section.iter().map(|(_, line)| (*line).to_owned()).collect(),
                });
            }
        }
        section.push((indentation, line));
    }
    (found, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_with_the_section_that_they_are_in() {
        let text = "hostname sw1\ninterface Gi1\n description Uplink\n!\nrouter bgp 1\n \
                    address-family ipv4\n  neighbor 192.0.2.1 description uplink\n";
        let (lines, count) = matching(text, &line_pattern("UPLINK", false).unwrap());
        let found: Vec<(usize, Vec<&str>)> = lines
            .iter()
            .map(|line| {
                let section = line.section.iter().map(String::as_str);
                (line.number, section.collect())
            })
            .collect();
        assert_eq!(
            found,
            [
                (3, vec!["interface Gi1"]),
                (7, vec!["router bgp 1", " address-family ipv4"])
            ]
        );
        assert_eq!(count, 2);
        let (lines, _) = matching(text, &line_pattern("^ desc.*Up", true).unwrap());
        assert_eq!(lines.len(), 1);
        assert!(line_pattern("(", true).is_err());
        assert!(line_pattern("(", false).is_ok());
    }
}
