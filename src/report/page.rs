//! Reports as one HTML page.

use std::time::Duration;

use minijinja::context;
use minijinja::value::Value;
use serde_json::Value as Json;

use super::difference::DiffLineKind;
use super::{RunRecord, command_lines, html};
use crate::catalog::rich_data;
use crate::transaction::{Event, EventStatus, LogEntry, LogKind, ResourceStatus};

/// A page about one run or several records.
pub(crate) struct Page {
    pub(crate) title: String,
    /// The number of devices with each status, if there are several.
    pub(crate) totals: Option<String>,
    /// The devices have durations.
    pub(crate) has_durations: bool,
    pub(crate) devices: Vec<PageDevice>,
}

/// A device of a page.
pub(crate) struct PageDevice {
    pub(crate) name: String,
    pub(crate) platform: Option<String>,
    pub(crate) took: Option<Duration>,
    pub(crate) record: RunRecord,
}

impl PageDevice {
    /// A device with its record only.
    pub(crate) fn new(name: impl Into<String>, record: RunRecord) -> Self {
        Self {
            name: name.into(),
            platform: None,
            took: None,
            record,
        }
    }

    /// The values of the template.
    fn values(&self) -> Value {
        let record = &self.record;
        let counts = record.counts;
        let resources = || record.managed();
        let notable = resources().filter(|status| status.is_notable());
        let other = resources().filter(|status| !status.is_notable());
        let logs = |is_problem: bool| -> Vec<Value> {
            let logs = record.logs.iter();
            // Nothing was applied.
            logs.filter(|log| !record.is_without_changes() || log.kind != LogKind::Duration)
                .filter(|log| log.level.is_problem() == is_problem)
                .map(|log| message(log))
                .collect()
        };
        let mut notes = Vec::new();
        if record.is_without_changes() {
            notes.push("no changes were made (noop)");
        }
        if !record.completed {
            notes.push("the run did not complete");
        }
        let undo = record.undo.as_ref();
        let (graph, no_graph) = match &record.graph {
            Some(Ok(svg)) => (Some(Value::from_safe_string(svg.clone())), None),
            Some(Err(reason)) => (None, Some(reason)),
            None => (None, None),
        };
        context! {
            name => self.name,
            platform => self.platform,
            status => record.status().word(),
            time => record.start(),
            duration => self.took.map(|took| format!("{:.1}s", took.as_secs_f64())),
            notes,
            resources => counts.resources,
            changed => counts.changed,
            failed => counts.failed,
            skipped => counts.skipped,
            pending => counts.pending,
            notable => notable.map(|status| resource(status)).collect::<Vec<_>>(),
            other => other.map(|status| status.reference.as_str()).collect::<Vec<_>>(),
            problems => logs(true),
            messages => logs(false),
            not_understood => record.not_understood,
            difference => difference(&record.difference),
            without_difference => record.without_difference,
            undo => undo.map(|undo| &undo.resources),
            not_restored => undo.map(|undo| difference(&undo.not_restored)),
            graph,
            no_graph,
        }
    }
}

fn message(log: &LogEntry) -> Value {
    context! { level => log.level, source => log.source, text => log.text() }
}

fn resource(status: &ResourceStatus) -> Value {
    let operations = command_lines::blocks(&status.operations).into_iter();
    let operations = operations.map(|block| {
        context! {
            lines => block.lines.join("\n"),
            problem => block.command.problem(),
            answer => block.command.device_message,
        }
    });
    context! {
        reference => status.reference.as_str(),
        position => status.position(),
        status => status.result().word(),
        skip_reason => status.skip_reason(),
        events => status.changes().map(event).collect::<Vec<_>>(),
        operations => operations.collect::<Vec<_>>(),
    }
}

fn event(event: &Event) -> Value {
    let status = match event.status {
        EventStatus::Success => "changed",
        EventStatus::Noop => "pending",
        EventStatus::Failure | EventStatus::Audit => "failed",
    };
    let message = match event.status {
        EventStatus::Success => None,
        EventStatus::Noop => event.text(),
        EventStatus::Failure | EventStatus::Audit => event.message.clone(),
    };
    context! {
        status,
        property => event.property.as_deref().unwrap_or_default(),
        before => value_text(event.previous_value.as_ref()),
        after => value_text(event.desired_value.as_ref()),
        message,
    }
}

