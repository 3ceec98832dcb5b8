//! Reports as one HTML page.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use minijinja::context;
use minijinja::value::Value;
use serde_json::Value as Json;

use super::alike::{AlikeDevice, AlikeDevices, AlikeGroup, OwnWords};
use super::difference::DiffLineKind;
use super::{RunRecord, command_lines, html};
use crate::catalog::{Level, rich_data};
use crate::inventory::range;
use crate::run_kind::RunKind;
use crate::transaction::{Event, EventStatus, LogEntry, LogKind, ResourceStatus};

/// A page about one run or several records.
pub(crate) struct Page {
    pub(crate) title: String,
    /// What names the run, such as the author of a plan.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The number of devices with each status, if there are several.
    pub(crate) totals: Option<String>,
    pub(crate) devices: Vec<PageDevice>,
}

/// A device of a page.
pub(crate) struct PageDevice {
    pub(crate) name: String,
    pub(crate) platform: Option<String>,
    pub(crate) own: OwnWords,
    pub(crate) took: Option<Duration>,
    pub(crate) record: RunRecord,
}

impl PageDevice {
    /// A device with its record only.
    pub(crate) fn new(name: impl Into<String>, record: RunRecord) -> Self {
        let name = name.into();
        Self {
            own: OwnWords::of_name(&name),
            name,
            platform: None,
            took: None,
            record,
        }
    }

    /// The values of its row. `section` is the number of its group.
    fn row(&self, section: usize) -> Value {
        let record = &self.record;
        let counts = record.counts;
        let commands = if record.is_without_changes() {
            counts.to_send
        } else {
            counts.operations
        };
        context! {
            name => self.name,
            section,
            status => record.status_word(),
            resources => counts.resources,
            changed => counts.changed,
            pending => counts.pending,
            failed => counts.failed,
            skipped => counts.skipped,
            commands,
            time => if self.took.is_none() { record.start() } else { String::new() },
            duration => self.took.map(|took| format!("{:.1}s", took.as_secs_f64())),
        }
    }
}

/// The groups of devices with alike records, and the number of the first group of each device.
fn groups(devices: &[PageDevice]) -> (Vec<AlikeGroup>, HashMap<String, usize>) {
    let mut alike = AlikeDevices::default();
    for device in devices {
        let record = &device.record;
        let logs = record.logs.iter();
        // The duration and details are of one device.
        let is_common = |log: &&Arc<LogEntry>| {
            devices.len() == 1 || log.kind != LogKind::Duration && log.level >= Level::Notice
        };
        alike.add(AlikeDevice {
            name: device.name.clone(),
            platform: device.platform.clone().unwrap_or_default(),
            own: device.own.clone(),
            record: RunRecord {
                logs: logs.filter(is_common).cloned().collect(),
                ..record.clone()
            },
        });
    }
    let positions = devices.iter().map(|device| device.name.as_str()).zip(0..);
    let groups = alike.groups(Some(&positions.collect()));
    let mut sections = HashMap::new();
    for (index, group) in groups.iter().enumerate() {
        for name in &group.devices {
            sections.entry(name.clone()).or_insert(index + 1);
        }
    }
    (groups, sections)
}

/// The values of the section of a group.
fn section(group: &AlikeGroup) -> Value {
    let record = &group.record;
    let is_one = group.devices.len() == 1;
    let resources = || record.managed();
    let notable = resources().filter(|status| status.is_notable());
    let other = resources().filter(|status| is_one && !status.is_notable());
    let logs = |is_problem: bool| {
        let logs = record.logs.iter();
        // Nothing was applied.
        logs.filter(|log| !record.is_without_changes() || log.kind != LogKind::Duration)
            .filter(move |log| log.level.is_problem() == is_problem)
            .map(|log| message(log, None))
    };
    let warnings = group.warnings.iter().map(|(log, devices)| {
        let is_of_all = devices.len() == group.devices.len();
        message(log, (!is_of_all).then(|| names(devices)))
    });
    let mut notes = Vec::new();
    match record.kind {
        RunKind::Apply => {}
        RunKind::Noop => notes.push("no changes were made (noop)"),
        RunKind::Plan => notes.push("a plan: no changes were made"),
    }
    if !record.completed {
        notes.push("the run did not complete");
    }
    let undo = record.undo.as_ref();
    let graph = match &record.graph {
        Some(Ok(svg)) => Some(Value::from_safe_string(svg.clone())),
        _ => None,
    };
    let rows = group.values.rows.iter();
    let rows = rows.map(|(devices, cells)| context! { devices => names(devices), cells });
    context! {
        name => names(&group.devices),
        count => group.devices.len(),
        platform => Some(&group.platform).filter(|platform| !platform.is_empty()),
        status => record.status_word(),
        revision => record.revision.as_ref().map(ToString::to_string),
        notes,
        columns => group.values.columns,
        rows => rows.collect::<Vec<_>>(),
        notable => notable.map(|status| resource(status)).collect::<Vec<_>>(),
        other => other.map(|status| status.reference.as_str()).collect::<Vec<_>>(),
        problems => warnings.chain(logs(true)).collect::<Vec<_>>(),
        messages => logs(false).collect::<Vec<_>>(),
        not_understood => record.not_understood,
        difference => difference(&record.difference),
        difference_of => group.is_template.then(|| &group.devices[0]),
        without_difference => record.without_difference,
        undo => undo.map(|undo| &undo.resources),
        not_restored => undo.map(|undo| difference(&undo.not_restored)),
        graph,
    }
}

