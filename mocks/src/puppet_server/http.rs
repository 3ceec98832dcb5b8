//! HTTP/1.1 over TLS in front of the routes. The only module of this mock that uses hyper.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HeaderValue};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use x509_parser::parse_x509_certificate;

use super::{ServerState, routes};
use crate::control::lock;
use crate::response_body::{ConnectionCut, ResponseBody};

/// Time for a client to close the connection after a failed handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A request that the server received, and the status of its response.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// `GET`, `PUT`, `POST`.
    pub method: String,
    /// Decoded, without the query.
    pub path: String,
    /// As sent.
    pub query: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// As sent.
    pub body: Vec<u8>,
    /// Common name of the client certificate, if the client sent one.
    pub client: Option<String>,
    /// HTTP status of the response.
    pub status: u16,
}

impl ReceivedRequest {
    /// The first value of a query parameter, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.parameters(name).into_iter().next()
    }

    /// All values of a query parameter, decoded.
    pub fn parameters(&self, name: &str) -> Vec<String> {
        let all = form(&self.query).into_iter();
        all.filter(|(key, _)| key == name)
            .map(|(_, value)| value)
            .collect()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A response of the server.
#[derive(Clone, Debug)]
pub struct ServerResponse {
    /// HTTP status.
    pub status: u16,
    /// Headers, without the length.
    pub headers: Vec<(String, String)>,
    /// Content.
    pub body: Vec<u8>,
    /// Close the connection after this many bytes of the body.
    pub cut: Option<usize>,
    /// Wait before the response.
    pub delay: Duration,
}

impl ServerResponse {
    /// A complete response.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: body.into(),
            cut: None,
            delay: Duration::ZERO,
        }
    }

    /// A plain text response.
    pub fn text(status: u16, body: &str) -> Self {
        Self::new(status, "text/plain;charset=utf-8", body)
    }

    /// A JSON response.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, "application/json;charset=utf-8", body.to_string())
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Closes the connection after this many bytes of the body.
    #[must_use]
    pub fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    /// Delays the response.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn into_hyper(self) -> hyper::Response<ResponseBody> {
        let length = self.body.len();
        let mut response = hyper::Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response
            .header(CONTENT_LENGTH, HeaderValue::from(length))
            .body(ResponseBody::new(self.body, self.cut, None))
            .expect("status and headers are valid")
    }
}

/// Serves one connection until it ends.
pub(super) async fn connection(stream: TcpStream, state: Arc<Mutex<ServerState>>) {
    let (config, reset) = {
        let mut state = lock(&state);
        let reset = state.connection_resets > 0;
        state.connection_resets -= usize::from(reset);
        let config = if reset {
            state.ca.server_config_without_client_certificates()
        } else {
            state.ca.server_config()
        };
        (config, reset)
    };
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let mut stream = match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((_, stream)) => return close_after_failed_handshake(stream).await,
    };
    if reset {
        // Wait for the request, so that the client cannot assume that it was not sent.
        let _ = stream.read_u8().await;
        let _ = stream.get_ref().0.set_zero_linger();
        return;
    }
    let certificates = stream.get_ref().1.peer_certificates();
    let client = certificates.and_then(|chain| common_name(chain.first()?));
    let service = hyper::service::service_fn(|request: hyper::Request<Incoming>| {
        respond(request, &state, client.clone())
    });
    // An error is a disconnect of the client or an injected fault.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn respond(
    request: hyper::Request<Incoming>,
    state: &Mutex<ServerState>,
    client: Option<String>,
) -> Result<hyper::Response<ResponseBody>, ConnectionCut> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| ConnectionCut)?;
    let headers = parts.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let path = percent_decode_str(parts.uri.path()).decode_utf8_lossy();
    let mut received = ReceivedRequest {
        method: parts.method.to_string(),
        path: path.into_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body: body.to_bytes().to_vec(),
        client,
        status: 0,
    };
    let response = routes::respond(state, &received).await;
    received.status = response.status;
    lock(state).received.push(received);
    tokio::time::sleep(response.delay).await;
    Ok(response.into_hyper())
}

/// Closes a connection whose handshake failed. Closing it while the client still sends would reset
/// the connection, and the alert with the reason could be lost.
async fn close_after_failed_handshake(mut stream: TcpStream) {
    let mut buffer = [0; 1024];
    let drained = async {
        stream.shutdown().await?;
        while stream.read(&mut buffer).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, drained).await;
}

/// The pairs of a query or form, decoded once.
pub(super) fn form(text: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(text.as_bytes())
        .into_owned()
        .collect()
}

/// Decodes a value of a form.
pub(super) fn decode_form_value(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

/// The common name of a certificate's subject.
fn common_name(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    let name = certificate.subject().iter_common_name().next()?;
    name.as_str().ok().map(str::to_owned)
}
