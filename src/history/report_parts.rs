//! The parts of a report that a history stores, in the JSON of Puppet's report format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use switchtender_devices::map::IndexMap;

/// The stored parts of a report.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ReportParts {
    pub(crate) configuration_version: Option<Json>,
    #[serde(default)]
    pub(crate) transaction_completed: bool,
    #[serde(default)]
    pub(crate) logs: Vec<LogPart>,
    #[serde(default)]
    pub(crate) resource_statuses: IndexMap<String, StatusPart>,
    #[serde(default)]
    pub(crate) metrics: BTreeMap<String, MetricPart>,
    #[serde(default)]
    pub(crate) not_understood: Vec<NotUnderstoodPart>,
    #[serde(default)]
    pub(crate) configuration_difference: String,
}

/// A message of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct LogPart {
    pub(crate) level: String,
    pub(crate) source: String,
    pub(crate) message: String,
    pub(crate) time: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
}

/// Text of a device that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct NotUnderstoodPart {
    pub(crate) r#type: String,
    pub(crate) attribute: Option<String>,
    pub(crate) text: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct MetricPart {
    #[serde(default)]
    pub(crate) values: Vec<(String, String, f64)>,
}

/// The status of a resource.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StatusPart {
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
    pub(crate) events: Vec<EventPart>,
    #[serde(default)]
    pub(crate) operations: Vec<OperationPart>,
}

/// An event of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct EventPart {
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
pub(crate) struct OperationPart {
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

impl ReportParts {
    /// # Errors
    /// The JSON is no report.
    pub(crate) fn parse(report: Json) -> Result<Self, serde_json::Error> {
        let mut parts: Self = serde_json::from_value(report)?;
        // Every run has Puppet's file bucket and its schedules.
        parts.resource_statuses.retain(|reference, status| {
            let is_default =
                reference == "Filebucket[puppet]" || reference.starts_with("Schedule[");
            !is_default || status.file.is_some()
        });
        Ok(parts)
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
}

impl StatusPart {
    /// The status in one word.
    pub(crate) fn word(&self) -> &'static str {
        if self.failed || self.failed_to_restart {
            "failed"
        } else if self.changed {
            "changed"
        } else if self.skipped {
            "skipped"
        } else if self.events.iter().any(|event| event.status == "noop") {
            "pending"
        } else {
            "unchanged"
        }
    }

    /// Whether the device differed from its catalog without a change of the catalog, or still differs.
    pub(crate) fn is_drift(&self) -> bool {
        self.events.iter().any(|event| event.status == "noop")
            || (self.corrective_change && (self.failed || self.changed))
    }
}
