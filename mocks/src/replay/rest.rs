//! An HTTPS server with recorded answers.

use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, SET_COOKIE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::json;
use switchtender_outline::{RestSession, TokenCarrier};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::control::lock;
use crate::json_path::Locate as _;
use crate::replay_script::SharedScript;
use crate::rest_request::{CompiledRequest, RestRequest};
use crate::running::ServedConnection;
use crate::shape_pattern::InvalidShape;
use crate::tls;

/// The token of all sessions.
const TOKEN: &str = "replayed-token";

/// The session of a device, with compiled requests.
#[derive(Debug)]
struct Dialect {
    session: RestSession,
    login: Option<CompiledRequest>,
    accepted: Vec<CompiledRequest>,
}

/// Serves a connection until the token is cancelled.
pub(super) fn server(
    session: RestSession,
    script: SharedScript,
) -> Result<impl Fn(TcpStream, SocketAddr, CancellationToken) -> ServedConnection, InvalidShape> {
    let acceptor = TlsAcceptor::from(tls::server_config());
    let login = session.login.as_ref();
    let login = login.map(|login| CompiledRequest::new(&login.request));
    let accepted = session.accepted.iter().map(CompiledRequest::new);
    let dialect = Arc::new(Dialect {
        login: login.transpose()?,
        accepted: accepted.collect::<Result<_, _>>()?,
        session,
    });
    Ok(move |stream, _, stop: CancellationToken| {
        let (dialect, script) = (dialect.clone(), script.clone());
        let acceptor = acceptor.clone();
        Box::pin(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = connection(stream, acceptor, &dialect, &script) => {}
            }
        }) as ServedConnection
    })
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    dialect: &Dialect,
    script: &SharedScript,
) {
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let service = hyper::service::service_fn(|request: Request<Incoming>| async move {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let target = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let line = format!("{} {target}", parts.method);
        let body = String::from_utf8_lossy(&body);
        Ok::<_, hyper::Error>(answer(dialect, script, &line, &body))
    });
    let served = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection of a replayed device ended");
    }
}

/// The response to a request, `METHOD /path`, with its body.
fn answer(
    dialect: &Dialect,
    script: &SharedScript,
    line: &str,
    body: &str,
) -> Response<Full<Bytes>> {
    let (verb, target) = line.split_once(' ').unwrap_or(("", line));
    let sent = RestRequest::new(verb, target, serde_json::from_str(body).unwrap_or_default());
    let common: Vec<String> = sent
        .parameters
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let is = |shape: &CompiledRequest| shape.names(&sent, &common).is_some();
    let session = &dialect.session;
    if let (Some(shape), Some(login)) = (&dialect.login, &session.login)
        && is(shape)
    {
        let token = login
            .token
            .as_ref()
            .map(|path| path.document_with(json!(TOKEN)));
        let body = token.unwrap_or_else(|| json!({}));
        let mut response = respond(StatusCode::OK, body.to_string());
        let cookie = match &session.token {
            Some(TokenCarrier::Cookie(name)) => Some(name),
            _ => None,
        };
        let cookies = cookie.and_then(|name| HeaderValue::try_from(format!("{name}={TOKEN}")).ok());
        response
            .headers_mut()
            .extend(cookies.map(|value| (SET_COOKIE, value)));
        return response;
    }
    if dialect.accepted.iter().any(is) {
        return respond(StatusCode::OK, "{}".to_owned());
    }
    let request = match body {
        "" => line.to_owned(),
        body => format!("{line} {body}"),
    };
    let mut script = lock(script);
    let refuse = |status, message: &str| {
        respond(
            status,
            session
                .message
                .document_with(json!(message.trim()))
                .to_string(),
        )
    };
    match script.answer(&request) {
        Some(found) if found.is_refusal => refuse(StatusCode::BAD_REQUEST, &found.answer),
        // A change has no answer in the recording.
        Some(found) if !line.starts_with("GET ") && found.answer.trim().is_empty() => {
            respond(StatusCode::OK, "{}".to_owned())
        }
        Some(found) => respond(StatusCode::OK, found.answer),
        None => {
            script.depart(&request);
            refuse(
                StatusCode::BAD_REQUEST,
                "the recording does not have this request",
            )
        }
    }
}

fn respond(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json; charset=UTF-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
