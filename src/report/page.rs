//! Reports as one HTML page that needs no other file, no script and no network.
//!
//! The page is a template. All values are escaped by the template engine, after characters that are
//! not printable, and a content security policy forbids scripts.

use std::time::Duration;

use minijinja::{AutoEscape, Environment, Value, escape_formatter};
use serde::Serialize;
use serde_json::Value as Json;
use switchtender_devices::printable::escape;

use super::command_lines::CommandLines;
use super::stored::{StoredEvent, StoredLog, StoredOperation, StoredReport, StoredStatus};

/// A page about one run or several reports.
#[derive(Serialize)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The number of devices with each status, if there are several.
    pub(crate) totals: Option<String>,
    /// The devices have durations.
    pub(crate) has_durations: bool,
    pub(crate) devices: Vec<PageDevice>,
}

/// A device of a page.
#[derive(Serialize)]
pub(crate) struct PageDevice {
    name: String,
    platform: Option<String>,
    status: String,
    time: String,
    duration: Option<String>,
    notes: Vec<&'static str>,
    resources: usize,
    changed: usize,
    failed: usize,
    skipped: usize,
    pending: usize,
    notable: Vec<PageResource>,
    /// Resources without changes.
    other: Vec<String>,
    problems: Vec<PageMessage>,
    /// Messages without `problems`.
    messages: Vec<PageMessage>,
    not_understood: Vec<PageMessage>,
    /// Lines of the configuration difference.
    difference: Vec<DifferenceLine>,
    without_difference: Vec<String>,
    /// The undo of each change, last change first.
    undo: Vec<PageUndo>,
    /// Lines of the difference that the undo leaves.
    not_restored: Vec<DifferenceLine>,
    /// An SVG image. Its text is escaped.
    graph: Option<Value>,
    no_graph: Option<String>,
}

#[derive(Serialize)]
struct PageResource {
    reference: String,
    position: Option<String>,
    /// In one word.
    status: &'static str,
    skip_reason: Option<String>,
    events: Vec<PageEvent>,
    operations: Vec<PageOperation>,
}

#[derive(Serialize)]
struct PageEvent {
    status: &'static str,
    property: String,
    before: String,
    after: String,
    /// The reason of a failure.
    message: Option<String>,
}

#[derive(Serialize)]
struct PageOperation {
    lines: String,
    problem: Option<String>,
    answer: Option<String>,
}

/// The undo of the change of a resource.
#[derive(Serialize)]
pub(crate) struct PageUndo {
    pub(crate) reference: String,
    pub(crate) lines: Vec<String>,
    /// What the lines do not restore.
    pub(crate) not_restored: Vec<String>,
}

#[derive(Serialize)]
struct PageMessage {
    level: String,
    source: String,
    text: String,
}

#[derive(Serialize)]
struct DifferenceLine {
    kind: &'static str,
    text: String,
}