fn names(devices: &[String]) -> String {
    range::of_names(devices.iter().map(String::as_str)).join(", ")
}

/// `only`: the devices of a message that not all devices of the group have.
fn message(log: &LogEntry, only: Option<String>) -> Value {
    context! { level => log.level, source => log.source, text => log.text(), only }
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
    let (groups, sections) = groups(&page.devices);
    let rows = page.devices.iter();
    let rows = rows.map(|device| device.row(sections.get(&device.name).copied().unwrap_or(1)));
    let facts = page.facts.iter();
    let facts = facts.map(|(name, value)| context! { name, value });
    let values = context! {
        title => page.title,
        facts => facts.collect::<Vec<_>>(),
        totals => page.totals,
        columns => columns(&page.devices),
        devices => rows.collect::<Vec<_>>(),
        groups => groups.iter().map(section).collect::<Vec<_>>(),
    };
    html::render(include_str!("page.html"), values)
}

/// The columns of the table that tell something: their keys and headings.
fn columns(devices: &[PageDevice]) -> Vec<Value> {
    let has = |test: fn(&PageDevice) -> bool| devices.iter().any(test);
    let all = [
        ("resources", "Resources", true),
        (
            "changed",
            "Changed",
            has(|one| !one.record.is_without_changes() || one.record.counts.changed > 0),
        ),
        (
            "pending",
            "To change",
            has(|one| one.record.is_without_changes() || one.record.counts.pending > 0),
        ),
        ("failed", "Failed", has(|one| one.record.counts.failed > 0)),
        (
            "skipped",
            "Skipped",
            has(|one| one.record.counts.skipped > 0),
        ),
        ("commands", "Commands", true),
        ("time", "Time", has(|one| one.took.is_none())),
        ("duration", "Duration", has(|one| one.took.is_some())),
    ];
    let used = all.into_iter().filter(|(_, _, is_used)| *is_used);
    used.map(|(key, name, _)| context! { key, name }).collect()
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
            facts: vec![("Author", attack.to_owned())],
            totals: Some(attack.to_owned()),
            devices: vec![device],
        });
        for forbidden in ["<script", "<img", "\u{1b}", "\u{202e}"] {
            assert!(!html.contains(forbidden), "{forbidden}: {html}");
        }
        assert!(html.contains("% Invalid\n&quot;"), "{html}");
        assert!(html.contains("\\u{1b}[2J"), "{html}");
    }

    #[test]
    fn page_has_a_section_for_devices_with_the_same_changes() {
        let device = |number: usize| {
            let name = format!("sw{number}");
            let event = json!({
                "name": "description_changed", "time": TIME, "status": "noop", "property": "description",
                "message": "x", "previous_value": "unset", "desired_value": format!("port {number}"),
            });
            let report = json!({
                "host": name, "time": TIME, "status": "unchanged", "noop": true, "transaction_completed": true,
                "resource_statuses": {"Port[1]": {
                    "failed": false, "changed": false, "skipped": false, "events": [event],
                }},
            });
            let record = RunRecord::of_json(report.to_string().as_bytes()).expect("a report");
            PageDevice::new(name, record)
        };
        let html = render(&Page {
            title: "Plan".to_owned(),
            facts: vec![("Author", "ops".to_owned())],
            totals: None,
            devices: (1..=30).map(device).collect(),
        });
        assert_eq!(html.matches("<section").count(), 1, "{html}");
        for expected in [
            "sw[1-30] <small>30 devices</small>",
            "<th>{description}</th>",
            "<td><code>port 17</code></td>",
            "<summary>30 devices</summary>",
            "<th>Author</th><td>ops</td>",
        ] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
        for useless in ["Changed</th>", "Skipped</th>", "Duration</th>"] {
            assert!(!html.contains(useless), "{useless}: {html}");
        }
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
            facts: Vec::new(),
            totals: None,
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
