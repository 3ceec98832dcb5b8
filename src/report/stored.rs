//! Reports as they are stored: the parts that people read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use switchtender_devices::map::IndexMap;

use super::{NOT_RUN, Report};

/// A stored report.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct StoredReport {
    pub(crate) host: String,
    pub(crate) time: String,
    status: String,
    pub(crate) configuration_version: Option<Json>,
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
    metrics: BTreeMap<String, StoredMetric>,
    #[serde(default)]
    pub(crate) not_understood: Vec<StoredText>,
    #[serde(default)]
    pub(crate) configuration_difference: String,
}

/// A message of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct StoredLog {
    pub(crate) level: String,
    pub(crate) source: String,
    pub(crate) message: String,
    pub(crate) time: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
}

/// Text of a device that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct StoredText {
    pub(crate) r#type: String,
    pub(crate) attribute: Option<String>,
    pub(crate) text: String,
}

#[derive(Clone, Debug, Deserialize)]
struct StoredMetric {
    #[serde(default)]
    values: Vec<(String, String, f64)>,
}

/// The status of a resource.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct StoredStatus {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) evaluation_time: Option<f64>,
    #[serde(default)]
    pub(crate) failed: bool,
    #[serde(default)]
    pub(crate) failed_to_restart: bool,
    #[serde(default)]
    pub(crate) changed: bool,
    #[serde(default)]
    pub(crate) skipped: bool,
    pub(crate) skip_reason: Option<String>,
    #[serde(default)]
    pub(crate) corrective_change: bool,
    #[serde(default)]
    pub(crate) events: Vec<StoredEvent>,
    #[serde(default)]
    pub(crate) operations: Vec<StoredOperation>,
}

/// An event of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct StoredEvent {
    pub(crate) name: String,
    pub(crate) property: Option<String>,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) previous_value: Json,
    #[serde(default)]
    pub(crate) desired_value: Json,
    pub(crate) message: Option<String>,
    #[serde(default)]
    pub(crate) corrective_change: bool,
    pub(crate) time: String,
}

/// An operation with the answer of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct StoredOperation {
    /// The modes in which the line is entered, outermost first.
    #[serde(default)]
    pub(crate) mode: Vec<String>,
    /// The line, request or edit. `None`: the operation only enters its mode.
    #[serde(alias = "line", alias = "request", alias = "edit")]
    pub(crate) text: Option<String>,
    /// `planned`, `done`, `refused`, `not_sent` or `unknown`.
    pub(crate) outcome: String,
    pub(crate) device_message: Option<String>,
    pub(crate) milliseconds: Option<u64>,
}

impl StoredReport {
    /// Reads a report in the JSON of Puppet's report format.
    ///
    /// # Errors
    /// The text is no report.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(Self::without_defaults)
    }

    /// What a plan would change on a device.
    pub(crate) fn planned(
        time: String,
        resource_statuses: IndexMap<String, StoredStatus>,
        configuration_difference: String,
    ) -> Self {
        Self {
            time,
            status: "unchanged".to_owned(),
            transaction_completed: true,
            resource_statuses,
            configuration_difference,
            ..Self::default()
        }
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

    /// The catalog's version as text.
    pub(crate) fn version(&self) -> Option<String> {
        match self.configuration_version.as_ref()? {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// Seconds by category.
    pub(crate) fn phases(&self) -> BTreeMap<&str, f64> {
        let time = self.metrics.get("time");
        let values = time.map_or(&[][..], |time| &time.values);
        let values = values.iter();
        values
            .map(|(name, _, seconds)| (name.as_str(), *seconds))
            .collect()
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

    /// The status in one word.
    pub(crate) fn word(&self) -> &'static str {
        if self.failed || self.failed_to_restart {
            "failed"
        } else if self.changed {
            "changed"
        } else if self.skipped {
            "skipped"
        } else if self.is_pending() {
            "pending"
        } else {
            "unchanged"
        }
    }

    /// Whether the device differed from its catalog without a change of the catalog, or still differs.
    pub(crate) fn is_drift(&self) -> bool {
        self.is_pending() || (self.corrective_change && (self.failed || self.changed))
    }

    fn is_pending(&self) -> bool {
        self.events.iter().any(|event| event.status == "noop")
    }
}

impl StoredEvent {
    /// What the device has and what it should have: `name is 'guests', should be 'visitors'`.
    pub(crate) fn difference(&self) -> Option<String> {
        let name = self.property.as_deref().unwrap_or(&self.name);
        let message = self.message.as_ref()?;
        let values = [&self.previous_value, &self.desired_value].map(rendered_value);
        Some(match values {
            // Secrets are redacted in both values.
            [Some(is), Some(should)] if is != should => {
                format!("{name} is {is}, should be {should}")
            }
            [Some(_), Some(_)] => format!("{name} differs"),
            [None, Some(should)] => format!("{name} is not set, should be {should}"),
            _ => self.text().unwrap_or_else(|| message.clone()),
        })
    }

    /// The message, which begins with the property. Audits have none.
    pub(crate) fn text(&self) -> Option<String> {
        let message = self.message.as_ref().filter(|_| self.status != "audit")?;
        Some(match &self.property {
            Some(property) if !message.starts_with(property.as_str()) => {
                format!("{property}: {message}")
            }
            _ => message.clone(),
        })
    }
}

/// A value of an event as people write it; `None` for no value.
fn rendered_value(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(word) if word == "absent" || word == "present" => Some(word.clone()),
        Json::String(text) => Some(format!("'{text}'")),
        Json::Array(items) => {
            let items = items.iter().filter_map(rendered_value);
            Some(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
        }
        other => Some(other.to_string()),
    }
}

impl StoredOperation {
    /// The outcome in words, unless the operation succeeded or is planned.
    pub(crate) fn problem(&self) -> Option<&str> {
        match self.outcome.as_str() {
            "done" | "planned" => None,
            "not_sent" => Some("not sent"),
            other => Some(other),
        }
    }
}
