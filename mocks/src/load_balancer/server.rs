//! The HTTPS server of the load balancer, with the faults of a connection. The only module of this mock that uses hyper.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::message::{ApiRequest, ApiResponse};
use super::refusal::Refusal;

use crate::clock;
use crate::control::{ExchangeLog, RoundTrips, lock};
use crate::fault::{ConnectionStage, DeferredWork, FaultDecision, FaultKind, FaultPlan, garbage};
use crate::network::{ConnectionCutter, DelayedStream, unaffected};
use crate::response_body::{ConnectionCut, ResponseBody};
use crate::running::ServedConnection;
use crate::tls;

/// Data that all connections share.
#[derive(Debug, Clone)]
pub(super) struct ServerContext {
    /// The load balancer.
    pub api: Arc<Mutex<Api>>,
    /// Requests that it executes later.
    pub deferred: DeferredWork,
    /// Its faults.
    pub faults: Arc<Mutex<FaultPlan>>,
    /// Its log.
    pub log: ExchangeLog,
    /// Whether the device issues tokens.
    pub tokens: bool,
}

/// Serves a connection until the token is cancelled.
pub(super) fn server(
    shared: ServerContext,
) -> impl Fn(TcpStream, SocketAddr, CancellationToken) -> ServedConnection {
    let acceptor = TlsAcceptor::from(tls::server_config());
    move |stream, _, stop| {
        let (shared, acceptor) = (shared.clone(), acceptor.clone());
        Box::pin(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = connection(stream, shared, acceptor) => {}
            }
        })
    }
}

async fn connection(stream: TcpStream, shared: ServerContext, acceptor: TlsAcceptor) {
    let latency = lock(&shared.faults).latency();
    let number = shared.log.connected();
    let decision = lock(&shared.faults).decide_stage(ConnectionStage::Connect);
    let Some(stream) = unaffected(stream, &decision).await else {
        return;
    };
    let Ok(wire) = DelayedStream::new(stream, latency, ConnectionCutter::default()) else {
        return;
    };
    let Ok(stream) = acceptor.accept(wire).await else {
        return;
    };
    let trips = Mutex::new(RoundTrips::default());
    let service = hyper::service::service_fn(|request: hyper::Request<Incoming>| {
        lock(&trips).input(&shared.log, latency);
        let trips = &trips;
        let shared = &shared;
        async move {
            let answer = exchange(request, shared, number).await;
            lock(trips).output();
            answer
        }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection of a mock load balancer ended");
    }
}

/// Handles one request and applies the faults to the response.
async fn exchange(
    request: hyper::Request<Incoming>,
    shared: &ServerContext,
    connection: u64,
) -> Result<hyper::Response<ResponseBody>, ConnectionCut> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| ConnectionCut)?.to_bytes();
    let header = |name: &str| text_header(&parts.headers, name);
    let path = parts.uri.path().to_owned();
    let method = parts.method.to_string();
    let line = format!("{method} {path}");
    let is_login = path == "/mgmt/shared/authn/login";
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let received = match (is_login, body.is_empty(), query.is_empty()) {
        (true, ..) => line.clone(),
        (_, true, true) => line.clone(),
        (_, true, false) => format!("{line}?{query}"),
        _ => format!("{line} {}", String::from_utf8_lossy(&body)),
    };
    let decision = lock(&shared.faults).decide(&line);
    if decision.has(FaultKind::DropAfter) || decision.has(FaultKind::StallAfter) {
        shared.log.record(connection, "rest", received, "", None);
        if decision.has(FaultKind::StallAfter) {
            std::future::pending::<()>().await;
        }
        return Err(ConnectionCut);
    }
    let request = PendingRequest {
        connection,
        received,
        is_login,
        basic: header(AUTHORIZATION.as_str()),
        token: header("x-f5-auth-token"),
        body: if body.is_empty() {
            Ok(Value::Null)
        } else if path.starts_with("/mgmt/shared/file-transfer/uploads/") {
            Ok(String::from_utf8_lossy(&body).into())
        } else {
            serde_json::from_slice(&body)
        },
        request: ApiRequest {
            method,
            path,
            query,
            body: Value::Null,
            transaction: header("x-f5-rest-coordination-id"),
        },
    };
    let (status, text) = match decision.deferral() {
        None => execute(request, shared, &decision),
        Some(delay) => {
            let (sender, executed) = oneshot::channel();
            let (context, faults) = (shared.clone(), decision.clone());
            shared.deferred.add(delay, move || {
                // The client may have disconnected.
                let _ = sender.send(execute(request, &context, &faults));
            });
            match (decision.has(FaultKind::LateEffect), decision.error_status()) {
                (false, _) => executed.await.map_err(|_| ConnectionCut)?,
                (true, Some(status)) => (status, String::new()),
                (true, None) => return Err(ConnectionCut),
            }
        }
    };
    if decision.has(FaultKind::DropUnanswered) {
        return Err(ConnectionCut);
    }
    if let Some(output) = decision.endless() {
        return Ok(hyper::Response::new(ResponseBody::endless(output)));
    }
    let (status, bytes) = if let Some(status) = decision.error_status() {
        (status, format!("<html>{status}</html>").into_bytes())
    } else if let Some(text) = decision.message(FaultKind::UnlistedAnswer) {
        (200, text.unwrap_or("Try again later.").as_bytes().to_vec())
    } else if decision.has(FaultKind::GarbageAfter) {
        (status, garbage())
    } else {
        (status, text.into_bytes())
    };
    Ok(respond(shared, status, bytes, &decision))
}

