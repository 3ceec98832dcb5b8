//! Connections: TCP or TLS, HTTP/1.1, with limits in number and time.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::client_certificate::ClientCertificate;
use super::tls::ServerCertificate;
use crate::serve::access::client_network;

/// Maximum number of connections. Further ones wait.
const MAX_CONNECTIONS: usize = 512;

/// Maximum number of connections of one address. Further ones are closed, so that others connect.
const MAX_OF_ADDRESS: usize = 256;

/// Limit for the TLS handshake and for the header of a request.
const HEADER_LIMIT: Duration = Duration::from_secs(10);

/// Limit for open requests after a stop.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Interval between two checks for a new certificate.
const CERTIFICATE_INTERVAL: Duration = Duration::from_secs(60);

/// Interval after a failed `accept`, such as for lack of file descriptors.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(500);

/// Serves requests until `stop` is cancelled. Open requests are completed within 10 seconds.
pub(crate) async fn serve(
    listener: TcpListener,
    certificate: Option<Arc<ServerCertificate>>,
    router: Router,
    stop: CancellationToken,
) {
    let acceptor =
        (certificate.as_ref()).map(|certificate| TlsAcceptor::from(Arc::new(certificate.config())));
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let addresses = AddressPermits::default();
    let mut connections = JoinSet::new();
    let mut reload = tokio::time::interval(CERTIFICATE_INTERVAL);
    loop {
        let permit = tokio::select! {
            () = stop.cancelled() => break,
            permit = Arc::clone(&permits).acquire_owned() => permit.expect("it is never closed"),
        };
        let accepted = loop {
            tokio::select! {
                () = stop.cancelled() => break None,
                accepted = listener.accept() => break Some(accepted),
                _ = connections.join_next(), if !connections.is_empty() => {}
                _ = reload.tick() => {
                    if let Some(certificate) = &certificate {
                        certificate.reload();
                    }
                }
            }
        };
        let Some(accepted) = accepted else { break };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_INTERVAL).await;
                continue;
            }
        };
        let Some(of_address) = addresses.acquire(address.ip()) else {
            tracing::debug!(%address, "too many connections");
            continue;
        };
        // Small answers are sent at once.
        drop(stream.set_nodelay(true));
        let (acceptor, router, stop) = (acceptor.clone(), router.clone(), stop.clone());
        let certificate = certificate.clone();
        connections.spawn(async move {
            let _permits = (permit, of_address);
            match acceptor {
                None => answer(stream, address, router, stop).await,
                Some(acceptor) => {
                    match tokio::time::timeout(HEADER_LIMIT, acceptor.accept(stream)).await {
                        Ok(Ok(stream)) => {
                            let chain = stream.get_ref().1.peer_certificates();
                            let of_client = chain.zip(certificate.as_ref());
                            let of_client = of_client
                                .and_then(|(chain, own)| ClientCertificate::new(chain, own));
                            let router = match of_client {
                                Some(of_client) => router.layer(axum::Extension(of_client)),
                                None => router,
                            };
                            answer(stream, address, router, stop).await;
                        }
                        Ok(Err(error)) => {
                            tracing::debug!(%address, "TLS handshake failed: {error}");
                        }
                        Err(_) => tracing::debug!(%address, "TLS handshake timed out"),
                    }
                }
            }
        });
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(STOP_LIMIT, all).await.is_err() {
        tracing::warn!("open requests are ended after {} s", STOP_LIMIT.as_secs());
    }
}

/// The open connections by address.
#[derive(Clone, Default)]
struct AddressPermits {
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A permit for one connection, until it is dropped.
struct AddressPermit {
    permits: AddressPermits,
    address: IpAddr,
}

impl AddressPermits {
    fn acquire(&self, address: IpAddr) -> Option<AddressPermit> {
        let address = client_network(address);
        let mut open = self.open.lock().expect("no panic with the lock");
        let count = open.entry(address).or_default();
        if *count >= MAX_OF_ADDRESS {
            return None;
        }
        *count += 1;
        let permits = self.clone();
        Some(AddressPermit { permits, address })
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let mut open = self.permits.open.lock().expect("no panic with the lock");
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// Answers the requests of a connection.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: SocketAddr,
    router: Router,
    stop: CancellationToken,
) {
    let router = router.layer(axum::Extension(ConnectInfo(address)));
    let service = TowerToHyperService::new(router);
    let mut connection = std::pin::pin!(
        hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_LIMIT)
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%address, "the connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_one_address_leave_some_for_others() {
        let permits = AddressPermits::default();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let one = address("192.0.2.1");
        let mut open: Vec<AddressPermit> = Vec::new();
        while let Some(permit) = permits.acquire(one) {
            open.push(permit);
        }
        assert!(open.len() < MAX_CONNECTIONS, "{}", open.len());
        assert!(permits.acquire(address("::ffff:192.0.2.1")).is_none());
        assert!(permits.acquire(address("192.0.2.2")).is_some());
        open.pop();
        assert!(permits.acquire(one).is_some());
    }
}
