//! Output for programs: one JSON object per line, in the order of the events.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value as JsonValue, json};
use switchtender_devices::names::DeviceName;

use super::device_outputs::DeviceOutputs;
use super::{DeviceFailure, DeviceSummary, FinishedDevice, View, level};
use crate::catalog::{Level, rich_data};
use crate::cli::exit::{CommandError, print_json};
use crate::cli::options::global::Global;
use crate::diagnostic;
use crate::error_chain::chain;
use crate::fleet::device_run::DeviceEvent;
use crate::fleet::rollout::Batch;
use crate::fleet::rollout::check::CheckEnd;
use crate::report::{RunRecord, RunStatus, command_lines};
use crate::run_kind::RunKind;
use crate::transaction::{Event, LogKind, ResourceStatus, RunEvent};

pub(crate) struct Json {
    kind: RunKind,
    /// Messages below this level are left out.
    level: Level,
    /// Lines that are written together, to save system calls.
    lines: String,
    /// Files for the lines about devices.
    outputs: Option<DeviceOutputs>,
    /// The lines of the files of devices that are not finished.
    held: HashMap<DeviceName, String>,
}

/// Size at which lines are written without waiting for more.
const FLUSH_SIZE: usize = 32 << 10;

impl Json {
    pub(crate) fn new(kind: RunKind, global: &Global, outputs: Option<DeviceOutputs>) -> Self {
        Self {
            kind,
            level: level(global),
            lines: String::new(),
            outputs,
            held: HashMap::new(),
        }
    }

    /// Adds a line about a device.
    fn device_line(&mut self, device: &DeviceName, object: &impl Serialize) {
        if self.outputs.is_none() {
            return self.line(object);
        }
        let held = self.held.entry(device.clone()).or_default();
        held.push_str(&json_line(object));
    }

    fn line(&mut self, object: &impl Serialize) {
        self.lines.push_str(&json_line(object));
        if self.lines.len() >= FLUSH_SIZE {
            self.flush();
        }
    }
}

fn json_line(object: &impl Serialize) -> String {
    serde_json::to_string(object).expect("an event is JSON") + "\n"
}

/// A message.
#[derive(Serialize)]
struct LogLine<'a> {
    device: &'a str,
    kind: &'static str,
    level: String,
    source: &'a str,
    message: &'a str,
    time: String,
}

/// The result of a resource; a run has thousands.
#[derive(Serialize)]
struct ResourceLine<'a> {
    device: &'a str,
    kind: &'static str,
    resource: String,
    file: Option<&'a str>,
    line: Option<u64>,
    changed: bool,
    failed: bool,
    skipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip_reason: Option<String>,
    events: Vec<JsonValue>,
    operations: Vec<String>,
    /// The verification found a difference: this line replaces an earlier one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    amended: bool,
}

impl<'a> ResourceLine<'a> {
    fn new(device: &'a str, status: &'a ResourceStatus) -> Self {
        Self {
            device,
            kind: "resource",
            resource: status.reference.to_string(),
            file: status.file.as_deref(),
            line: status.line,
            changed: status.changed,
            failed: status.has_failed(),
            skipped: status.is_skipped(),
            skip_reason: status.skip_reason(),
            events: status.events.iter().map(event_json).collect(),
            operations: command_lines::lines(&status.operations),
            amended: false,
        }
    }
}

impl View for Json {
    fn event(&mut self, device: &DeviceName, event: &DeviceEvent) {
        // The error is part of the line about the device.
        let DeviceEvent::Run(event) = event else {
            return;
        };
        match event {
            RunEvent::Log(entry) if entry.level < self.level => {}
            // A plan applies nothing. The line about the device has its duration.
            RunEvent::Log(entry)
                if self.kind == RunKind::Plan && entry.kind == LogKind::Duration => {}
            RunEvent::Log(entry) => {
                let line = LogLine {
                    device,
                    kind: "log",
                    level: entry.level.to_string(),
                    source: &entry.source,
                    message: &entry.message,
                    time: entry.time.to_string(),
                };
                self.device_line(device, &line);
            }
            // Every run has these: Puppet's schedules and its file bucket. They are in the report.
            RunEvent::Resource(status) if status.is_default => {}
            RunEvent::Resource(status) => {
                self.device_line(device, &ResourceLine::new(device, status));
            }
            RunEvent::Amended { status, .. } => {
                let line = ResourceLine {
                    amended: true,
                    ..ResourceLine::new(device, status)
                };
                self.device_line(device, &line);
            }
            _ => {}
        }
    }

