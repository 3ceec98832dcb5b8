//! Plans that wait for the approval of a person.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ApiAnswer;
use super::devices::limit;
use super::object_body::ObjectBody;
use crate::clock;
use crate::history::approvals::ApprovalEntry;
use crate::serve::web::action_sender::ApiSender;
use crate::serve::web::actions;
use crate::serve::web::layout::Sender;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::{ErrorBody, WebError};

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ApprovalsQuery {
    device: Option<String>,
    /// At most 1000; default: 100.
    limit: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ApprovalList {
    /// Newest first.
    approvals: Vec<ApprovalEntry>,
}

/// List plans that need an approval, newest first
#[utoipa::path(get, path = "/approvals", tag = "approvals", params(ApprovalsQuery),
    responses((status = 200, body = ApprovalList), (status = 404, body = ErrorBody)))]
pub(super) async fn list(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<ApprovalsQuery>,
) -> ApiAnswer<ApprovalList> {
    if let Some(device) = &query.device {
        state.require_device(&sender.0, device).await?;
    }
    let (now, count) = (clock::timestamp(), limit(query.limit));
    let list = state.read(&sender.0, move |reader| {
        reader.approvals(query.device.as_deref(), now, count)
    });
    let approvals = list.await?;
    Ok(Json(ApprovalList { approvals }))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ApprovalDetail {
    #[serde(flatten)]
    approval: ApprovalEntry,
    /// The plan as `switchtender plan show --output json` prints it. `null`: it is not made.
    #[schema(value_type = Option<Object>)]
    plan: Option<Value>,
}

/// Show a plan that needs an approval
#[utoipa::path(get, path = "/approvals/{id}", tag = "approvals", params(("id" = i64, Path)),
    responses((status = 200, body = ApprovalDetail), (status = 404, body = ErrorBody)))]
pub(super) async fn one(
    State(state): State<WebState>,
    sender: Sender,
    Path(id): Path<i64>,
) -> ApiAnswer<ApprovalDetail> {
    let (approval, plan) = actions::approval(&state, &sender.0, id).await?;
    let plan = plan.map(|plan| serde_json::from_str(&plan)).transpose();
    let plan = plan.map_err(|error| WebError::internal(&error))?;
    Ok(Json(ApprovalDetail { approval, plan }))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct RequestedApproval {
    approval: i64,
}

/// Request a plan of a device that runs after the approval of another person
#[utoipa::path(post, path = "/devices/{name}/approvals", tag = "approvals",
    params(("name" = String, Path)),
    responses((status = 202, body = RequestedApproval), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn request(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<RequestedApproval>), WebError> {
    let approval = actions::request_approval(&state, &sender, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(RequestedApproval { approval })))
}

/// Approve a plan, as a person who has not requested it
///
/// The plan runs in the next change window, exactly as approved.
#[utoipa::path(post, path = "/approvals/{id}/approve", tag = "approvals", params(("id" = i64, Path)),
    responses((status = 204), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(super) async fn approve(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    Path(id): Path<i64>,
) -> Result<StatusCode, WebError> {
    actions::decide(&state, &sender, id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RejectBody {
    /// Why the plan is rejected, at most 500 characters.
    #[serde(default)]
    reason: String,
}

/// Reject a plan
#[utoipa::path(post, path = "/approvals/{id}/reject", tag = "approvals", params(("id" = i64, Path)),
    request_body = RejectBody,
    responses((status = 204), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn reject(
    State(state): State<WebState>,
    ApiSender(sender): ApiSender,
    Path(id): Path<i64>,
    ObjectBody(body): ObjectBody<RejectBody>,
) -> Result<StatusCode, WebError> {
    actions::decide(&state, &sender, id, Some(&body.reason)).await?;
    Ok(StatusCode::NO_CONTENT)
}
