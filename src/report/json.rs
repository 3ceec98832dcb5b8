//! A report as JSON: Puppet's format 12, with the extensions `not_understood`,
//! `configuration_difference`, `protection` and `undone`, and `operations` and `skip_reason` per resource.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::operation::{Action, Outcome};
use switchtender_devices::value::Value;

use crate::catalog::rich_data;
use crate::clock::puppet_time;
use crate::transaction::event::OperationRecord;
use crate::transaction::{Event, LogEntry, ResourceStatus};

use super::Report;

/// The version of the report format.
const FORMAT: u32 = 12;

impl Report {
    /// The report with all resources. Contains no secret.
    pub fn to_json(&self) -> Json {
        let report = ReportJson {
            report: self,
            exclude_unchanged: false,
        };
        serde_json::to_value(report).expect("a report is JSON")
    }

    /// The report as it is delivered. Contains no secret. `exclude_unchanged` leaves out resources
    /// without changes and failures; the metrics count them.
    pub fn to_raw_json(&self, exclude_unchanged: bool) -> Box<RawValue> {
        let report = ReportJson {
            report: self,
            exclude_unchanged,
        };
        serde_json::value::to_raw_value(&report).expect("a report is JSON")
    }
}

/// A report in Puppet's format.
struct ReportJson<'a> {
    report: &'a Report,
    exclude_unchanged: bool,
}

impl Serialize for ReportJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let source = self.report;
        let context = &source.context;
        let mut report = serializer.serialize_map(None)?;
        report.serialize_entry("host", &context.host)?;
        report.serialize_entry("time", &puppet_time(context.time))?;
        report.serialize_entry("configuration_version", &source.configuration_version)?;
        report.serialize_entry("transaction_uuid", &context.transaction_uuid)?;
        report.serialize_entry("report_format", &FORMAT)?;
        report.serialize_entry("puppet_version", &context.puppet_version)?;
        report.serialize_entry("status", source.status().name())?;
        report.serialize_entry("transaction_completed", &source.completed)?;
        report.serialize_entry("noop", &context.noop)?;
        report.serialize_entry("noop_pending", &source.is_noop_pending())?;
        report.serialize_entry("environment", &source.environment)?;
        let logs: Vec<Json> = source.logs.iter().map(|entry| log_entry(entry)).collect();
        report.serialize_entry("logs", &logs)?;
        let metrics = source.metrics();
        let metrics = metrics.iter();
        let metrics: Map<String, Json> = metrics
            .map(|metric| (metric.name.to_owned(), metric.to_json()))
            .collect();
        report.serialize_entry("metrics", &metrics)?;
        report.serialize_entry("resource_statuses", &Statuses(self))?;
        report.serialize_entry("corrective_change", &source.has_corrective_change())?;
        let optional = [
            ("server_used", &context.server_used),
            ("catalog_uuid", &source.catalog_uuid),
            ("code_id", &source.code_id),
            ("job_id", &context.job_id),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                report.serialize_entry(name, value)?;
            }
        }
        report.serialize_entry("cached_catalog_status", &context.cached_catalog_status)?;
        if !source.not_understood.is_empty() {
            let texts = source.not_understood.iter().map(not_understood);
            report.serialize_entry("not_understood", &texts.collect::<Vec<_>>())?;
        }
        if !source.configuration_difference.is_empty() {
            let diff = &source.configuration_difference;
            report.serialize_entry("configuration_difference", diff)?;
        }
        if let Some(verdict) = source.protection {
            report.serialize_entry("protection", verdict.word())?;
        }
        if !source.undone.is_empty() {
            report.serialize_entry("undone", &source.undone)?;
        }
        report.end()
    }
}

/// By reference. Serialized directly, because they are the largest part of a report.
struct Statuses<'a>(&'a ReportJson<'a>);

impl Serialize for Statuses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(json) = self;
        let statuses = json.report.statuses.iter();
        let statuses =
            statuses.filter(|status| !json.exclude_unchanged || has_change_or_failure(status));
        let statuses = statuses.map(|status| StatusEntry::new(status));
        serializer.collect_map(statuses.map(|status| (status.resource, status)))
    }
}

fn has_change_or_failure(status: &ResourceStatus) -> bool {
    status.failed || status.failed_to_restart || status.out_of_sync || status.is_skipped()
}

