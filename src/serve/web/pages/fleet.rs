//! The fleet: counts, chart, and a list of devices with filters.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::fleet_chart::{ChartRange, FleetChart};
use super::{RenderedPage, render};
use crate::clock;
use crate::history::devices::{FleetCounts, FleetDevice, FleetFilter, FleetOrder};
use crate::report::RunStatus;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::pager::{PAGE_SIZE, Pager};
use crate::serve::web::select_option::{SelectOption, options};
use crate::serve::web::shared_views::{device_path, seconds};
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;

#[derive(Template)]
#[template(path = "fleet.html")]
struct FleetPage {
    layout: PageLayout,
    cards: Vec<CountCard>,
    chart: FleetChart,
    filter: FleetQuery,
    rows: Vec<FleetRow>,
    pager: Pager,
}

/// A count with a link to its devices.
struct CountCard {
    name: &'static str,
    count: u32,
    class: &'static str,
    path: &'static str,
}

struct FleetRow {
    path: String,
    name: String,
    platform: String,
    status: StatusLabel,
    is_paused: bool,
    is_running: bool,
    drift: String,
    /// The managed share of the configuration.
    managed: String,
    last_run: Option<LastRunLink>,
    next_run: Option<String>,
    /// When connections began to fail.
    since: Option<String>,
    message: String,
}

struct LastRunLink {
    id: i64,
    time: String,
}

/// The parameters of the page. A form sends empty ones, too.
#[derive(Deserialize)]
pub(super) struct FleetQuery {
    #[serde(default, rename = "q")]
    text: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    sort: String,
    #[serde(default)]
    chart: ChartRange,
    page: Option<usize>,
}

impl FleetQuery {
    fn statuses(&self) -> Vec<SelectOption> {
        let all = [
            ("", "All devices"),
            ("failed", "Failed"),
            ("not run", "Not run"),
            ("unreachable", "Unreachable"),
            ("drifted", "With drift"),
            ("pending", "Changes pending"),
            ("changed", "Changed"),
            ("unchanged", "Unchanged"),
            ("interrupted", "Interrupted"),
            ("paused", "Paused"),
        ];
        options(&all, Some(&self.status))
    }

    fn orders(&self) -> Vec<SelectOption> {
        let all = [
            ("", "By name"),
            ("status", "Failures first"),
            ("last_run", "Oldest run first"),
            ("next_due", "Next run first"),
        ];
        options(&all, Some(&self.sort))
    }

    /// A word with `=` is a label, another one a part of the name.
    fn filter(&self) -> FleetFilter {
        let text = Some(self.text.trim().to_owned()).filter(|text| !text.is_empty());
        let (label, name) = match text {
            Some(text) if text.contains('=') => (Some(text), None),
            text => (None, text),
        };
        FleetFilter {
            name,
            label,
            status: self.status.parse::<RunStatus>().ok(),
            has_drift: self.status == "drifted",
            is_unreachable: self.status == "unreachable",
            is_paused: self.status == "paused",
            order: match self.sort.as_str() {
                "status" => FleetOrder::Status,
                "last_run" => FleetOrder::LastRun,
                "next_due" => FleetOrder::NextDue,
                _ => FleetOrder::Name,
            },
            limit: PAGE_SIZE as u32,
            offset: u32::try_from(Pager::offset(self.page)).unwrap_or(u32::MAX),
            ..FleetFilter::default()
        }
    }

    fn pager(&self, total: u32) -> Pager {
        let parameters = vec![
            ("q", self.text.clone()),
            ("status", self.status.clone()),
            ("sort", self.sort.clone()),
        ];
        Pager::new("/", parameters, self.page.unwrap_or(1), total as usize)
    }
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<FleetQuery>,
) -> RenderedPage {
    let (filter, range, now) = (query.filter(), query.chart, clock::timestamp());
    let (devices, total, counts, periods, running) = state
        .read(&sender.0, move |reader| {
            Ok((
                reader.fleet(&filter)?,
                reader.fleet_size(&filter)?,
                reader.fleet_counts()?,
                range.read(reader, now)?,
                reader.running_devices()?,
            ))
        })
        .await?;
    render(&FleetPage {
        layout: PageLayout::new(&state.guard, &sender.0, "Fleet", "/"),
        cards: cards(&counts, running.len()),
        chart: FleetChart::new(range, &periods),
        pager: query.pager(total),
        filter: query,
        rows: devices.iter().map(|device| row(device, &running)).collect(),
    })
}

fn cards(counts: &FleetCounts, running: usize) -> Vec<CountCard> {
    let card = |name, count, class, path| CountCard {
        name,
        count,
        class,
        path,
    };
    let of = |status: RunStatus| counts.statuses.get(status.word()).copied().unwrap_or(0);
    let failed = of(RunStatus::Failed) + of(RunStatus::NotRun) + of(RunStatus::Interrupted);
    let running = u32::try_from(running).unwrap_or(u32::MAX);
    let marked = |count: u32, class| if count > 0 { class } else { "" };
    vec![
        card("devices", counts.devices, "", "/"),
        card("failed", failed, marked(failed, "failed"), "/?sort=status"),
        card(
            "unreachable",
            counts.unreachable,
            marked(counts.unreachable, "failed"),
            "/?status=unreachable",
        ),
        card(
            "with drift",
            counts.with_drift,
            marked(counts.with_drift, "drifted"),
            "/?status=drifted",
        ),
        card("paused", counts.paused, "", "/?status=paused"),
        card("running", running, "", "/runs?status=running"),
    ]
}

fn row(device: &FleetDevice, running: &BTreeSet<String>) -> FleetRow {
    let time = device.last_ended.map(seconds);
    FleetRow {
        path: device_path(&device.name),
        name: device.name.clone(),
        platform: device.platform.clone(),
        status: status(device),
        is_paused: device.paused_since.is_some(),
        is_running: running.contains(&device.name),
        drift: match device.drift {
            0 => String::new(),
            count => count.to_string(),
        },
        managed: device
            .managed_percent
            .map_or_else(String::new, |percent| format!("{percent} %")),
        last_run: device
            .last_run
            .zip(time)
            .map(|(run, time)| LastRunLink { id: run.0, time }),
        next_run: device.next_due.map(seconds),
        since: device.unreachable_since.map(seconds),
        message: message(device),
    }
}

/// Why the last run failed.
fn message(device: &FleetDevice) -> String {
    let reason = match (&device.last_error, device.last_failed) {
        (Some(error), _) => error.clone(),
        (None, 0) => return String::new(),
        (None, 1) => "1 resource failed".to_owned(),
        (None, failed) => format!("{failed} resources failed"),
    };
    match device.failures {
        0 | 1 => reason,
        failures => format!("{reason} ({failures} failures in sequence)"),
    }
}

/// The status of a device: that of its last run, unless it cannot be connected.
pub(super) fn status(device: &FleetDevice) -> StatusLabel {
    match (device.unreachable_since, device.last_status) {
        (Some(_), _) => StatusLabel::new("unreachable"),
        (None, Some(status)) => StatusLabel::new(status.word()),
        (None, None) => StatusLabel::new("no run"),
    }
}
