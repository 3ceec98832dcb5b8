//! The routes of workers: nodes of the fleet without a database.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequestParts, Query, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

use super::client_certificate::ClientCertificate;
use super::state::WebState;
use super::web_error::WebError;
use crate::clock;
use crate::serve::access::{Denied, WorkerIdentity, WorkerProof};
use crate::serve::lease::protocol::{PROTOCOL, share_a_fleet};
use crate::serve::link::hub::HubDesk;
use crate::serve::link::protocol::{CALLS, LARGEST, LinkCall, PROTOCOL_HEADER, Refusal, WORK};
use crate::serve::run_store::DELIVERY_LIMIT;

/// Limit for a call, and for waiting. A worker may send a large result over a slow link for nearly as long.
const LIMIT: Duration = DELIVERY_LIMIT.saturating_add(Duration::from_secs(30));

pub(super) fn routes() -> Router<WebState> {
    Router::new()
        .route(CALLS, post(call))
        .route(WORK, get(work))
        .layer(DefaultBodyLimit::disable())
        .layer(RequestBodyLimitLayer::new(LARGEST))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::REQUEST_TIMEOUT,
            LIMIT,
        ))
}

#[derive(Deserialize)]
struct WorkQuery {
    #[serde(default)]
    position: String,
}

impl From<Refusal> for WebError {
    fn from(refusal: Refusal) -> Self {
        let (status, hint) = match &refusal {
            Refusal::Foreign { .. } => (
                StatusCode::FORBIDDEN,
                "name all sites of the worker with `switchtender access add-worker NODE --sites SITE,…`",
            ),
            Refusal::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "check the database"),
            Refusal::NoHub => (
                StatusCode::CONFLICT,
                "set `store = \"postgresql://…\"` in serve.toml of the hub",
            ),
            Refusal::OldWorker { .. } | Refusal::OldHub { .. } => (
                StatusCode::CONFLICT,
                "nodes of a protocol and of the one before it share a fleet",
            ),
        };
        Self::new(status, refusal.to_string()).hint(hint)
    }
}

/// The worker that sends a request. It is known before a body is read.
struct Worker(WorkerIdentity);

impl FromRequestParts<WebState> for Worker {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &WebState) -> Result<Self, WebError> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let ConnectInfo(peer) = *peer.expect("each connection has an address");
        worker(state, parts, peer).await.map(Self)
    }
}

async fn call(
    State(state): State<WebState>,
    Worker(worker): Worker,
    Extension(ConnectInfo(peer)): Extension<ConnectInfo<SocketAddr>>,
    body: Bytes,
) -> Result<Response, WebError> {
    let call: LinkCall = serde_json::from_slice(&body)
        .map_err(|error| WebError::invalid(format!("the call is invalid: {error}")))?;
    let desk = HubDesk::new(state.process(), &worker)?;
    let answered = desk.answer(call).await;
    if let Err(refusal @ Refusal::Foreign { .. }) = &answered {
        tracing::warn!(address = %peer.ip(), "{refusal}");
    }
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((json, answered?).into_response())
}

async fn work(
    State(state): State<WebState>,
    Worker(worker): Worker,
    Query(query): Query<WorkQuery>,
) -> Result<Response, WebError> {
    HubDesk::new(state.process(), &worker)?;
    let waited = tokio::select! {
        () = state.stop.cancelled() => {
            let text = "the hub stops";
            return Err(WebError::new(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        waited = state.process().wait_for_work(&query.position, &worker.sites) => waited,
    };
    Ok(axum::Json(waited).into_response())
}

/// The worker that sends a request, with a protocol that this process knows.
async fn worker(
    state: &WebState,
    parts: &Parts,
    peer: SocketAddr,
) -> Result<WorkerIdentity, WebError> {
    let text = |name: &str| {
        parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let token = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let certificate = parts.extensions.get::<ClientCertificate>();
    let proof = match (token, certificate) {
        (Some(token), _) => Ok(WorkerProof::Token(token)),
        (None, Some(certificate)) => certificate
            .names()
            .map(WorkerProof::Certificate)
            .map_err(Denied::InvalidCertificate),
        (None, None) => Err(Denied::NoWorkerProof),
    };
    let access = &state.guard.access;
    let worker = access.worker(proof, peer.ip(), clock::timestamp()).await?;
    let protocol = text(PROTOCOL_HEADER).unwrap_or("none");
    let number = protocol.parse::<u32>().unwrap_or_default();
    if share_a_fleet(number, PROTOCOL) {
        Ok(worker)
    } else if number > PROTOCOL {
        Err(Refusal::OldHub { worker: number }.into())
    } else {
        let refusal = Refusal::OldWorker {
            node: worker.node,
            worker: protocol.to_owned(),
        };
        tracing::warn!(address = %peer.ip(), "{refusal}");
        Err(refusal.into())
    }
}