fn log_entry(entry: &LogEntry) -> Json {
    let mut tags: Vec<&str> = Vec::with_capacity(entry.tags.len() + 1);
    let level = entry.level.to_string();
    tags.push(&level);
    tags.extend(entry.tags.iter().map(|tag| &**tag));
    json!({
        "level": level,
        "message": entry.message,
        "source": entry.source,
        "tags": tags,
        "time": puppet_time(entry.time),
        "file": entry.file.as_deref(),
        "line": entry.line,
    })
}

/// The status of a resource in the report.
#[derive(Serialize)]
struct StatusEntry<'a> {
    title: &'a str,
    file: Option<&'a str>,
    line: Option<u64>,
    resource: &'a str,
    resource_type: &'a str,
    provider_used: Option<&'a str>,
    containment_path: Vec<&'a str>,
    evaluation_time: Option<f64>,
    tags: Vec<&'a str>,
    time: String,
    failed: bool,
    failed_to_restart: bool,
    changed: bool,
    out_of_sync: bool,
    skipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_reason: Option<String>,
    change_count: u64,
    out_of_sync_count: u64,
    events: Vec<Json>,
    corrective_change: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operations: Vec<Json>,
}

impl<'a> StatusEntry<'a> {
    fn new(status: &'a ResourceStatus) -> Self {
        Self {
            title: status.reference.title(),
            file: status.file.as_deref(),
            line: status.line,
            resource: status.reference.as_str(),
            resource_type: status.reference.type_name(),
            provider_used: status.provider.as_deref(),
            containment_path: status.containment_path.iter().map(|step| &**step).collect(),
            evaluation_time: status.evaluation_time.map(|took| took.as_secs_f64()),
            tags: status.tags.iter().map(|tag| &**tag).collect(),
            time: puppet_time(status.time),
            failed: status.failed,
            failed_to_restart: status.failed_to_restart,
            changed: status.changed,
            out_of_sync: status.out_of_sync,
            skipped: status.is_skipped(),
            skip_reason: status.skip_reason(),
            change_count: status.change_count,
            out_of_sync_count: status.out_of_sync_count,
            events: status.events.iter().map(event).collect(),
            corrective_change: status.corrective_change,
            operations: status.operations.iter().map(operation).collect(),
        }
    }
}

/// The status of a resource as in a report. Contains no secret.
pub(crate) fn status(status: &ResourceStatus) -> Json {
    serde_json::to_value(StatusEntry::new(status)).expect("a status is JSON")
}

fn event(event: &Event) -> Json {
    let json_value = |value: &Option<Value>| value.as_ref().map(rich_data::write_plain);
    json!({
        "audited": event.audited,
        "property": event.property,
        "previous_value": json_value(&event.previous_value),
        "desired_value": json_value(&event.desired_value),
        "historical_value": json_value(&event.historical_value),
        "message": event.message,
        "name": event.name,
        "status": event.status,
        "time": puppet_time(event.time),
        "redacted": event.redacted,
        "corrective_change": event.corrective_change,
    })
}

/// A text of the device that was not understood; secrets are masked.
pub(crate) fn not_understood(found: &NotUnderstood) -> Json {
    json!({
        "type": found.type_name.as_str(),
        "attribute": found.attribute,
        "text": found.to_string(),
    })
}

/// An operation with its outcome; secrets are masked.
fn operation(record: &OperationRecord) -> Json {
    let mut json = match &record.operation.action {
        Action::Line(line) => json!({
            "mode": line.mode.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "line": line.text.as_ref().map(ToString::to_string),
        }),
        Action::Request(request) => json!({"request": request.to_string()}),
        Action::Edit(edit) => json!({"edit": edit.config.to_string()}),
    };
    json["attributes"] = json!(record.operation.attributes);
    let (outcome, message) = match record.result.as_ref().map(|(outcome, _)| outcome) {
        None => ("planned", None),
        Some(Outcome::Done { messages }) => (
            "done",
            Some(messages.join("\n")).filter(|text| !text.is_empty()),
        ),
        Some(Outcome::Refused { message }) => ("refused", Some(message.clone())),
        Some(Outcome::NotSent) => ("not_sent", None),
        Some(Outcome::Unknown { reason, .. }) => ("unknown", Some(reason.clone())),
    };
    json["outcome"] = json!(outcome);
    json["device_message"] = json!(message);
    if let Some((_, took)) = &record.result {
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        json["milliseconds"] = json!(milliseconds);
    }
    json
}
