//! The buttons of pages: plan, run, pause, resume, and the live events of a run.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::action_sender::{ActionSender, PageSender};
use super::actions;
use super::layout::Sender;
use super::live_events::{EventForm, stream_of};
use super::pages;
use super::state::WebState;
use super::web_error::WebError;
use crate::run_kind::RunKind;
use crate::serve::request::RequestedKind;

/// The actions that the role `view` permits.
pub(super) fn view_routes() -> Router<WebState> {
    Router::new().route("/runs/{id}/events", get(events))
}

/// The actions that the role `plan` permits.
pub(super) fn plan_routes() -> Router<WebState> {
    Router::new().route("/devices/{name}/plan", post(plan))
}

/// The actions that the role `apply` permits.
pub(super) fn apply_routes() -> Router<WebState> {
    Router::new()
        .route("/devices/{name}/run", post(run))
        .route("/devices/{name}/approval", post(request_approval))
        .route("/approvals/{id}/approve", post(approve))
        .route("/approvals/{id}/reject", post(reject))
        .route("/devices/{name}/pause", post(pause))
        .route("/devices/{name}/resume", post(resume))
        .route("/devices/{name}/accept-drift", post(accept_drift))
}

async fn events(
    State(state): State<WebState>,
    sender: Sender,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, WebError> {
    stream_of(&state, &sender, &id, EventForm::Html).await
}

async fn plan(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    request(&state, &sender, &name, RequestedKind(Some(RunKind::Plan))).await
}

/// A plan outside the change windows.
async fn run(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    request(&state, &sender, &name, RequestedKind(None)).await
}

async fn request(
    state: &WebState,
    sender: &ActionSender,
    name: &str,
    kind: RequestedKind,
) -> Result<Response, WebError> {
    let run = actions::request_run(state, sender, name, kind, None).await?;
    Ok(redirect(&format!("/runs/{run}")))
}

async fn pause(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    let reason = prompted(&headers);
    actions::pause(&state, &sender, &name, &reason).await?;
    Ok(refresh())
}

async fn resume(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    actions::resume(&state, &sender, &name).await?;
    Ok(refresh())
}

/// The branch with the accepted drift, or a patch to download.
async fn accept_drift(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    let accepted = actions::accept_drift(&state, &sender, &name).await?;
    if accepted.branch.is_some() {
        let page = pages::accepted_drift(&sender.principal, &name, &accepted)?;
        return Ok(page.into_response());
    }
    // A name of a file in a header has no other characters.
    let file: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let headers = [
        (CONTENT_TYPE, "text/x-patch; charset=utf-8".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{file}.patch\""),
        ),
    ];
    Ok((headers, accepted.patch).into_response())
}

/// What the user wrote when the page asked.
pub(super) fn prompted(headers: &HeaderMap) -> String {
    // Browsers do not send other characters in headers as UTF-8.
    let text = headers.get("hx-prompt").map(HeaderValue::as_bytes);
    text.map_or(String::new(), |bytes| match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    })
}

async fn request_approval(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    let approval = actions::request_approval(&state, &sender, &name).await?;
    Ok(redirect(&format!("/approvals/{approval}")))
}

async fn approve(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    Path(id): Path<i64>,
) -> Result<Response, WebError> {
    actions::decide(&state, &sender, id, None).await?;
    Ok(refresh())
}

async fn reject(
    State(state): State<WebState>,
    PageSender(sender): PageSender,
    headers: HeaderMap,
    Path(id): Path<i64>,
) -> Result<Response, WebError> {
    let reason = prompted(&headers);
    actions::decide(&state, &sender, id, Some(&reason)).await?;
    Ok(refresh())
}

/// The page opens another one.
pub(super) fn redirect(path: &str) -> Response {
    let header = HeaderName::from_static("hx-redirect");
    let path = HeaderValue::from_str(path).expect("a path is ASCII");
    (StatusCode::NO_CONTENT, [(header, path)]).into_response()
}

/// The page is loaded again.
pub(super) fn refresh() -> Response {
    let header = HeaderName::from_static("hx-refresh");
    (
        StatusCode::NO_CONTENT,
        [(header, HeaderValue::from_static("true"))],
    )
        .into_response()
}
