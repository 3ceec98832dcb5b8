//! Runs and their events.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};

use super::ApiAnswer;
use super::devices::{limit, selected};
use crate::history::folded_runs::FoldedDay;
use crate::history::runs::{RunDetailJson, RunEntry, RunFilter};
use crate::history::{RequesterKind, RunId};
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::serve::web::layout::Sender;
use crate::serve::web::live_events::{EventForm, stream_of};
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::{ErrorBody, WebError};

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RunListQuery {
    device: Option<String>,
    /// An expression of names and labels, such as `sw[01-20], !sw7, role in (access, core)`.
    target: Option<String>,
    status: Option<RunStatus>,
    kind: Option<RunKind>,
    requester: Option<RequesterKind>,
    /// Only runs that are not unchanged.
    notable: Option<bool>,
    /// Only runs before this one, for paging.
    before: Option<i64>,
    /// At most 1000; default: 100.
    limit: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct RunList {
    /// Newest first.
    runs: Vec<RunEntry>,
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FoldedDaysQuery {
    /// At most 1000; default: 100.
    limit: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct FoldedDays {
    /// Newest first.
    days: Vec<FoldedDay>,
}

/// List runs, newest first
///
/// Unchanged runs that are folded are left out: `/devices/{name}/folded-runs` has them by day.
#[utoipa::path(get, path = "/runs", tag = "runs", params(RunListQuery),
    responses((status = 200, body = RunList), (status = 404, body = ErrorBody)))]
pub(super) async fn list(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<RunListQuery>,
) -> ApiAnswer<RunList> {
    if let Some(device) = &query.device {
        state.require_device(&sender.0, device).await?;
    }
    let filter = RunFilter {
        device: query.device,
        names: selected(&state, &sender, query.target.as_deref())?,
        status: query.status,
        kind: query.kind,
        requester: query.requester,
        is_notable: query.notable.unwrap_or_default(),
        before: query.before.map(RunId),
        limit: limit(query.limit),
        ..RunFilter::default()
    };
    let runs = state
        .read(&sender.0, move |reader| reader.runs(&filter))
        .await?;
    Ok(Json(RunList { runs }))
}

/// Show a run with its resources, operations and messages
///
/// The run is named by its number or its UUID. An unchanged run that is folded is gone; the error has its day.
#[utoipa::path(get, path = "/runs/{id}", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, body = RunDetailJson), (status = 404, body = ErrorBody),
        (status = 410, body = ErrorBody)))]
pub(super) async fn one(
    State(state): State<WebState>,
    sender: Sender,
    Path(id): Path<String>,
) -> ApiAnswer<RunDetailJson> {
    let found = state.require_run(&sender.0, &id, |reader, run| reader.run_detail(run));
    let detail = found.await?;
    let waits_because = state.service(&sender.0).wait_reason(&detail.run).await;
    let mut answer = RunDetailJson::from(detail);
    answer.waits_because = waits_because;
    Ok(Json(answer))
}

/// List the days of a device with folded runs, newest first
///
/// Unchanged runs that are older than `keep_unchanged` are one row for each day.
#[utoipa::path(get, path = "/devices/{name}/folded-runs", tag = "runs",
    params(("name" = String, Path), FoldedDaysQuery),
    responses((status = 200, body = FoldedDays), (status = 404, body = ErrorBody)))]
pub(super) async fn folded(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<FoldedDaysQuery>,
) -> ApiAnswer<FoldedDays> {
    state.require_device(&sender.0, &name).await?;
    let limit = limit(query.limit);
    let days = state
        .read(&sender.0, move |reader| reader.folded_days(&name, limit))
        .await?;
    Ok(Json(FoldedDays { days }))
}

/// Stream the events of a run
///
/// Each event is a JSON object with the keys `run`, `device` and `event`. The last event has the name
/// `finished`; the run has ended then.
#[utoipa::path(get, path = "/runs/{id}/events", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, content_type = "text/event-stream", body = String),
        (status = 404, body = ErrorBody)))]
pub(super) async fn events(
    State(state): State<WebState>,
    sender: Sender,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, WebError> {
    stream_of(&state, &sender, &id, EventForm::Json).await
}
