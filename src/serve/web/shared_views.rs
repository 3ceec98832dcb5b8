//! Parts that several pages have: facts, rows of runs, lines of differences.

use jiff::Timestamp;

use super::pager::encode;
use super::status_label::StatusLabel;
use crate::coverage::LineClass;
use crate::history::Requester;
use crate::history::devices::DeviceResult;
use crate::history::runs::RunEntry;
use crate::report::coverage_page;
use crate::report::difference::DiffLineKind;

/// A name with its value.
pub(super) struct NamedValue {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_time: bool,
}

impl NamedValue {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            is_time: false,
        }
    }

    pub(super) fn time(name: impl Into<String>, time: Timestamp) -> Self {
        Self {
            name: name.into(),
            value: seconds(time),
            is_time: true,
        }
    }
}

/// A run in a list.
pub(super) struct RunRow {
    pub(super) id: i64,
    pub(super) start: String,
    pub(super) device: String,
    pub(super) device_path: String,
    pub(super) kind: &'static str,
    pub(super) status: StatusLabel,
    pub(super) changed: u32,
    pub(super) failed: u32,
    pub(super) pending: u32,
    pub(super) seconds: String,
    pub(super) requester: String,
}

impl RunRow {
    pub(super) fn new(run: &RunEntry) -> Self {
        Self {
            id: run.id.0,
            start: seconds(run.started.unwrap_or(run.queued)),
            device_path: device_path(&run.device),
            device: run.device.clone(),
            kind: run.kind.word(),
            status: run_status(run),
            changed: run.counts.changed,
            failed: run.counts.failed,
            pending: run.counts.pending,
            seconds: duration(run),
            requester: requester(run),
        }
    }
}

/// The status of a run; that of one that could not connect is `unreachable`, as that of its device.
pub(super) fn run_status(run: &RunEntry) -> StatusLabel {
    if run.is_unreachable {
        StatusLabel::new(DeviceResult::Unreachable.word())
    } else {
        StatusLabel::new(run.status.word())
    }
}

/// Who requested a run.
pub(super) fn requester(run: &RunEntry) -> String {
    requester_text(&run.requester)
}

/// A person or program with its way of access.
pub(super) fn requester_text(requester: &Requester) -> String {
    requester.to_string()
}

/// The duration of a run in seconds.
pub(super) fn duration(run: &RunEntry) -> String {
    let took = run.started.zip(run.ended);
    took.map_or(String::new(), |(start, end)| {
        format!("{:.1}", end.duration_since(start).as_secs_f64())
    })
}

/// The path of a device's page.
pub(super) fn device_path(name: &str) -> String {
    format!("/devices/{}", encode(name))
}

/// The path of the page of a resource.
pub(super) fn resource_path(device: &str, reference: &str) -> String {
    format!(
        "{}/resource?reference={}",
        device_path(device),
        encode(reference)
    )
}

/// A time in ISO 8601, in seconds.
pub(super) fn seconds(time: Timestamp) -> String {
    format!("{time:.0}")
}

/// A line of a difference.
pub(super) struct DiffLine {
    pub(super) kind: DiffLineKind,
    pub(super) text: String,
    /// The class of a line of a complete configuration.
    pub(super) class: Option<LineClass>,
}

impl DiffLine {
    /// The classes of the style sheet.
    pub(super) fn style(&self) -> String {
        match self.class {
            Some(class) => format!("{} line {}", self.kind.class(), coverage_page::style(class)),
            None => self.kind.class().to_owned(),
        }
    }
}

/// The lines of a unified difference.
pub(super) fn diff_lines(difference: &str) -> Vec<DiffLine> {
    let lines = difference.lines();
    lines
        .map(|line| DiffLine {
            kind: DiffLineKind::of(line),
            class: None,
            text: switchtender_devices::printable::escape(line).into_owned(),
        })
        .collect()
}
