//! Requests with an effect: run, cancel, pause, resume.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};

use super::ApiAnswer;
use super::idempotency::{self, KeyState};
use super::object_body::ObjectBody;
use crate::history::RunId;
use crate::serve::accept_drift::AcceptedDrift;
use crate::serve::access::Denied;
use crate::serve::request::RequestedKind;
use crate::serve::web::action_sender::ApiSender;
use crate::serve::web::actions::{self, required_role};
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::{ErrorBody, WebError};

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunRequestBody {
    /// Default: as a scheduled run, which is a plan outside change windows.
    #[serde(default)]
    kind: RequestedKind,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct RequestedRun {
    run: RunId,
}

/// Request a run of a device
///
/// The run is stored when the request is answered. A plan requires the role `plan`, others require the role
/// `apply`. A repetition with the same header `Idempotency-Key` within 24 hours returns the same run.
#[utoipa::path(post, path = "/devices/{name}/runs", tag = "runs",
    params(("name" = String, Path), ("idempotency-key" = Option<String>, Header)),
    request_body = RunRequestBody,
    responses((status = 202, body = RequestedRun), (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn run(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    headers: HeaderMap,
    Path(name): Path<String>,
    ObjectBody(body): ObjectBody<RunRequestBody>,
) -> Result<(StatusCode, Json<RequestedRun>), WebError> {
    let required = required_role(body.kind);
    if sender.principal.roles.highest() < required {
        let denied = Denied::Role { required };
        let target = format!("POST /api/v1/devices/{name}/runs");
        let access = &state.guard.access;
        let address = sender.address.0;
        access
            .record_refused(&sender.principal, address, &target)
            .await;
        return Err(denied.into());
    }
    let request = format!("run {name} {}", body.kind);
    let key = idempotency::state_of(&state, &headers, &sender.principal.key(), &request).await?;
    let run = match key {
        KeyState::Answered(run) => run,
        KeyState::None => actions::request_run(&state, &sender, &name, body.kind, None).await?,
        KeyState::New(key) => {
            actions::request_run(&state, &sender, &name, body.kind, Some(key)).await?
        }
    };
    Ok((StatusCode::ACCEPTED, Json(RequestedRun { run })))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct CancelResult {
    /// Whether the run was withdrawn. A run that has started continues.
    canceled: bool,
}

/// Withdraw a run that has not started
#[utoipa::path(delete, path = "/runs/{id}", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, body = CancelResult), (status = 404, body = ErrorBody),
        (status = 410, body = ErrorBody)))]
pub(super) async fn cancel(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    Path(id): Path<String>,
) -> ApiAnswer<CancelResult> {
    let canceled = actions::cancel_run(&state, &sender, &id).await?;
    Ok(Json(CancelResult { canceled }))
}

/// Accept the drift of a device
///
/// The desired state takes what has changed on the device since the last apply: as a commit on a new branch, or as a
/// patch if it is in no Git work tree. The files that runs read are not changed.
#[utoipa::path(post, path = "/devices/{name}/accept-drift", tag = "devices",
    params(("name" = String, Path)),
    responses((status = 200, body = AcceptedDrift), (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(super) async fn accept_drift(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    Path(name): Path<String>,
) -> ApiAnswer<AcceptedDrift> {
    let accepted = actions::accept_drift(&state, &sender, &name).await?;
    Ok(Json(accepted))
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PauseBody {
    /// Why the runs are paused, at most 500 characters.
    #[serde(default)]
    reason: String,
}

/// Pause the scheduled runs of a device
#[utoipa::path(post, path = "/devices/{name}/pause", tag = "devices",
    params(("name" = String, Path)), request_body = PauseBody,
    responses((status = 204), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn pause(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    Path(name): Path<String>,
    ObjectBody(body): ObjectBody<PauseBody>,
) -> Result<StatusCode, WebError> {
    actions::pause(&state, &sender, &name, &body.reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Resume the scheduled runs of a device
#[utoipa::path(post, path = "/devices/{name}/resume", tag = "devices",
    params(("name" = String, Path)),
    responses((status = 204), (status = 404, body = ErrorBody)))]
pub(super) async fn resume(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    Path(name): Path<String>,
) -> Result<StatusCode, WebError> {
    actions::resume(&state, &sender, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
