//! Whether a server refuses the device's certificate, asked by listening.
//!
//! Under TLS 1.3 the handshake is over for the client before the server has judged its
//! certificate (RFC 8446, section 4.4.4), so a refusal meets the request: the connection ends
//! while the request is on its way, and whether the alert that says why is still read is luck.
//! Whoever sends nothing after the handshake gets the alert for certain, for nothing of his makes
//! the server reset the connection.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ProtocolVersion};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tower_service::Service as _;

/// A server that sends neither a ticket nor an alert by then says nothing by it.
const LIMIT: Duration = Duration::from_secs(5);

/// Where the server is reached.
pub struct Place<'a> {
    pub host: &'a str,
    pub port: u16,
    /// `host:port` of a proxy.
    pub proxy: Option<&'a str>,
}

/// The error of a handshake, or the alert after it; nothing if the server accepts the certificate
/// or says nothing. Waits 5 s at most.
///
/// # Cancellation
/// May be dropped at any time.
pub async fn heard(place: &Place<'_>, config: Arc<ClientConfig>) -> Option<rustls::Error> {
    tokio::time::timeout(LIMIT, listen(place, config))
        .await
        .ok()?
}

async fn listen(place: &Place<'_>, config: Arc<ClientConfig>) -> Option<rustls::Error> {
    let name = ServerName::try_from(place.host.to_owned()).ok()?;
    let mut stream = connected(place).await?;
    let mut tls = ClientConnection::new(config, name).ok()?;
    let mut buffer = [0; 4096];
    loop {
        let mut flight = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut flight).ok()?;
        }
        // A server that has hung up may have said why before.
        let _ = stream.write_all(&flight).await;
        if accepted(&tls) {
            return None;
        }
        let length = stream.read(&mut buffer).await.ok()?;
        let mut rest = &buffer[..length];
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            tls.read_tls(&mut rest).ok()?;
            if let Err(error) = tls.process_new_packets() {
                return Some(error);
            }
        }
    }
}

/// Up to TLS 1.2 the end of the handshake says so; later the ticket, which is for those only whose
/// certificate was accepted.
fn accepted(tls: &ClientConnection) -> bool {
    match tls.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => tls.tls13_tickets_received() > 0,
        _ => !tls.is_handshaking(),
    }
}

async fn connected(place: &Place<'_>) -> Option<TcpStream> {
    let (host, port) = (place.host, place.port);
    let Some(proxy) = place.proxy else {
        return TcpStream::connect((host, port)).await.ok();
    };
    let server = match host.contains(':') {
        true => format!("https://[{host}]:{port}"),
        false => format!("https://{host}:{port}"),
    };
    let proxy = format!("http://{proxy}").parse().ok()?;
    let mut tunnel = Tunnel::new(proxy, HttpConnector::new());
    poll_fn(|context| tunnel.poll_ready(context)).await.ok()?;
    let stream = tunnel.call(server.parse().ok()?).await.ok()?;
    Some(stream.into_inner())
}