fn difference(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| context! { kind => DiffLineKind::of(line).class(), text => line })
        .collect()
}

/// A value without the quotation marks of a text.
fn value_text(value: Option<&switchtender_devices::value::Value>) -> String {
    match value.map(rich_data::write_plain) {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

/// The page as HTML.
pub(crate) fn render(page: &Page) -> String {
    let devices = page.devices.iter().map(PageDevice::values);
    let values = context! {
        title => page.title,
        totals => page.totals,
        has_durations => page.has_durations,
        devices => devices.collect::<Vec<_>>(),
    };
    html::render(include_str!("page.html"), values)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::{ResourceUndo, UndoPlan};

    const TIME: &str = "2026-01-01T10:00:00.123+00:00";

    /// A report whose texts try to leave their element.
    fn hostile() -> RunRecord {
        let attack = "\"'><script>alert(1)</script>\u{1b}[2J\u{202e}";
        let report = json!({
            "host": "sw1.lab.test", "time": "2026-01-01T10:00:00.123+00:00", "status": "failed",
            "transaction_completed": true,
            "logs": [{"level": "err", "source": attack, "message": attack, "time": TIME}],
            "not_understood": [{"type": "network_vlan", "text": attack}],
            "configuration_difference": format!("+{attack}"),
            "resource_statuses": {
                (format!("Network_vlan[{attack}]")): {
                    "file": attack, "line": 7, "failed": true, "changed": false, "skipped": false,
                    "events": [{
                        "name": attack, "time": TIME, "message": attack, "status": "failure", "property": attack,
                        "previous_value": attack, "desired_value": {"a": [attack]},
                    }],
                    "operations": [{
                        "mode": [attack], "line": attack, "outcome": "refused",
                        "device_message": format!("% Invalid\n{attack}"),
                    }],
                },
                "Network_vlan[20]": {"failed": false, "changed": false, "skipped": false},
            },
        });
        RunRecord::of_json(report.to_string().as_bytes()).expect("a report")
    }

    #[test]
    fn page_escapes_hostile_text() {
        let attack = "<img src=x onerror=alert(1)>";
        let undo = UndoPlan {
            resources: vec![ResourceUndo {
                resource: attack.to_owned(),
                operations: vec![attack.to_owned()],
                not_restored: vec![attack.to_owned()],
            }],
            not_restored: attack.to_owned(),
        };
        let device = PageDevice {
            platform: Some(attack.to_owned()),
            took: Some(Duration::from_secs(1)),
            ..PageDevice::new(
                attack,
                RunRecord {
                    graph: Some(Err(attack.to_owned())),
                    without_difference: vec![attack.to_owned()],
                    undo: Some(undo),
                    ..hostile()
                },
            )
        };
        let html = render(&Page {
            title: attack.to_owned(),
            totals: Some(attack.to_owned()),
            has_durations: true,
            devices: vec![device],
        });
        for forbidden in ["<script", "<img", "\u{1b}", "\u{202e}"] {
            assert!(!html.contains(forbidden), "{forbidden}: {html}");
        }
        assert!(html.contains("% Invalid\n&quot;"), "{html}");
        assert!(html.contains("\\u{1b}[2J"), "{html}");
    }

    #[test]
    fn page_needs_no_other_file() {
        let record = RunRecord {
            graph: Some(Ok("<svg id=\"graph\"></svg>".to_owned())),
            ..hostile()
        };
        let device = PageDevice::new("sw1", record);
        let html = render(&Page {
            title: "Report".to_owned(),
            totals: None,
            has_durations: false,
            devices: vec![device],
        });
        assert!(html.contains("<svg id=\"graph\"></svg>"), "{html}");
        for forbidden in [
            "src=",
            "<link",
            "@import",
            "http-equiv=\"refresh",
            "url(http",
        ] {
            assert!(!html.contains(forbidden), "{forbidden}: {html}");
        }
    }
}