    fn batch(&mut self, batch: &Batch) {
        let names: Vec<&str> = batch.devices.iter().map(DeviceName::as_str).collect();
        self.line(&json!({
            "kind": "batch", "number": batch.number, "batches": batch.count, "devices": names,
        }));
    }

    fn check(&mut self, end: &CheckEnd) {
        self.line(&json!({
            "kind": "check", "batch": end.batch, "success": end.is_success,
            "status": end.status, "output": end.output,
        }));
    }

    fn device(&mut self, finished: &FinishedDevice) {
        let mut object = json!({ "device": finished.device.as_str(), "kind": "device", "platform": finished.platform.as_str(), "seconds": finished.took.as_secs_f64() });
        match &finished.result {
            Ok(()) => {
                if let Some(record) = &finished.record {
                    add_record(&mut object, record);
                }
            }
            Err(failure) => {
                object["status"] = RunStatus::NotRun.word().into();
                object["error"] = finished.mask.apply(&chain(failure)).into();
                if let DeviceFailure::Run(error) = failure {
                    object["hint"] = json!(error.hint());
                    let findings = error.findings().iter().map(diagnostic::json::object);
                    object["findings"] = findings.collect();
                }
            }
        }
        self.device_line(&finished.device, &object);
        if let Some(outputs) = &mut self.outputs {
            let text = self.held.remove(&finished.device).unwrap_or_default();
            outputs.write(&finished.device, &text);
        }
    }

    fn flush(&mut self) {
        if !self.lines.is_empty() {
            print_json(&self.lines);
            self.lines.clear();
        }
    }

    fn end(&mut self, all: &[DeviceSummary]) -> Result<(), CommandError> {
        let mut counts: Map<String, JsonValue> = Map::new();
        for ended in all {
            let word = ended.status().word();
            let count = counts.get(word).and_then(JsonValue::as_u64).unwrap_or(0) + 1;
            counts.insert(word.to_owned(), count.into());
        }
        let counted = all.iter().filter_map(DeviceSummary::counts);
        let not_understood: usize = counted.map(|counts| counts.not_understood).sum();
        let summary = json!({
            "kind": "summary", "devices": all.len(), "statuses": counts,
            "not_understood": not_understood,
        });
        self.line(&summary);
        self.flush();
        self.outputs.take().map_or(Ok(()), DeviceOutputs::end)
    }
}

fn event_json(event: &Event) -> JsonValue {
    json!({
        "name": event.name,
        "property": event.property,
        "status": event.status,
        "previous_value": event.previous_value.as_ref().map(rich_data::write_plain),
        "desired_value": event.desired_value.as_ref().map(rich_data::write_plain),
        "message": event.message,
    })
}

/// Adds the result of a device that ran.
fn add_record(object: &mut JsonValue, record: &RunRecord) {
    object["status"] = record.status().word().into();
    object["counts"] = json!(record.counts);
    object["facts"] = json!(record.facts);
    object["round_trips"] = record.round_trips.into();
    object["ended_sessions"] = record.ended_sessions.into();
    object["failure"] = json!(record.failure);
    object["not_saved"] = record.not_saved.is_some().into();
    if let Some(verdict) = record.protection {
        object["protection"] = verdict.word().into();
    }
    if record.is_undone {
        object["undone"] = true.into();
    }
    if let Some(coverage) = &record.coverage {
        object["coverage"] = json!({
            "classes": coverage.counts,
            "not_covered": coverage.uncovered,
        });
    }
    if !record.not_understood.is_empty() {
        object["not_understood"] = json!(record.not_understood);
    }
    if record.is_without_changes() {
        if !record.without_difference.is_empty() {
            object["no_configuration_diff"] = json!(record.without_difference);
        }
        object["configuration_diff"] = json!(record.difference);
    }
    let Some(undo) = &record.undo else {
        return;
    };
    if undo.has_operations() {
        object["undo"] = json!(undo.resources);
        object["not_restored_by_undo"] = json!(undo.not_restored);
    }
    let resources = undo.resources.iter();
    let lost = resources.filter(|undo| !undo.not_restored.is_empty());
    let lost = lost.map(|undo| json!({ "resource": undo.resource, "reasons": undo.not_restored }));
    let lost: Vec<JsonValue> = lost.collect();
    if !lost.is_empty() {
        object["cannot_be_undone"] = lost.into();
    }
}
