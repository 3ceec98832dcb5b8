//! An HTTPS server with recorded answers.

use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, SET_COOKIE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use switchtender_outline::RestSession;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::control::lock;
use crate::replay_script::SharedScript;
use crate::running::ServedConnection;
use crate::tls;

/// The token of all sessions.
const TOKEN: &str = "replayed-token";

/// Serves a connection until the token is cancelled.
pub(super) fn server(
    dialect: RestSession,
    script: SharedScript,
) -> impl Fn(TcpStream, SocketAddr, CancellationToken) -> ServedConnection {
    let acceptor = TlsAcceptor::from(tls::server_config());
    move |stream, _, stop| {
        let (dialect, script) = (dialect.clone(), script.clone());
        let acceptor = acceptor.clone();
        Box::pin(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = connection(stream, acceptor, &dialect, &script) => {}
            }
        })
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    dialect: &RestSession,
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
    dialect: &RestSession,
    script: &SharedScript,
    line: &str,
    body: &str,
) -> Response<Full<Bytes>> {
    let path = line.split_once(' ').map_or(line, |(_, path)| path);
    if dialect.login.as_deref() == Some(path) {
        let mut response = respond(
            StatusCode::OK,
            inside(&dialect.token, json!(TOKEN)).to_string(),
        );
        let cookie = dialect.cookie.iter();
        let cookies =
            cookie.filter_map(|name| HeaderValue::try_from(format!("{name}={TOKEN}")).ok());
        response
            .headers_mut()
            .extend(cookies.map(|value| (SET_COOKIE, value)));
        return response;
    }
    if dialect.accepted.iter().any(|start| line.starts_with(start)) {
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
            inside(&dialect.message, json!(message.trim())).to_string(),
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

/// A value in these fields.
fn inside(fields: &[String], value: Value) -> Value {
    let fields = fields.iter().rev();
    fields.fold(value, |inner, name| json!({name.as_str(): inner}))
}
