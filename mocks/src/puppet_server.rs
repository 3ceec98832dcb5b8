//! A Puppet Server on loopback: CA, nodes, catalogs, plugins and reports.
//!
//! Written from recorded exchanges (`docs/reference/agent-protocol.md`, sections 7 to 12), independent of the
//! client. It speaks HTTP/1.1 over TLS with optional client certificates, sends only its leaf
//! certificate and records every request. Tests inject responses and resets. Start with
//! [`PuppetServer::start`].

pub mod ca;
mod http;
mod routes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use http::{ReceivedRequest, ServerResponse};

use crate::control::lock;
use crate::task;

/// Data and behavior of the server. Tests change it while the server runs.
#[derive(Debug)]
pub struct ServerState {
    /// Certificate authority.
    pub ca: ca::CertificateAuthority,
    /// Sign certificate requests at once.
    pub autosign: bool,
    /// Pending certificate requests by name, as PEM.
    pub certificate_requests: BTreeMap<String, String>,
    /// Signed certificates by name, as PEM.
    pub certificates: BTreeMap<String, String>,
    /// Requests of the signed certificates by name. A renewal reuses the key.
    signed_requests: BTreeMap<String, String>,
    /// Names whose certificate requests are refused as revoked.
    pub revoked: BTreeSet<String>,
    /// Environments that the classifier returns for a node, in turn. Nodes without an entry keep
    /// the requested environment.
    pub classifier: BTreeMap<String, Vec<String>>,
    classifier_calls: BTreeMap<String, usize>,
    /// Existing environments.
    pub environments: BTreeSet<String>,
    /// Catalogs by name and environment. The environment `*` matches all.
    pub catalogs: BTreeMap<(String, String), serde_json::Value>,
    /// Files of the mount `plugins`, by environment and path.
    pub plugins: BTreeMap<(String, String), String>,
    /// The latest facts by name.
    pub facts: BTreeMap<String, serde_json::Value>,
    /// Reports in the order of arrival.
    pub reports: Vec<serde_json::Value>,
    /// Support certificate renewal.
    pub renewal: bool,
    /// Responses that replace the regular ones, once each, for paths with this prefix.
    pub injected_responses: Vec<(String, VecDeque<ServerResponse>)>,
    /// Number of connections to reset before a response. It imitates a refused client certificate
    /// whose alert is lost.
    pub connection_resets: usize,
    /// Requests in the order of arrival.
    pub received: Vec<ReceivedRequest>,
    /// Time to compile a catalog.
    pub compile_time: Duration,
    /// A barrier: no catalog is complete before this many are compiled at the same time.
    pub compile_together: usize,
    /// Wakes the compilations at the barrier.
    compile_started: Arc<tokio::sync::Notify>,
    /// Store reports without an answer.
    pub holds_reports: bool,
    report_held: Arc<tokio::sync::Notify>,
    /// Catalogs that are compiled now.
    compiling: usize,
    /// Maximum number of catalogs compiled at the same time.
    pub max_compiling: usize,
}

impl ServerState {
    /// Injects responses, in this order, for requests whose path has this prefix.
    pub fn inject(&mut self, path: &str, responses: impl IntoIterator<Item = ServerResponse>) {
        self.injected_responses
            .push((path.to_owned(), responses.into_iter().collect()));
    }

    /// Signs a pending certificate request.
    ///
    /// # Panics
    /// Without a valid request of this name.
    pub fn sign(&mut self, name: &str) {
        let request = self.certificate_requests.remove(name);
        let request = request.expect("a request of this name");
        let certificate = self.ca.sign(&request).expect("a valid request");
        self.certificates.insert(name.to_owned(), certificate);
        self.signed_requests.insert(name.to_owned(), request);
    }

    /// The received requests as `METHOD /path`.
    pub fn request_lines(&self) -> Vec<String> {
        self.received
            .iter()
            .map(|request| format!("{} {}", request.method, request.path))
            .collect()
    }
}

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct PuppetServer {
    /// Address of the listener.
    pub address: SocketAddr,
    state: Arc<Mutex<ServerState>>,
    stop: CancellationToken,
}

impl PuppetServer {
    /// Starts a server with a root and an intermediate CA on a free port of loopback.
    ///
    /// # Panics
    /// No port is free.
    pub async fn start() -> Self {
        let started = Self::start_with(ca::CertificateAuthority::new(), 0).await;
        started.expect("loopback has a free port")
    }

    /// Starts a server with this CA; port 0 selects a free one.
    ///
    /// # Errors
    /// The port is not free.
    pub async fn start_with(ca: ca::CertificateAuthority, port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(ServerState {
            ca,
            autosign: true,
            certificate_requests: BTreeMap::new(),
            certificates: BTreeMap::new(),
            signed_requests: BTreeMap::new(),
            revoked: BTreeSet::new(),
            classifier: BTreeMap::new(),
            classifier_calls: BTreeMap::new(),
            environments: BTreeSet::from(["production".to_owned(), "staging".to_owned()]),
            catalogs: BTreeMap::new(),
            plugins: BTreeMap::new(),
            facts: BTreeMap::new(),
            reports: Vec::new(),
            renewal: false,
            injected_responses: Vec::new(),
            connection_resets: 0,
            received: Vec::new(),
            compile_time: Duration::ZERO,
            compile_together: 0,
            compile_started: Arc::default(),
            holds_reports: false,
            report_held: Arc::default(),
            compiling: 0,
            max_compiling: 0,
        }));
        let stop = CancellationToken::new();
        let (shared, token) = (Arc::clone(&state), stop.clone());
        task::spawn(async move {
            loop {
                tokio::select! {
                    () = token.cancelled() => return,
                    accepted = listener.accept() => {
                        if let Ok((stream, _)) = accepted {
                            let (state, token) = (Arc::clone(&shared), token.clone());
                            task::spawn(async move {
                                tokio::select! {
                                    () = token.cancelled() => {}
                                    () = http::connection(stream, state) => {}
                                }
                            });
                        }
                    }
                }
            }
        });
        Ok(Self {
            address,
            state,
            stop,
        })
    }

    /// Data and behavior of the server. Do not hold the guard across an await.
    pub fn state(&self) -> MutexGuard<'_, ServerState> {
        lock(&self.state)
    }

    /// Waits for a report that was stored and not answered.
    pub async fn wait_for_held_report(&self) {
        let held = Arc::clone(&self.state().report_held);
        held.notified().await;
    }

    /// Port of the listener.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Stops the server and closes its connections.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

impl Drop for PuppetServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
