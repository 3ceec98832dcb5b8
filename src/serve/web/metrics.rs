//! Metrics for Prometheus, and the health of the process.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use super::layout::Sender;
use super::metrics_text::{MetricKind, MetricsText};
use super::state::WebState;
use super::web_error::WebError;
use super::worker_pages::StartedWorker;
use crate::clock;
use crate::coverage::LineClass;
use crate::coverage::counts::ClassCounts;
use crate::history::devices::FleetCounts;
use crate::history::puppetdb_commands::{CommandQueue, LostCommand};
use crate::history::site_devices::SiteDevices;
use crate::serve::lease::leases::LeaseNumbers;
use crate::serve::service::{Service, ServiceReport};

/// The process answers requests.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Runs can start and their results can be stored.
pub(super) async fn readyz(State(state): State<WebState>) -> (StatusCode, String) {
    let process = state.process();
    let report = process.report().await;
    let store = process
        .history()
        .query(|reader| reader.fleet_counts())
        .await;
    let condition = report.condition;
    let problem = condition.no_runs.or(condition.no_applies);
    let fleet = process.fleet();
    let has_devices = fleet.sites().next().is_some();
    let no_devices = fleet.rejected_release.clone();
    let no_devices = no_devices.filter(|_| fleet.settings.fleet.runs && !has_devices);
    let problem = match problem.or(no_devices) {
        _ if report.is_stopping => Some("the process is stopping".to_owned()),
        None if store.is_err() => Some("the store cannot be read".to_owned()),
        problem => problem,
    };
    match problem {
        None => (StatusCode::OK, "ready\n".to_owned()),
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n")),
    }
}

/// All metrics.
pub(super) async fn metrics(
    State(state): State<WebState>,
    sender: Sender,
) -> Result<impl IntoResponse, WebError> {
    let report = state.service(&sender.0).report().await;
    let (now, is_shared) = (clock::timestamp(), report.leases.is_some());
    let read = state.read(&sender.0, move |reader| {
        let counts = (reader.fleet_counts()?, reader.total_counts()?);
        let of_fleet = if is_shared {
            (reader.late_runs()?, reader.site_devices(now)?)
        } else {
            Default::default()
        };
        let counts = (counts, of_fleet);
        Ok((counts, reader.config_lines()?, reader.puppetdb_queue()?))
    });
    let (((fleet, totals), (late_runs, sites)), lines, queue) = read.await?;
    let mut text = MetricsText::default();
    add_build(&mut text);
    add_fleet(&mut text, &fleet);
    add_config_lines(&mut text, &lines);
    text.metric(
        "switchtender_runs_total",
        MetricKind::Counter,
        "Ended runs by status, also those that are folded or removed",
    );
    for (status, count) in &totals {
        text.sample("switchtender_runs_total", &[("status", status)], count);
    }
    add_process(&mut text, &report);
    if let Some(leases) = &report.leases {
        add_leases(&mut text, leases);
        text.single(
            "switchtender_late_results",
            MetricKind::Gauge,
            "Stored results that came after another node had acquired the shard",
            late_runs,
        );
        add_sites(&mut text, &sites);
    }
    add_puppetdb(&mut text, &queue);
    state.guard.metrics.render(&mut text);
    Ok(page(text))
}

/// The metrics of a worker. None of them waits for a hub.
pub(super) async fn metrics_of_worker(State(worker): State<StartedWorker>) -> impl IntoResponse {
    let worker = worker.get();
    let mut text = MetricsText::default();
    add_build(&mut text);
    text.single(
        "switchtender_hub_reachable",
        MetricKind::Gauge,
        "1 if a hub answered the last call of this worker",
        u8::from(worker.is_some_and(Service::is_hub_reachable)),
    );
    if let Some(report) = worker.map(Service::report_of_node) {
        add_process(&mut text, &report);
        if let Some(leases) = &report.leases {
            add_leases(&mut text, leases);
        }
    }
    page(text)
}

fn page(text: MetricsText) -> impl IntoResponse {
    let headers = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    (headers, text.into_text())
}

fn add_build(text: &mut MetricsText) {
    const BUILD: &str = "switchtender_build_info";
    text.metric(BUILD, MetricKind::Gauge, "Version of the process");
    let version = env!("CARGO_PKG_VERSION");
    text.sample(BUILD, &[("version", version)], 1);
}

fn add_fleet(text: &mut MetricsText, fleet: &FleetCounts) {
    text.metric(
        "switchtender_devices",
        MetricKind::Gauge,
        "Devices of the inventory by the status of the last run, `unreachable`, or `never`",
    );
    for (status, count) in &fleet.statuses {
        text.sample("switchtender_devices", &[("status", status)], count);
    }
    let gauges = [
        (
            "switchtender_devices_drifted",
            "Devices that differ from their catalogs",
            fleet.with_drift,
        ),
        (
            "switchtender_devices_unreachable",
            "Devices that cannot be connected",
            fleet.unreachable,
        ),
        (
            "switchtender_devices_paused",
            "Devices without scheduled runs",
            fleet.paused,
        ),
    ];
    for (name, help, count) in gauges {
        text.single(name, MetricKind::Gauge, help, count);
    }
}

