//! A Puppet Server on loopback, as devices see one: CA, nodes, catalogs, plugins, reports.
//!
//! Written from recorded exchanges (`docs/reference/agent-protocol.md`, sections 7 to 12) and independent of
//! the client. It speaks HTTP/1.1 over TLS with client certificates asked for and not required,
//! sends only its leaf certificate, remembers every exchange, and has a fault for everything that
//! servers do wrong. Begin at [`PuppetServer::start`].

pub mod ca;
mod http;
mod routes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use http::{Answer, Exchange};

/// What the server knows and how it behaves; changed by tests while it runs.
#[derive(Debug)]
pub struct State {
    /// Who signs.
    pub ca: ca::Authority,
    /// Sign requests as they come.
    pub autosign: bool,
    /// Pending requests by name, as PEM.
    pub requests: BTreeMap<String, String>,
    /// Certificates by name, as PEM.
    pub signed: BTreeMap<String, String>,
    /// The requests that certificates were made of, by name: a renewal keeps the key.
    submitted: BTreeMap<String, String>,
    /// Names whose requests are refused as revoked.
    pub revoked: BTreeSet<String>,
    /// Environment of a node, by what the classifier says; others stay where they are. Several
    /// take turns, request by request.
    pub classified: BTreeMap<String, Vec<String>>,
    turns: BTreeMap<String, usize>,
    /// Environments that exist.
    pub environments: BTreeSet<String>,
    /// Catalogs by (name, environment); the environment `*` stands for all.
    pub catalogs: BTreeMap<(String, String), serde_json::Value>,
    /// Files of the mount `plugins`, by (environment, path).
    pub plugins: BTreeMap<(String, String), String>,
    /// Facts, as last received.
    pub facts: BTreeMap<String, serde_json::Value>,
    /// Reports in order of arrival.
    pub reports: Vec<serde_json::Value>,
    /// Renew certificates when asked.
    pub renewal: bool,
    /// Answers that are given instead of the true one, once each, to paths with this beginning.
    pub faults: Vec<(String, VecDeque<Answer>)>,
    /// Connections that still end before an answer without a word: a refusal of the client's
    /// certificate whose alert was lost with a reset.
    pub resets: usize,
    /// What was asked so far.
    pub exchanges: Vec<Exchange>,
    /// How long a catalog takes.
    pub compiling_takes: Duration,
    /// Catalogs under way now, and the most at once.
    compiling: usize,
    /// The most catalogs under way at once.
    pub most_compiling: usize,
}

impl State {
    /// Gives these answers, one after another, to requests whose path begins so.
    pub fn fail(&mut self, path: &str, answers: impl IntoIterator<Item = Answer>) {
        self.faults
            .push((path.to_owned(), answers.into_iter().collect()));
    }

    /// Signs a request that waits.
    pub fn sign(&mut self, name: &str) {
        let request = self.requests.remove(name).expect("a request by this name");
        let certificate = self.ca.sign(&request).expect("a well-formed request");
        self.signed.insert(name.to_owned(), certificate);
        self.submitted.insert(name.to_owned(), request);
    }

    /// The requests so far, as `GET /path`.
    pub fn lines(&self) -> Vec<String> {
        self.exchanges
            .iter()
            .map(|exchange| format!("{} {}", exchange.method, exchange.path))
            .collect()
    }
}

/// A running server; it ends when dropped.
#[derive(Debug)]
pub struct PuppetServer {
    /// Where it listens.
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
    stop: CancellationToken,
}

impl PuppetServer {
    /// Starts a server with a root and an intermediate CA on a free port of loopback.
    pub async fn start() -> Self {
        Self::start_with(ca::Authority::new(), 0).await
    }

    /// Starts a server with this CA; port 0 takes a free one.
    pub async fn start_with(ca: ca::Authority, port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port))
            .await
            .expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(Mutex::new(State {
            ca,
            autosign: true,
            requests: BTreeMap::new(),
            signed: BTreeMap::new(),
            submitted: BTreeMap::new(),
            revoked: BTreeSet::new(),
            classified: BTreeMap::new(),
            turns: BTreeMap::new(),
            environments: BTreeSet::from(["production".to_owned(), "staging".to_owned()]),
            catalogs: BTreeMap::new(),
            plugins: BTreeMap::new(),
            facts: BTreeMap::new(),
            reports: Vec::new(),
            renewal: false,
            faults: Vec::new(),
            resets: 0,
            exchanges: Vec::new(),
            compiling_takes: Duration::ZERO,
            compiling: 0,
            most_compiling: 0,
        }));
        let stop = CancellationToken::new();
        let (shared, token) = (Arc::clone(&state), stop.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = token.cancelled() => return,
                    accepted = listener.accept() => {
                        if let Ok((stream, _)) = accepted {
                            let (state, token) = (Arc::clone(&shared), token.clone());
                            tokio::spawn(async move {
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
        Self {
            address,
            state,
            stop,
        }
    }

    /// What the server knows. Not to be held across an await.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Ends the server and its connections.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

impl Drop for PuppetServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