/// A request with its credentials, before it is executed.
struct PendingRequest {
    connection: u64,
    /// The request in the log.
    received: String,
    is_login: bool,
    basic: Option<String>,
    token: Option<String>,
    body: Result<Value, serde_json::Error>,
    /// The request without its body.
    request: ApiRequest,
}

/// Executes a request and records it. Returns status and body.
fn execute(
    received: PendingRequest,
    shared: &ServerContext,
    decision: &FaultDecision,
) -> (u16, String) {
    let answer: ApiResponse = match received.body {
        _ if decision.has(FaultKind::Unavailable) => Err(Refusal::unavailable()).into(),
        _ if decision.has(FaultKind::Refuse) => {
            let message = decision.message(FaultKind::Refuse).flatten();
            let text = message.unwrap_or("refused by the mock");
            let coded = text.starts_with(|first: char| first.is_ascii_digit());
            Err(if coded {
                Refusal::coded(text.to_owned())
            } else {
                Refusal::configuration(text)
            })
            .into()
        }
        Err(error) => Err(Refusal::body(&error.to_string())).into(),
        Ok(body) if received.is_login => login(shared, &received.request.method, &body),
        Ok(body) => {
            let request = ApiRequest {
                body,
                ..received.request
            };
            let (basic, token) = (received.basic.as_deref(), received.token.as_deref());
            answer(shared, &request, basic, token, decision)
        }
    };
    let text = if answer.body.is_null() {
        String::new()
    } else {
        answer.body.to_string()
    };
    let rendered = if received.is_login { "" } else { &text };
    shared.log.record(
        received.connection,
        "rest",
        received.received,
        rendered,
        Some(answer.status),
    );
    (answer.status, text)
}

fn text_header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned)
}

fn login(shared: &ServerContext, method: &str, body: &Value) -> ApiResponse {
    if !shared.tokens {
        return Err(Refusal::no_such_uri("/mgmt/shared/authn/login")).into();
    }
    if method != "POST" {
        return Err(Refusal::method(method, "/mgmt/shared/authn/login")).into();
    }
    if lock(&shared.faults).refuses_login() {
        return Err(Refusal::unauthorized("Authentication failed.")).into();
    }
    lock(&shared.api)
        .sessions
        .login(body, clock::instant())
        .into()
}

fn answer(
    shared: &ServerContext,
    request: &ApiRequest,
    basic: Option<&str>,
    token: Option<&str>,
    decision: &FaultDecision,
) -> ApiResponse {
    let now = clock::instant();
    if token.is_none() && basic.is_some() && lock(&shared.faults).refuses_login() {
        return Err(Refusal::unauthorized("Authentication required!")).into();
    }
    let mut api = lock(&shared.api);
    if let Err(refusal) = api.sessions.authorize(basic, token, now) {
        return Err(refusal).into();
    }
    let before = decision.has(FaultKind::LostWrite).then(|| api.tree.clone());
    let response = api.handle(request, now);
    if let Some(before) = before {
        api.tree = before;
    }
    response
}

fn respond(
    shared: &ServerContext,
    status: u16,
    bytes: Vec<u8>,
    decision: &FaultDecision,
) -> hyper::Response<ResponseBody> {
    let length = bytes.len();
    let (cut, pause) = {
        let mut faults = lock(&shared.faults);
        (faults.cut_output(length), faults.output_pause())
    };
    let cut = cut.or(decision.has(FaultKind::HalfBody).then_some(length / 2));
    let body = ResponseBody::new(bytes, cut, pause);
    let mut response = hyper::Response::new(body);
    *response.status_mut() =
        hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("application/json; charset=UTF-8"),
    );
    headers.insert(CONTENT_LENGTH, hyper::header::HeaderValue::from(length));
    response
}