fn add_config_lines(text: &mut MetricsText, lines: &ClassCounts) {
    const LINES: &str = "switchtender_config_lines";
    let help = "Lines of the newest configurations by class";
    text.metric(LINES, MetricKind::Gauge, help);
    for class in LineClass::ALL {
        text.sample(LINES, &[("class", class.word())], lines.count(*class));
    }
}

fn add_puppetdb(text: &mut MetricsText, queue: &CommandQueue) {
    text.single(
        "switchtender_puppetdb_commands_waiting",
        MetricKind::Gauge,
        "Facts and reports that wait for PuppetDB",
        queue.waiting,
    );
    text.single(
        "switchtender_puppetdb_waiting_bytes",
        MetricKind::Gauge,
        "Size of the facts and reports that wait for PuppetDB",
        queue.bytes,
    );
    const LOST: &str = "switchtender_puppetdb_commands_lost_total";
    let help = "Facts and reports that PuppetDB never received, by reason";
    text.metric(LOST, MetricKind::Counter, help);
    for reason in LostCommand::ALL {
        let count = queue.lost.get(reason.word()).copied().unwrap_or_default();
        text.sample(LOST, &[("reason", reason.word())], count);
    }
}

fn add_leases(text: &mut MetricsText, leases: &LeaseNumbers) {
    let gauge = MetricKind::Gauge;
    let shards = "Shards of the fleet that this node runs";
    text.single("switchtender_lease_shards", gauge, shards, leases.shards);
    let shards = "Shards of the fleet";
    text.single(
        "switchtender_fleet_shards",
        gauge,
        shards,
        leases.all_shards,
    );
    text.single(
        "switchtender_fleet_sites_without_node",
        gauge,
        "Sites whose devices no node may run",
        leases.sites_without_node,
    );
    text.single(
        "switchtender_lease_age_seconds",
        gauge,
        "Time since the oldest renewal of a lease of this node",
        leases.oldest_renewal_seconds,
    );
    if let Some(margin) = leases.smallest_margin_milliseconds {
        text.single(
            "switchtender_lease_margin_seconds",
            gauge,
            "Smallest time that a lease had left at a write since the start",
            format!("{:.3}", Duration::from_millis(margin).as_secs_f64()),
        );
    }
    text.single(
        "switchtender_lease_takeovers_total",
        MetricKind::Counter,
        "Leases that this node acquired from another one",
        leases.takeovers,
    );
}

fn add_sites(text: &mut MetricsText, sites: &BTreeMap<String, SiteDevices>) {
    const LATE: &str = "switchtender_fleet_site_lateness_seconds";
    let help = "Delay of the scheduled run of the site that waits longest";
    text.metric(LATE, MetricKind::Gauge, help);
    for (site, devices) in sites {
        text.sample(LATE, &[("site", site)], devices.lateness_seconds);
    }
}

fn add_process(text: &mut MetricsText, report: &ServiceReport) {
    let gauge = MetricKind::Gauge;
    text.single(
        "switchtender_runs_running",
        gauge,
        "Runs in progress",
        report.running,
    );
    text.single(
        "switchtender_runs_waiting",
        gauge,
        "Runs that are due and wait",
        report.waiting,
    );
    text.single(
        "switchtender_schedule_lateness_seconds",
        gauge,
        "Delay of the scheduled run that waits longest",
        report.lateness_seconds,
    );
    text.single(
        "switchtender_runs_blocked",
        gauge,
        "1 if no run can start, because its result cannot be stored",
        u8::from(report.condition.no_runs.is_some()),
    );
    text.single(
        "switchtender_changes_blocked",
        gauge,
        "1 if no run changes a device, because the store is away or full",
        u8::from(report.condition.no_applies.is_some()),
    );
    text.single(
        "switchtender_spooled_results",
        gauge,
        "Results that wait for the store",
        report.spool.results,
    );
    text.single(
        "switchtender_spooled_bytes",
        gauge,
        "Size of the results that wait for the store",
        report.spool.bytes,
    );
    text.single(
        "switchtender_settings_rejected",
        gauge,
        "1 if the last change of the settings is invalid",
        u8::from(report.condition.rejected_settings.is_some()),
    );
    text.single(
        "switchtender_backup_failed",
        gauge,
        "1 if the last backup was not written, committed or pushed",
        u8::from(report.condition.failed_backup.is_some()),
    );
    if let Some(space) = &report.space {
        text.single(
            "switchtender_store_used_bytes",
            gauge,
            "Size of the store",
            space.used,
        );
        if let Some(free) = space.free {
            text.single(
                "switchtender_store_free_bytes",
                gauge,
                "Free space for the store",
                free,
            );
        }
    }
}
