//! An HTTPS server, with the faults of a connection. The only module of the mock devices that speaks HTTP.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::control::{ExchangeLog, RoundTrips, lock};
use crate::fault::{ConnectionStage, DeferredWork, FaultDecision, FaultKind, FaultPlan, garbage};
use crate::network::{ConnectionCutter, DelayedStream, unaffected};
use crate::response_body::{ConnectionCut, ResponseBody};
use crate::running::{RunningMock, ServedConnection};
use crate::tls;

/// A device that answers requests.
pub(crate) trait HttpDevice: Send + Sync + 'static {
    /// The request as faults match it.
    fn command(&self, request: &HttpRequest) -> String;

    /// The request in the log, without the password of a login.
    fn logged(&self, request: &HttpRequest) -> String;

    /// Executes a request, with the faults that act on the device, and records it.
    fn execute(&self, request: &HttpRequest, decision: &FaultDecision) -> HttpAnswer;
}

/// A request.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    /// Number of the connection.
    pub(crate) connection: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    /// After the question mark.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// An answer.
#[derive(Debug, Default)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: String,
}

impl HttpRequest {
    /// `METHOD /path`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The text of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// What all connections of a server share.
struct ServerContext<D> {
    device: Arc<D>,
    deferred: DeferredWork,
    faults: Arc<Mutex<FaultPlan>>,
    log: ExchangeLog,
}

impl<D> Clone for ServerContext<D> {
    fn clone(&self) -> Self {
        Self {
            device: self.device.clone(),
            deferred: self.deferred.clone(),
            faults: self.faults.clone(),
            log: self.log.clone(),
        }
    }
}

/// Serves each connection to a device until its token is cancelled.
pub(crate) fn server<D: HttpDevice, S>(
    running: &RunningMock<S>,
    device: D,
) -> impl Fn(TcpStream, SocketAddr, CancellationToken) -> ServedConnection + use<D, S> {
    let acceptor = TlsAcceptor::from(tls::server_config());
    let shared = ServerContext {
        device: Arc::new(device),
        deferred: running.deferred.clone(),
        faults: running.faults.clone(),
        log: running.log.clone(),
    };
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

async fn connection<D: HttpDevice>(
    stream: TcpStream,
    shared: ServerContext<D>,
    acceptor: TlsAcceptor,
) {
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
        tracing::debug!(%error, "a connection of a mock over HTTPS ended");
    }
}

/// Handles one request and applies the faults to the response.
async fn exchange<D: HttpDevice>(
    request: hyper::Request<Incoming>,
    shared: &ServerContext<D>,
    connection: u64,
) -> Result<hyper::Response<ResponseBody>, ConnectionCut> {
    let (parts, body) = request.into_parts();
    let request = HttpRequest {
        connection,
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        body: body.collect().await.map_err(|_| ConnectionCut)?.to_bytes(),
    };
    let decision = lock(&shared.faults).decide(&shared.device.command(&request));
    if decision.has(FaultKind::DropAfter) || decision.has(FaultKind::StallAfter) {
        let logged = shared.device.logged(&request);
        shared.log.record(connection, "rest", logged, "", None);
        if decision.has(FaultKind::StallAfter) {
            std::future::pending::<()>().await;
        }
        return Err(ConnectionCut);
    }
    let answer = match decision.deferral() {
        None => shared.device.execute(&request, &decision),
        Some(delay) => {
            let (sender, executed) = oneshot::channel();
            let (device, faults) = (shared.device.clone(), decision.clone());
            shared.deferred.add(delay, move || {
                // The client may have disconnected.
                let _ = sender.send(device.execute(&request, &faults));
            });
            match (decision.has(FaultKind::LateEffect), decision.error_status()) {
                (false, _) => executed.await.map_err(|_| ConnectionCut)?,
                (true, Some(_)) => HttpAnswer::default(),
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
    Ok(respond(shared, answer, &decision))
}

/// The response to a request, with the faults of its output.
fn respond<D>(
    shared: &ServerContext<D>,
    answer: HttpAnswer,
    decision: &FaultDecision,
) -> hyper::Response<ResponseBody> {
    let (status, bytes) = if let Some(status) = decision.error_status() {
        (status, format!("<html>{status}</html>").into_bytes())
    } else if let Some(text) = decision.message(FaultKind::UnlistedAnswer) {
        (200, text.unwrap_or("Try again later.").as_bytes().to_vec())
    } else if decision.has(FaultKind::GarbageAfter) {
        (answer.status, garbage())
    } else {
        (answer.status, answer.body.into_bytes())
    };
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
        HeaderValue::from_static("application/json; charset=UTF-8"),
    );
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.extend(answer.headers);
    response
}
