//! The fleet: counts, chart, and a list of devices with filters and actions.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};

use super::fleet_chart::FleetChart;
use super::fleet_column::{self, CellContent, FleetCell, FleetColumn};
use super::fleet_query::{self, FleetQuery};
use super::render;
use crate::clock;
use crate::history::device_state::KnownDevice;
use crate::history::devices::{DeviceResult, FleetCounts, FleetDevice, FleetFilter};
use crate::serve::access::{Principal, Role};
use crate::serve::condition::Condition;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::pager::Pager;
use crate::serve::web::select_option::SelectOption;
use crate::serve::web::shared_views::{device_path, seconds};
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;
use crate::serve::web::web_error::WebError;

#[derive(Template)]
#[template(path = "fleet.html")]
struct FleetPage {
    layout: PageLayout,
    /// What prevents the process from its work.
    conditions: Vec<String>,
    /// The process is a node of several.
    has_nodes: bool,
    cards: Vec<CountCard>,
    first_runs: Option<FirstRuns>,
    chart: FleetChart,
    filter: FleetQuery,
    choices: FilterChoices,
    /// Why the filter has no meaning.
    problem: Option<String>,
    columns: Vec<ColumnChoice>,
    rows: Vec<FleetRow>,
    pager: Pager,
    total: u32,
    may_plan: bool,
    may_apply: bool,
}

/// A count with a link to its devices.
struct CountCard {
    name: &'static str,
    count: u32,
    class: &'static str,
    path: &'static str,
}

/// When devices without a run have their first one.
struct FirstRuns {
    count: u32,
    next: String,
    last: String,
}

/// The values that filters can have.
struct FilterChoices {
    platforms: Vec<SelectOption>,
    sites: Vec<SelectOption>,
    labels: Vec<String>,
}

struct ColumnChoice {
    column: FleetColumn,
    is_chosen: bool,
}

struct FleetRow {
    path: String,
    name: String,
    status: StatusLabel,
    is_paused: bool,
    is_running: bool,
    cells: Vec<FleetCell>,
}

