//! HTTP/1.1 by hand: requests are read whole, answers can be cut anywhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{State, routes};

/// For a client to leave after its handshake failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// `GET`, `PUT`, `POST`.
    pub method: String,
    /// Decoded, without the query.
    pub path: String,
    /// As sent.
    pub query: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// As it came, decoded nowhere.
    pub body: Vec<u8>,
    /// Common name of the client certificate, if one was shown.
    pub client: Option<String>,
    /// What was answered.
    pub status: u16,
}

impl Exchange {
    /// The first value of a query parameter, decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        form(&self.query)
            .into_iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// A parameter of the query that stands there several times.
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

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Besides the length.
    pub headers: Vec<(String, String)>,
    /// Sent as it is.
    pub body: Vec<u8>,
    /// Close the connection after this many bytes of the body.
    pub cut: Option<usize>,
    /// Wait before answering.
    pub delay: Duration,
}

impl Answer {
    /// A whole answer.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: body.into(),
            cut: None,
            delay: Duration::ZERO,
        }
    }

    /// Plain text.
    pub fn text(status: u16, body: &str) -> Self {
        Self::new(status, "text/plain;charset=utf-8", body)
    }

    /// JSON.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, "application/json;charset=utf-8", body.to_string())
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Broken off after this many bytes of the body.
    #[must_use]
    pub fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    /// Given after a while.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

/// Serves one connection until it ends.
pub(super) async fn connection(stream: TcpStream, state: Arc<Mutex<State>>) {
    let (config, reset) = {
        let mut state = lock(&state);
        let reset = state.resets > 0;
        state.resets -= usize::from(reset);
        let config = if reset {
            state.ca.server_config_for_anyone()
        } else {
            state.ca.server_config()
        };
        (config, reset)
    };
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let mut stream = match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((_, stream)) => return part(stream).await,
    };
    if reset {
        // What was sent is there, so that the client cannot think it unsent.
        let _ = stream.read_u8().await;
        let _ = stream.get_ref().0.set_zero_linger();
        return;
    }
    let client = stream
        .get_ref()
        .1
        .peer_certificates()
        .and_then(|chain| common_name(chain.first()?.as_ref()));
    while let Some(mut exchange) = read(&mut stream, client.clone()).await {
        let answer = routes::answer(&state, &exchange).await;
        exchange.status = answer.status;
        lock(&state).exchanges.push(exchange);
        if write(&mut stream, &answer).await.is_err() || answer.cut.is_some() {
            return;
        }
    }
}

/// Parts from a client whose handshake failed. Closing while it still sends would reset the
/// connection, and the alert that says why could be lost with it.
async fn part(mut stream: TcpStream) {
    let mut rest = [0; 1024];
    let drained = async {
        stream.shutdown().await?;
        while stream.read(&mut rest).await? > 0 {}
        std::io::Result::Ok(())
    };
    // Whoever does not leave is left.
    let _ = tokio::time::timeout(PATIENCE, drained).await;
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

async fn read(stream: &mut TlsStream<TcpStream>, client: Option<String>) -> Option<Exchange> {
    let mut received = Vec::new();
    let head_end = loop {
        if let Some(end) = received.windows(4).position(|part| part == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut received).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&received[..head_end]).into_owned();
    let mut body = received.split_off(head_end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(Exchange {
        method,
        path: decode(path, false),
        query: query.to_owned(),
        headers,
        body,
        client,
        status: 0,
    })
}

async fn write(stream: &mut TlsStream<TcpStream>, answer: &Answer) -> std::io::Result<()> {
    tokio::time::sleep(answer.delay).await;
    let reason = match answer.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        500 => "Server Error",
        503 => "Service Unavailable",
        _ => "Unknown",
    };
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", answer.body.len()));
    stream.write_all(head.as_bytes()).await?;
    let sent = answer
        .cut
        .unwrap_or(answer.body.len())
        .min(answer.body.len());
    stream.write_all(&answer.body[..sent]).await?;
    stream.flush().await
}

/// The pairs of a query or form, decoded once.
pub(super) fn form(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key, true), decode(value, true))
        })
        .collect()
}

pub(super) fn decode(text: &str, plus: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail
            .get(..2)
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
                continue;
            }
            (b'+', _) if plus => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The common name in a certificate: the last one, which is the subject's.
fn common_name(der: &[u8]) -> Option<String> {
    // OID 2.5.4.3, then a string type and its length; issuer first, subject second.
    let oid = [0x06, 0x03, 0x55, 0x04, 0x03];
    let at = der
        .windows(oid.len())
        .enumerate()
        .filter(|(_, part)| *part == oid)
        .map(|(at, _)| at + oid.len())
        .nth(1)?;
    let length = usize::from(*der.get(at + 1)?);
    String::from_utf8(der.get(at + 2..at + 2 + length)?.to_vec()).ok()
}
