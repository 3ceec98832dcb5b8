//! For machines: one JSON object per line, in the order in which things happen.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json_, json};

use super::{Done, Ended, Failure, View, chain, level, operations};
use crate::catalog::{Level, rich_data};
use crate::cli::Global;
use crate::cli::exit::print;
use crate::diagnostic;
use crate::fleet::device_run::Purpose;
use crate::transaction::{Event, RunEvent};

pub struct Json {
    purpose: Purpose,
    /// Messages below this level are left out.
    level: Level,
    /// Lines that are written together: a run over many devices tells of thousands of resources
    /// in a second, and each line would be a call to the system.
    lines: String,
}

/// So much text is written without waiting for more.
const ENOUGH: usize = 32 << 10;

impl Json {
    pub fn new(purpose: Purpose, global: &Global) -> Self {
        Self {
            purpose,
            level: level(global),
            lines: String::new(),
        }
    }

    /// Adds an object, with the device first if it is about one.
    fn line(&mut self, device: Option<&str>, object: Json_) {
        let mut whole = Map::new();
        whole.extend(device.map(|device| ("device".to_owned(), device.into())));
        if let Json_::Object(entries) = object {
            whole.extend(entries);
        }
        let _ = writeln!(self.lines, "{}", Json_::Object(whole));
        if self.lines.len() >= ENOUGH {
            self.tick();
        }
    }
}

impl View for Json {
    fn event(&mut self, device: &str, event: &RunEvent) {
        let object = match event {
            RunEvent::Log(entry) if entry.level < self.level => return,
            RunEvent::Log(entry) => json!({
                "kind": "log",
                "level": entry.level.to_string(),
                "source": entry.source,
                "message": entry.message,
                "time": entry.time.to_string(),
            }),
            RunEvent::Resource(status) => json!({
                "kind": "resource",
                "resource": status.reference.to_string(),
                "file": status.file.as_deref(),
                "line": status.line,
                "changed": status.changed,
                "failed": status.failed || status.failed_to_restart,
                "skipped": status.skipped.is_some(),
                "events": status.events.iter().map(event_json).collect::<Vec<_>>(),
                "operations":
                    operations::lines(status.operations.iter().map(|record| &record.operation)),
            }),
            _ => return,
        };
        self.line(Some(device), object);
    }

    fn device(&mut self, done: &Done) {
        let mut object = json!({ "kind": "device", "platform": done.platform, "seconds": done.took.as_secs_f64() });
        match &done.result {
            Ok(ran) => {
                object["status"] = ran.tally.word().into();
                object["tally"] = json!(ran.tally);
                object["facts"] = json!(ran.facts);
                object["round_trips"] = ran.statistics.round_trips.into();
                object["failure"] = json!(ran.failure);
                if self.purpose == Purpose::Plan || ran.predicted.is_some() {
                    object["configuration_diff"] = json!(ran.predicted);
                }
            }
            Err(failure) => {
                object["status"] = "not run".into();
                object["error"] = chain(failure).into();
                if let Failure::NotRun(not_run) = failure {
                    object["hint"] = json!(not_run.hint());
                    let findings = not_run.findings().iter().map(diagnostic::json::object);
                    object["findings"] = findings.collect();
                }
            }
        }
        self.line(Some(&done.device), object);
    }

    fn tick(&mut self) {
        if !self.lines.is_empty() {
            print(&self.lines);
            self.lines.clear();
        }
    }

    fn end(&mut self, all: &[Ended]) {
        let mut counts: Map<String, Json_> = Map::new();
        for ended in all {
            let word = ended.tally().map_or("not run", |tally| tally.word());
            let count = counts.get(word).and_then(Json_::as_u64).unwrap_or(0) + 1;
            counts.insert(word.to_owned(), count.into());
        }
        let summary = json!({ "kind": "summary", "devices": all.len(), "statuses": counts });
        self.line(None, summary);
        self.tick();
    }
}

fn event_json(event: &Event) -> Json_ {
    json!({
        "name": event.name,
        "property": event.property,
        "status": event.status,
        "previous_value": event.previous_value.as_ref().map(rich_data::write_plain),
        "desired_value": event.desired_value.as_ref().map(rich_data::write_plain),
        "message": event.message,
    })
}