/// What the page reads.
struct FleetData {
    devices: Vec<FleetDevice>,
    total: u32,
    counts: FleetCounts,
    first_runs: Option<(jiff::Timestamp, jiff::Timestamp)>,
    chart: FleetChart,
    running: BTreeSet<String>,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, WebError> {
    let query = FleetQuery::parse(query.as_deref().unwrap_or_default());
    let visible = state.service(&sender.0).devices();
    let (filter, problem) = match query.filter(&visible) {
        Ok(filter) => (Some(filter), None),
        Err(problem) => (None, Some(problem)),
    };
    let data = read(&state, &sender, &query, filter).await?;
    let columns = fleet_column::columns(query.columns.clone(), &headers);
    let cookie = query.columns.as_ref();
    let cookie = cookie.map(|_| [(header::SET_COOKIE, fleet_column::cookie(&columns))]);
    let role = sender.0.roles.highest();
    let page = render(&FleetPage {
        layout: PageLayout::new(&sender.0, "Devices", "/"),
        has_nodes: state.process().leases().is_some() && sender.0.roles.sees_all(),
        conditions: conditions(state.service(&sender.0).condition()),
        cards: cards(&data.counts, data.running.len()),
        first_runs: first_runs(&data),
        chart: data.chart,
        pager: query.pager(data.total),
        choices: FilterChoices::new(&query, &visible),
        filter: query,
        problem,
        rows: (data.devices.iter())
            .map(|device| row(device, &data.running, &columns))
            .collect(),
        columns: (FleetColumn::ALL.iter())
            .map(|column| ColumnChoice {
                column: *column,
                is_chosen: columns.contains(column),
            })
            .collect(),
        total: data.total,
        may_plan: role >= Role::Plan,
        may_apply: role >= Role::Apply,
    })?;
    Ok((cookie, page).into_response())
}

/// The names of the devices that the filter of a form selects.
pub(in crate::serve::web) async fn matching_devices(
    state: &WebState,
    sender: &Principal,
    form: &[u8],
) -> Result<Vec<String>, WebError> {
    let query = FleetQuery::parse(&String::from_utf8_lossy(form));
    let visible = state.service(sender).devices();
    let filter = query.filter(&visible).map_err(WebError::invalid)?;
    let filter = FleetFilter {
        limit: u32::MAX,
        offset: 0,
        ..filter
    };
    let read = state.read(sender, move |reader| reader.fleet(&filter));
    let devices = read.await?.into_iter();
    Ok(devices.map(|device| device.name).collect())
}

/// `filter`: `None` selects no device.
async fn read(
    state: &WebState,
    sender: &Sender,
    query: &FleetQuery,
    filter: Option<FleetFilter>,
) -> Result<FleetData, WebError> {
    let (range, now) = (query.chart(), clock::timestamp());
    let read = state.read(&sender.0, move |reader| {
        let (devices, total) = match &filter {
            Some(filter) => (reader.fleet(filter)?, reader.fleet_size(filter)?),
            None => (Vec::new(), 0),
        };
        Ok(FleetData {
            devices,
            total,
            counts: reader.fleet_counts()?,
            first_runs: reader.first_runs()?,
            chart: FleetChart::new(range, &range.read(reader, now)?),
            running: reader.running_devices()?,
        })
    });
    read.await
}

impl FilterChoices {
    fn new(query: &FleetQuery, visible: &[KnownDevice]) -> Self {
        let choices = |all: BTreeSet<String>, selected: &str, none: &str| {
            let none = SelectOption::new("", none, selected);
            let all = all
                .iter()
                .map(|value| SelectOption::new(value, value, selected));
            [none].into_iter().chain(all).collect()
        };
        let platforms = fleet_query::platforms(visible);
        Self {
            platforms: choices(platforms, &query.platform, "All platforms"),
            sites: choices(fleet_query::sites(visible), &query.site, "All sites"),
            labels: fleet_query::labels(visible).into_iter().collect(),
        }
    }
}

fn first_runs(data: &FleetData) -> Option<FirstRuns> {
    let count = data
        .counts
        .statuses
        .get(DeviceResult::Never.word())
        .copied()?;
    let (next, last) = data.first_runs?;
    Some(FirstRuns {
        count,
        next: seconds(next),
        last: seconds(last),
    })
}

fn conditions(condition: Condition) -> Vec<String> {
    let Condition {
        no_runs,
        no_applies,
        rejected_settings,
        failed_backup,
        loaded: _,
        release: _,
        rejected_release,
        refused,
        no_node,
    } = condition;
    let all = [
        ("No run starts", no_runs),
        (
            "No run changes a device, scheduled runs are plans",
            no_applies,
        ),
        ("The changed settings were rejected", rejected_settings),
        (
            "Runs only plan. The newest release is not used",
            rejected_release,
        ),
        ("The last backup failed", failed_backup),
        ("This node runs no device", refused),
        ("Devices are not run", no_node),
    ];
    let found = all
        .into_iter()
        .filter_map(|(what, why)| Some(format!("{what}: {}.", why?.trim_end_matches('.'))));
    found.collect()
}

fn cards(counts: &FleetCounts, running: usize) -> Vec<CountCard> {
    let of = |result: DeviceResult| counts.statuses.get(result.word()).copied().unwrap_or(0);
    let running = u32::try_from(running).unwrap_or(u32::MAX);
    let all = [
        ("devices", counts.devices, "", "/"),
        (
            "failed",
            of(DeviceResult::Failed),
            "failed",
            "/?status=failed",
        ),
        (
            "unreachable",
            of(DeviceResult::Unreachable),
            "unreachable",
            "/?status=unreachable",
        ),
        (
            "not run",
            of(DeviceResult::NotRun),
            "failed",
            "/?status=not%20run",
        ),
        (
            "interrupted",
            of(DeviceResult::Interrupted),
            "failed",
            "/?status=interrupted",
        ),
        (
            "pending",
            of(DeviceResult::Pending),
            "pending",
            "/?status=pending",
        ),
        (
            "with drift",
            counts.with_drift,
            "drifted",
            "/?status=drifted",
        ),
        ("no run yet", of(DeviceResult::Never), "", "/?status=never"),
        ("paused", counts.paused, "", "/?status=paused"),
        ("running", running, "", "/runs?status=running"),
    ];
    // These are rare.
    let rare = ["not run", "interrupted", "no run yet", "paused"];
    let all = all.into_iter();
    all.filter(|(name, count, _, _)| *count > 0 || !rare.contains(name))
        .map(|(name, count, class, path)| CountCard {
            name,
            count,
            class: if count > 0 { class } else { "" },
            path,
        })
        .collect()
}

fn row(device: &FleetDevice, running: &BTreeSet<String>, columns: &[FleetColumn]) -> FleetRow {
    FleetRow {
        path: device_path(&device.name),
        name: device.name.clone(),
        status: status(device),
        is_paused: device.paused_since.is_some(),
        is_running: running.contains(&device.name),
        cells: columns.iter().map(|column| column.cell(device)).collect(),
    }
}

/// The status of a device.
pub(super) fn status(device: &FleetDevice) -> StatusLabel {
    match device.result {
        DeviceResult::Never => StatusLabel::new("no run yet"),
        result => StatusLabel::new(result.word()),
    }
}
