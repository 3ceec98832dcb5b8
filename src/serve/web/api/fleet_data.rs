//! The process and all devices: state, counts over time, drift, findings, audit log.

use axum::Json;
use axum::extract::{Query, State};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::ApiAnswer;
use super::devices::{limit, selected};
use crate::clock;
use crate::history::counts::PeriodCounts;
use crate::history::devices::{DeviceFindings, FleetCounts};
use crate::history::{DriftEntry, DriftFilter};
use crate::serve::access::AuditFilter;
use crate::serve::audit_copies::NodeAuditEntry;
use crate::serve::service::ServiceReport;
use crate::serve::web::layout::Sender;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::{ErrorBody, WebError};

/// Longest time of counts.
const MAX_HOURS: u32 = 366 * 24;

/// Maximum number of periods.
const MAX_PERIODS: u32 = 1000;

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ProcessStatus {
    version: &'static str,
    #[serde(flatten)]
    process: ServiceReport,
    fleet: FleetCounts,
}

/// Show the state of the process and the counts of the fleet
///
/// While the store cannot be read, the error has the key `no_applies` with the reason why no run changes a device.
#[utoipa::path(get, path = "/status", tag = "fleet",
    responses((status = 200, body = ProcessStatus), (status = 503, body = ErrorBody)))]
pub(super) async fn status(
    State(state): State<WebState>,
    sender: Sender,
) -> ApiAnswer<ProcessStatus> {
    let process = state.service(&sender.0).report().await;
    let fleet = state.read(&sender.0, |reader| reader.fleet_counts()).await;
    Ok(Json(ProcessStatus {
        version: env!("CARGO_PKG_VERSION"),
        fleet: fleet.map_err(|error| error.no_applies(process.condition.no_applies.clone()))?,
        process,
    }))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CountsQuery {
    /// Hours until now; default: 24.
    hours: Option<u32>,
    /// Hours of a period; default: 1.
    step: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct CountList {
    periods: Vec<PeriodCounts>,
}

/// Count runs by status, and devices with drift, over time
///
/// Runs that are folded count, too.
#[utoipa::path(get, path = "/counts", tag = "fleet", params(CountsQuery),
    responses((status = 200, body = CountList)))]
pub(super) async fn counts(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<CountsQuery>,
) -> ApiAnswer<CountList> {
    let hours = query.hours.unwrap_or(24).clamp(1, MAX_HOURS);
    let step = query.step.unwrap_or(1).max(1);
    if hours / step > MAX_PERIODS {
        let text = format!("more than {MAX_PERIODS} periods");
        return Err(WebError::invalid(text).hint("choose a longer `step`"));
    }
    let now = clock::timestamp();
    let from = now - SignedDuration::from_hours(i64::from(hours));
    let read = state.read(&sender.0, move |reader| {
        reader.period_counts(from, now, step)
    });
    Ok(Json(CountList {
        periods: read.await?,
    }))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DriftQuery {
    device: Option<String>,
    /// An expression of names and labels, such as `sw[01-20], !sw7, role in (access, core)`.
    target: Option<String>,
    /// A part of the reference.
    resource: Option<String>,
    /// Also what no longer differs.
    all: Option<bool>,
    /// Only what differed at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    after: Option<Timestamp>,
    /// At most 1000; default: 100.
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct DriftList {
    drift: Vec<DriftEntry>,
}

/// List resources that differ from their catalogs, newest first
#[utoipa::path(get, path = "/drift", tag = "fleet", params(DriftQuery),
    responses((status = 200, body = DriftList), (status = 404, body = ErrorBody)))]
pub(super) async fn drift(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<DriftQuery>,
) -> ApiAnswer<DriftList> {
    if let Some(device) = &query.device {
        state.require_device(&sender.0, device).await?;
    }
    let filter = DriftFilter {
        device: query.device,
        names: selected(&state, &sender, query.target.as_deref())?,
        resource: query.resource,
        is_open: !query.all.unwrap_or_default(),
        after: query.after,
        limit: limit(query.limit),
        offset: query.offset.unwrap_or_default(),
    };
    let drift = state
        .read(&sender.0, move |reader| reader.drift(&filter))
        .await?;
    Ok(Json(DriftList { drift }))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FindingsPageQuery {
    /// An expression of names and labels, such as `sw[01-20], !sw7, role in (access, core)`.
    target: Option<String>,
    /// Number of devices, at most 1000; default: 100.
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct FindingList {
    devices: Vec<DeviceFindings>,
}

/// List the findings about the last catalogs, by device
#[utoipa::path(get, path = "/findings", tag = "fleet", params(FindingsPageQuery),
    responses((status = 200, body = FindingList)))]
pub(super) async fn findings(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<FindingsPageQuery>,
) -> ApiAnswer<FindingList> {
    let names = selected(&state, &sender, query.target.as_deref())?;
    let (limit, offset) = (limit(query.limit), query.offset.unwrap_or_default());
    let devices = state
        .read(&sender.0, move |reader| {
            reader.findings(names.as_ref(), limit, offset)
        })
        .await?;
    Ok(Json(FindingList { devices }))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct AuditList {
    /// Newest first.
    entries: Vec<NodeAuditEntry>,
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only entries from this time on, such as `2026-11-24T12:00:00Z`.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only entries up to this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Only entries of this user or token.
    user: Option<String>,
    /// Only this action, such as `login` or `apply`.
    action: Option<String>,
    /// At most 1000; default: 100.
    limit: Option<u32>,
}

/// List the newest entries of the audit log, of a time, user or action
#[utoipa::path(get, path = "/audit", tag = "access", params(AuditQuery),
    responses((status = 200, body = AuditList)))]
pub(super) async fn audit(
    State(state): State<WebState>,
    Query(query): Query<AuditQuery>,
) -> ApiAnswer<AuditList> {
    let limit = limit(query.limit);
    let filter = AuditFilter {
        since: query.since,
        until: query.until,
        actor: query.user,
        action: query.action,
    };
    let entries = state.process().audit_entries(filter, limit).await;
    let entries = entries.map_err(|error| WebError::internal(&error))?;
    Ok(Json(AuditList { entries }))
}
