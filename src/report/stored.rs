//! Reports as they are stored: the parts that people read.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value as Json;
use switchtender_devices::map::IndexMap;

use super::{NOT_RUN, Report};

/// A stored report.
#[derive(Deserialize)]
pub(crate) struct StoredReport {
    pub(crate) host: String,
    pub(crate) time: String,
    status: String,
    #[serde(default)]
    pub(crate) noop: bool,
    #[serde(default)]
    pub(crate) transaction_completed: bool,
    #[serde(default)]
    pub(crate) logs: Vec<StoredLog>,
    /// Without the resources that every run has.
    #[serde(default)]
    pub(crate) resource_statuses: IndexMap<String, StoredStatus>,
    #[serde(default)]
    pub(crate) not_understood: Vec<StoredText>,
    #[serde(default)]
    pub(crate) configuration_difference: String,
}

#[derive(Deserialize)]
pub(crate) struct StoredLog {
    pub(crate) level: String,
    pub(crate) message: String,
    pub(crate) source: String,
}

#[derive(Deserialize)]
pub(crate) struct StoredText {
    pub(crate) r#type: String,
    pub(crate) text: String,
}

#[derive(Deserialize)]
pub(crate) struct StoredStatus {
    file: Option<String>,
    line: Option<u64>,
    pub(crate) failed: bool,
    #[serde(default)]
    failed_to_restart: bool,
    pub(crate) changed: bool,
    pub(crate) skipped: bool,
    skip_reason: Option<String>,
    #[serde(default)]
    events: Vec<StoredEvent>,
    #[serde(default)]
    pub(crate) operations: Vec<StoredOperation>,
}

#[derive(Deserialize)]
pub(crate) struct StoredEvent {
    pub(crate) message: String,
    pub(crate) status: String,
    pub(crate) property: Option<String>,
    #[serde(default)]
    pub(crate) previous_value: Json,
    #[serde(default)]
    pub(crate) desired_value: Json,
}

#[derive(Deserialize)]
pub(crate) struct StoredOperation {
    #[serde(default)]
    pub(crate) mode: Vec<String>,
    line: Option<String>,
    request: Option<String>,
    outcome: String,
    pub(crate) device_message: Option<String>,
}

impl StoredReport {
    /// Reads a report.
    ///
    /// # Errors
    /// The text is no report.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(Self::without_defaults)
    }

    /// The report of a run that just ended.
    pub(crate) fn of(report: &Report) -> Self {
        let report = serde_json::from_value(report.to_json());
        Self::without_defaults(report.expect("a report has the keys of a report"))
    }

    /// Removes what every run has: Puppet's file bucket and its schedules.
    fn without_defaults(mut self) -> Self {
        self.resource_statuses.retain(|reference, status| {
            let is_one = reference == "Filebucket[puppet]" || reference.starts_with("Schedule[");
            !is_one || status.file.is_some()
        });
        self
    }

    pub(crate) fn count(&self, is_counted: impl Fn(&StoredStatus) -> bool) -> usize {
        let statuses = self.resource_statuses.values();
        statuses.filter(|status| is_counted(status)).count()
    }

    /// The number of resources that would be changed.
    pub(crate) fn pending(&self) -> usize {
        self.count(|status| status.word() == "pending")
    }

    /// The status of the run, with the words of the summary of a run.
    pub(crate) fn status(&self) -> &str {
        match self.status.as_str() {
            "unchanged" if self.pending() > 0 => "pending",
            "failed" if !self.transaction_completed && self.resource_statuses.is_empty() => NOT_RUN,
            status => status,
        }
    }

    /// The time without fractions of a second.
    pub(crate) fn seconds(&self) -> String {
        match (self.time.split_once('.'), self.time.rfind('+')) {
            (Some((date, _)), Some(zone)) => format!("{date}{}", &self.time[zone..]),
            _ => self.time.clone(),
        }
    }
}

impl StoredLog {
    /// Whether the message is a warning or an error.
    pub(crate) fn is_problem(&self) -> bool {
        ["warning", "err", "alert", "emerg", "crit"].contains(&self.level.as_str())
    }
}

impl StoredStatus {
    /// Whether the resource failed, was changed or skipped, or would be changed.
    pub(crate) fn is_notable(&self) -> bool {
        self.events().next().is_some()
            || self.skip_reason().is_some()
            || self.failed
            || self.failed_to_restart
    }

    /// The events without those of audits.
    pub(crate) fn events(&self) -> impl Iterator<Item = &StoredEvent> {
        let events = self.events.iter();
        events.filter(|event| event.status != "audit")
    }

    pub(crate) fn skip_reason(&self) -> Option<&str> {
        self.skip_reason.as_deref().filter(|_| self.skipped)
    }

    /// `file:line` of the declaration.
    pub(crate) fn position(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }

    /// The result in one word.
    pub(crate) fn word(&self) -> &'static str {
        let events: BTreeSet<&str> = self.events().map(|event| event.status.as_str()).collect();
        if self.failed || self.failed_to_restart {
            "failed"
        } else if self.changed {
            "changed"
        } else if self.skipped {
            "skipped"
        } else if events.contains("noop") {
            "pending"
        } else {
            "unchanged"
        }
    }
}

impl StoredEvent {
    /// The message, which begins with the property.
    pub(crate) fn text(&self) -> String {
        match &self.property {
            Some(property) if !self.message.starts_with(property.as_str()) => {
                format!("{property}: {}", self.message)
            }
            _ => self.message.clone(),
        }
    }
}

impl StoredOperation {
    /// The line or the request. `None`: the operation only enters its mode.
    pub(crate) fn text(&self) -> Option<&str> {
        self.line.as_deref().or(self.request.as_deref())
    }

    /// The outcome in words, unless the operation succeeded or is planned.
    pub(crate) fn problem(&self) -> Option<&str> {
        match self.outcome.as_str() {
            "done" | "planned" => None,
            "not_sent" => Some("not sent"),
            other => Some(other),
        }
    }
}
