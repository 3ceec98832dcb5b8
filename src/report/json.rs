//! A report as JSON: Puppet's format 12, and per resource our `operations`.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json, json};
use switchtender_devices::operation::{Action, Outcome};
use switchtender_devices::value::Value;

use crate::catalog::rich_data;
use crate::transaction::event::OperationRecord;
use crate::transaction::{Event, LogEntry, ResourceStatus};

use super::{CachedCatalog, Report};

/// The version of the report's form.
const FORMAT: u32 = 12;

impl Report {
    /// The report as it is stored and sent. Holds no secret.
    pub fn to_json(&self) -> Json {
        let context = &self.context;
        let mut report = Map::new();
        let mut put = |name: &str, value: Json| {
            report.insert(name.to_owned(), value);
        };
        put("host", json!(context.host));
        put("time", json!(time(context.time)));
        put("configuration_version", json!(self.configuration_version));
        put("transaction_uuid", json!(context.transaction_uuid));
        put("report_format", json!(FORMAT));
        put("puppet_version", json!(context.puppet_version));
        put("status", json!(self.status().name()));
        put("transaction_completed", json!(self.completed));
        put("noop", json!(context.noop));
        put("noop_pending", json!(self.noop_pending()));
        put("environment", json!(self.environment));
        put("logs", self.logs.iter().map(log_entry).collect());
        put(
            "metrics",
            self.metrics()
                .iter()
                .map(|metric| (metric.name.to_owned(), metric.to_json()))
                .collect::<Map<_, _>>()
                .into(),
        );
        put(
            "resource_statuses",
            self.statuses
                .iter()
                .map(|status| (status.reference.to_string(), resource_status(status)))
                .collect::<Map<_, _>>()
                .into(),
        );
        put("corrective_change", json!(self.corrective_change()));
        let known = [
            ("server_used", &context.server_used),
            ("catalog_uuid", &self.catalog_uuid),
            ("code_id", &self.code_id),
            ("job_id", &context.job_id),
        ];
        for (name, value) in known {
            if let Some(value) = value {
                put(name, json!(value));
            }
        }
        let cached = match context.cached_catalog_status {
            CachedCatalog::NotUsed => "not_used",
            CachedCatalog::ExplicitlyRequested => "explicitly_requested",
            CachedCatalog::OnFailure => "on_failure",
        };
        put("cached_catalog_status", json!(cached));
        report.into()
    }
}

/// ISO 8601 with nine decimals, as Puppet writes it.
pub(super) fn time(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%S.%9f+00:00")
        .to_string()
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
        "time": time(entry.time),
        "file": entry.file.as_deref(),
        "line": entry.line,
    })
}

fn resource_status(status: &ResourceStatus) -> Json {
    let tags: Vec<&str> = status.tags.iter().map(|tag| &**tag).collect();
    let path: Vec<&str> = status.containment_path.iter().map(|step| &**step).collect();
    let mut json = json!({
        "title": status.reference.title(),
        "file": status.file.as_deref(),
        "line": status.line,
        "resource": status.reference.to_string(),
        "resource_type": status.reference.type_name(),
        "provider_used": status.provider.as_deref(),
        "containment_path": path,
        "evaluation_time": status.evaluation_time.map(|took| took.as_secs_f64()),
        "tags": tags,
        "time": time(status.time),
        "failed": status.failed,
        "failed_to_restart": status.failed_to_restart,
        "changed": status.changed,
        "out_of_sync": status.out_of_sync,
        "skipped": status.skipped.is_some(),
        "change_count": status.change_count,
        "out_of_sync_count": status.out_of_sync_count,
        "events": status.events.iter().map(event).collect::<Vec<_>>(),
        "corrective_change": status.corrective_change,
    });
    if !status.operations.is_empty() {
        json["operations"] = status.operations.iter().map(operation).collect();
    }
    json
}

fn event(event: &Event) -> Json {
    let plain = |value: &Option<Value>| value.as_ref().map(rich_data::write_plain);
    json!({
        "audited": event.audited,
        "property": event.property,
        "previous_value": plain(&event.previous_value),
        "desired_value": plain(&event.desired_value),
        "historical_value": plain(&event.historical_value),
        "message": event.message,
        "name": event.name,
        "status": event.status,
        "time": time(event.time),
        "redacted": event.redacted,
        "corrective_change": event.corrective_change,
    })
}

/// What was sent, secrets masked, and what became of it.
fn operation(record: &OperationRecord) -> Json {
    let mut json = match &record.operation.action {
        Action::Line(line) => json!({
            "mode": line.mode.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "line": line.text.as_ref().map(ToString::to_string),
        }),
        Action::Request(request) => json!({"request": request.to_string()}),
    };
    json["attributes"] = json!(record.operation.attributes);
    let (outcome, message) = match record.result.as_ref().map(|(outcome, _)| outcome) {
        None => ("planned", None),
        Some(Outcome::Done { said }) => (
            "done",
            Some(said.join("\n")).filter(|said| !said.is_empty()),
        ),
        Some(Outcome::Refused { said }) => ("refused", Some(said.clone())),
        Some(Outcome::NotSent) => ("not_sent", None),
        Some(Outcome::Unknown { why }) => ("unknown", Some(why.clone())),
    };
    json["outcome"] = json!(outcome);
    json["device_message"] = json!(message);
    if let Some((_, took)) = &record.result {
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        json["milliseconds"] = json!(milliseconds);
    }
    json
}
