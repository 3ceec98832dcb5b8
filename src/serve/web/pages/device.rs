//! A device: state, drift, runs and facts.

use askama::Template;
use axum::extract::{Path, State};

use super::device_head::DeviceHead;
use super::fleet_column::message;
use super::{RenderedPage, render};
use crate::history::DriftFilter;
use crate::history::devices::FleetDevice;
use crate::history::folded_runs::FoldedDay;
use crate::history::runs::RunFilter;
use crate::natural_order;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::pager::encode;
use crate::serve::web::shared_views::{NamedValue, RunRow, requester_text, resource_path, seconds};
use crate::serve::web::state::WebState;

/// Number of runs on the page.
const RUNS: u32 = 10;

/// Number of days with folded runs on the page.
const FOLDED_DAYS: u32 = 100;

/// Number of resources with drift on the page.
const DRIFT: u32 = 200;

#[derive(Template)]
#[template(path = "device.html")]
struct DevicePage {
    layout: PageLayout,
    head: DeviceHead,
    /// When the device that had no run has its first one.
    first_run: Option<String>,
    /// Why the last run failed.
    message: Option<String>,
    summary: Vec<NamedValue>,
    drift: Vec<DriftRow>,
    runs: Vec<RunRow>,
    no_runs: &'static str,
    names_devices: bool,
    runs_path: String,
    /// Days with runs that are folded, newest first.
    folded: Vec<FoldedDay>,
    facts: Vec<NamedValue>,
}

struct DriftRow {
    reference: String,
    path: String,
    text: String,
    /// What changed.
    cause: String,
    since: String,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
) -> RenderedPage {
    let read_name = name.clone();
    let found = state
        .read(&sender.0, move |reader| {
            let Some(device) = reader.fleet_device(&read_name)? else {
                return Ok(None);
            };
            let drift = reader.drift(&DriftFilter {
                device: Some(read_name.clone()),
                is_open: true,
                limit: DRIFT,
                ..DriftFilter::default()
            })?;
            let runs = reader.runs(&RunFilter {
                device: Some(read_name.clone()),
                limit: RUNS,
                ..RunFilter::default()
            })?;
            let folded = reader.folded_days(&read_name, FOLDED_DAYS)?;
            let facts = reader.facts(&read_name, None)?;
            Ok(Some((device, drift, runs, folded, facts)))
        })
        .await?;
    let (device, mut drift, runs, folded, facts) =
        found.ok_or_else(|| WebState::no_device(&name))?;
    drift.sort_by(|a, b| natural_order::compare(&a.resource, &b.resource));
    let facts = facts.into_iter().flat_map(|set| set.facts);
    render(&DevicePage {
        layout: PageLayout::new(&sender.0, &name, "/"),
        head: DeviceHead::new(&state, &sender.0, &device, ""),
        first_run: (device.next_due.filter(|_| device.last_run.is_none())).map(seconds),
        message: Some(message(&device)).filter(|text| !text.is_empty()),
        summary: summary(&device),
        drift: drift
            .iter()
            .map(|entry| DriftRow {
                path: resource_path(&name, &entry.resource),
                reference: entry.resource.clone(),
                text: entry.message.clone(),
                cause: entry.cause.clone(),
                since: seconds(entry.since),
            })
            .collect(),
        runs: runs.iter().map(RunRow::new).collect(),
        no_runs: "There are no runs yet.",
        names_devices: false,
        folded,
        runs_path: format!("/runs?target={}", encode(&name)),
        facts: facts
            .map(|(name, value)| NamedValue::new(name, value))
            .collect(),
    })
}

fn summary(device: &FleetDevice) -> Vec<NamedValue> {
    let mut rows = vec![NamedValue::new("Platform", device.platform.clone())];
    if !device.is_current {
        rows.push(NamedValue::new(
            "Inventory",
            "the inventory does not have this device",
        ));
    }
    let texts = [
        (
            "Address",
            Some(&device.address).filter(|text| !text.is_empty()),
        ),
        ("Model", device.model.as_ref()),
        ("Version", device.version.as_ref()),
        ("Serial number", device.serial_number.as_ref()),
        ("Site", device.site.as_ref()),
    ];
    for (name, text) in texts {
        rows.extend(text.map(|text| NamedValue::new(name, text.clone())));
    }
    if !device.labels.is_empty() {
        let labels: Vec<String> = (device.labels.iter())
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        rows.push(NamedValue::new("Labels", labels.join(", ")));
    }
    rows.push(NamedValue::new(
        "Managed resources",
        device.resources.to_string(),
    ));
    let times = [
        ("Next run", device.next_due),
        ("Last run", device.last_ended),
        ("Last change", device.last_changed),
        ("Unreachable since", device.unreachable_since),
        ("Paused since", device.paused_since),
    ];
    for (name, time) in times {
        rows.extend(time.map(|time| NamedValue::time(name, time)));
    }
    if let Some(by) = device.paused_by.as_ref() {
        rows.push(NamedValue::new("Paused by", requester_text(by)));
    }
    if let Some(reason) = device.pause_reason.as_ref().filter(|text| !text.is_empty()) {
        rows.push(NamedValue::new("Reason of the pause", reason.clone()));
    }
    if device.failures > 0 {
        rows.push(NamedValue::new(
            "Failures in sequence",
            device.failures.to_string(),
        ));
    }
    rows
}