impl PageDevice {
    /// A device with its report.
    pub(crate) fn new(name: impl Into<String>, report: &StoredReport) -> Self {
        let (notable, other): (Vec<_>, Vec<_>) = report
            .resource_statuses
            .iter()
            .partition(|(_, status)| status.is_notable());
        let pending = report.pending();
        let mut notes = Vec::new();
        if report.noop {
            notes.push("no changes were made (noop)");
        }
        if !report.transaction_completed {
            notes.push("the run did not complete");
        }
        let message = |level: &str, source: &str, text: &str| PageMessage {
            level: level.to_owned(),
            source: source.to_owned(),
            text: text.to_owned(),
        };
        let (problems, messages) = report
            .logs
            .iter()
            .partition::<Vec<_>, _>(|log| log.is_problem());
        let logged = |logs: Vec<&StoredLog>| -> Vec<PageMessage> {
            let logs = logs.into_iter();
            logs.map(|log| message(&log.level, &log.source, &log.message))
                .collect()
        };
        let not_understood = report.not_understood.iter();
        Self {
            name: name.into(),
            platform: None,
            status: report.status().to_owned(),
            time: report.seconds(),
            duration: None,
            notes,
            resources: report.resource_statuses.len(),
            changed: report.count(|status| status.changed),
            failed: report.count(|status| status.word() == "failed"),
            skipped: report.count(|status| status.skipped),
            pending,
            notable: notable
                .into_iter()
                .map(|(reference, status)| PageResource::new(reference, status))
                .collect(),
            other: other.into_iter().map(|(name, _)| name.clone()).collect(),
            problems: logged(problems),
            messages: logged(messages),
            not_understood: not_understood
                .map(|found| message("", &found.r#type, &found.text))
                .collect(),
            difference: report
                .configuration_difference
                .lines()
                .map(DifferenceLine::new)
                .collect(),
            without_difference: Vec::new(),
            undo: Vec::new(),
            not_restored: Vec::new(),
            graph: None,
            no_graph: None,
        }
    }

    /// Adds the status of the run, the platform and the duration.
    #[must_use]
    pub(crate) fn of_run(mut self, status: &str, platform: &str, took: Duration) -> Self {
        self.status = status.to_owned();
        self.duration = Some(format!("{:.1}s", took.as_secs_f64()));
        self.platform = Some(platform.to_owned());
        self
    }

    /// Adds messages about changes that the configuration difference does not show.
    #[must_use]
    pub(crate) fn without_difference(mut self, messages: &[String]) -> Self {
        self.without_difference = messages.to_vec();
        self
    }

    /// Adds the undo of the changes, and the difference that it leaves.
    #[must_use]
    pub(crate) fn with_undo(mut self, undo: Vec<PageUndo>, not_restored: &str) -> Self {
        self.undo = undo;
        self.not_restored = not_restored.lines().map(DifferenceLine::new).collect();
        self
    }

    /// Adds an SVG image of the relationships, or why there is none.
    #[must_use]
    pub(crate) fn with_graph(mut self, graph: Result<String, String>) -> Self {
        match graph {
            Ok(svg) => self.graph = Some(Value::from_safe_string(svg)),
            Err(reason) => self.no_graph = Some(reason),
        }
        self
    }
}

impl PageResource {
    fn new(reference: &str, status: &StoredStatus) -> Self {
        let mut commands = CommandLines::default();
        let operations = status.operations.iter();
        Self {
            reference: reference.to_owned(),
            position: status.position(),
            status: status.word(),
            skip_reason: status.skip_reason().map(str::to_owned),
            events: status.events().map(PageEvent::new).collect(),
            operations: operations
                .map(|operation| PageOperation::next(operation, &mut commands))
                .collect(),
        }
    }
}

impl PageEvent {
    fn new(event: &StoredEvent) -> Self {
        let status = match event.status.as_str() {
            "success" => "changed",
            "noop" => "pending",
            _ => "failed",
        };
        Self {
            status,
            property: event.property.clone().unwrap_or_default(),
            before: value_text(&event.previous_value),
            after: value_text(&event.desired_value),
            message: event.message.clone().filter(|_| status == "failed"),
        }
    }
}

impl PageOperation {
    /// The next of several operations.
    fn next(operation: &StoredOperation, commands: &mut CommandLines) -> Self {
        Self {
            lines: commands
                .next(&operation.mode, operation.text.as_deref())
                .join("\n"),
            problem: operation.problem().map(str::to_owned),
            answer: operation.device_message.clone(),
        }
    }
}

impl DifferenceLine {
    fn new(line: &str) -> Self {
        Self {
            kind: match line.as_bytes().first() {
                Some(b'+') => "added",
                Some(b'-') => "removed",
                Some(b'@') => "hunk",
                _ => "same",
            },
            text: line.to_owned(),
        }
    }
}

/// A value without the quotation marks of a text.
fn value_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The page as HTML.
pub(crate) fn render(page: &Page) -> String {
    const NAME: &str = "page.html";
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            let lines: Vec<_> = text.split('\n').map(escape).collect();
            escape_formatter(out, state, &Value::from(lines.join("\n")))
        }
        _ => escape_formatter(out, state, value),
    });
    let template = environment
        .add_template(NAME, include_str!("page.html"))
        .and_then(|()| environment.get_template(NAME));
    let rendered = template.and_then(|template| template.render(page));
    rendered.expect("the template uses only fields of the page")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A report whose texts try to leave their element.
    fn hostile() -> StoredReport {
        let attack = "\"'><script>alert(1)</script>\u{1b}[2J\u{202e}";
        let report = json!({
            "host": "sw1.lab.test", "time": "2026-01-01T10:00:00.123+00:00", "status": "failed",
            "transaction_completed": true,
            "logs": [{"level": "err", "source": attack, "message": attack, "time": attack}],
            "not_understood": [{"type": "network_vlan", "text": attack}],
            "configuration_difference": format!("+{attack}"),
            "resource_statuses": {
                (format!("Network_vlan[{attack}]")): {
                    "file": attack, "line": 7, "failed": true, "changed": false, "skipped": false,
                    "events": [{
                        "name": attack, "time": attack, "message": attack, "status": "failure", "property": attack,
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
        StoredReport::parse(report.to_string().as_bytes()).expect("a report")
    }

    #[test]
    fn page_escapes_hostile_text() {
        let attack = "<img src=x onerror=alert(1)>";
        let device = PageDevice::new(attack, &hostile())
            .of_run("failed", attack, Duration::from_secs(1))
            .without_difference(&[attack.to_owned()])
            .with_undo(
                vec![PageUndo {
                    reference: attack.to_owned(),
                    lines: vec![attack.to_owned()],
                    not_restored: vec![attack.to_owned()],
                }],
                attack,
            )
            .with_graph(Err(attack.to_owned()));
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
        let device = PageDevice::new("sw1", &hostile());
        let html = render(&Page {
            title: "Report".to_owned(),
            totals: None,
            has_durations: false,
            devices: vec![device.with_graph(Ok("<svg id=\"graph\"></svg>".to_owned()))],
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
