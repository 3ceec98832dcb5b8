//! A load balancer with an iControl-REST-like interface over HTTPS.
//!
//! Written from `docs/reference/devices/f5_bigip.md`; it knows nothing of how Switchtender drives such a device. Begin reading at
//! `api.rs` (a request), then `schema.rs` (which objects and fields there are), `edit.rs` and `rewrite.rs` (what becomes of them).
//!
//! Running it by hand: `switchtender mock load-balancer --port 8443`, then
//! `curl -k -u admin:admin https://127.0.0.1:8443/mgmt/tm/ltm/pool`.

mod api;
mod edit;
mod factory;
mod options;
mod path;
mod references;
mod refusal;
mod render;
mod rewrite;
mod schema;
mod server;
mod session;
mod tls;
mod transaction;
mod tree;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::control::{ExchangeLog, lock};
use crate::fault::{self, FaultPlan, MockKind, UnsupportedFault};
use api::{Api, Request};
pub use options::LoadBalancerOptions;
use server::Shared;
use session::Sessions;

/// Why a mock load balancer could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartLoadBalancerError {
    /// A request of the given configuration was refused.
    #[error(
        "the configuration for mock load balancer {name} does not load: `{request}`: {message}"
    )]
    Config {
        /// Name of the device.
        name: String,
        /// The request.
        request: String,
        /// What the device said.
        message: String,
    },
    /// The mock does not support a fault.
    #[error(transparent)]
    Fault(#[from] UnsupportedFault),
    /// The port cannot be had.
    #[error("mock load balancer {name} cannot listen on port {port} of 127.0.0.1")]
    Listen {
        /// Name of the device.
        name: String,
        /// As given.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
}

/// A kind of mock device.
#[derive(Debug)]
pub struct LoadBalancer;

impl LoadBalancer {
    /// Starts a load balancer on a port of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// When a fault does not suit it, the configuration is refused or the port is taken.
    pub async fn start(
        options: LoadBalancerOptions,
        port: u16,
    ) -> Result<RunningLoadBalancer, StartLoadBalancerError> {
        fault::check_supported(&options.faults, MockKind::LoadBalancer)?;
        let sessions = Sessions::new(&options.user, &options.password, options.token_lifetime);
        let tree = factory::tree(&options.hostname, &options.version);
        let mut api = Api::new(
            tree,
            sessions,
            &options.version,
            options.transaction_timeout,
        );
        load(&mut api, &options)?;
        let listen = |source| StartLoadBalancerError::Listen {
            name: options.name.clone(),
            port,
            source,
        };
        let listener = TcpListener::bind(("127.0.0.1", port))
            .await
            .map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let api = Arc::new(Mutex::new(api));
        let log = ExchangeLog::new(&options.name, options.log.clone());
        let shared = Shared {
            api: api.clone(),
            faults: Arc::new(Mutex::new(FaultPlan::new(&options.faults))),
            log: log.clone(),
            tokens: options.tokens,
        };
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(server::serve(listener, shared, tasks.clone(), stop.clone()));
        Ok(RunningLoadBalancer {
            address,
            api,
            log,
            tasks,
            stop,
        })
    }
}

/// Carries the requests of a configuration out, in their order.
fn load(api: &mut Api, options: &LoadBalancerOptions) -> Result<(), StartLoadBalancerError> {
    let refused = |request: &str, message: String| StartLoadBalancerError::Config {
        name: options.name.clone(),
        request: request.to_owned(),
        message,
    };
    let requests: Vec<(String, Value)> = match &options.config {
        None => return Ok(()),
        Some(Value::Object(requests)) => requests
            .iter()
            .map(|(line, body)| (line.clone(), body.clone()))
            .collect(),
        Some(Value::Array(requests)) => requests
            .iter()
            .map(|request| {
                let line = request
                    .get(0)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned();
                (line, request.get(1).cloned().unwrap_or_default())
            })
            .collect(),
        Some(_) => {
            return Err(refused(
                "",
                "an object or a list of requests is needed".to_owned(),
            ));
        }
    };
    for (line, body) in requests {
        let (method, path) = line
            .split_once(' ')
            .ok_or_else(|| refused(&line, "a method and a path are needed".to_owned()))?;
        let request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            body,
            ..Request::default()
        };
        let response = api.handle(&request, Instant::now());
        if response.status != 200 {
            let message = response
                .body
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or_default();
            return Err(refused(&line, message.to_owned()));
        }
    }
    api.saved = api.tree.clone();
    Ok(())
}

/// A load balancer that accepts connections until it is stopped or dropped.
#[derive(Debug)]
pub struct RunningLoadBalancer {
    address: SocketAddr,
    api: Arc<Mutex<Api>>,
    log: ExchangeLog,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl RunningLoadBalancer {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Certificate of the authority that signed the server's, as PEM.
    pub fn ca_pem(&self) -> String {
        tls::authority_pem()
    }

    /// SHA-256 of the server's certificate, `AB:CD:…`.
    pub fn fingerprint(&self) -> String {
        tls::fingerprint()
    }

    /// What it was asked.
    pub fn log(&self) -> &ExchangeLog {
        &self.log
    }

    /// What a `GET` below `/mgmt/tm` would show, such as `ltm/pool/~Common~web?expandSubcollections=true`; `None` when it would
    /// be refused. Leaves no trace in the log.
    pub fn get(&self, path: &str) -> Option<Value> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request {
            method: "GET".to_owned(),
            path: format!("/mgmt/tm/{path}"),
            query: query.to_owned(),
            ..Request::default()
        };
        let response = lock(&self.api).handle(&request, Instant::now());
        (response.status == 200).then_some(response.body)
    }

    /// Whether the running configuration is the saved one.
    pub fn is_saved(&self) -> bool {
        let api = lock(&self.api);
        api.tree == api.saved
    }

    /// Tokens that are alive.
    pub fn tokens(&self) -> usize {
        lock(&self.api).sessions.count(Instant::now())
    }

    /// Ends all connections and waits until they are gone.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for RunningLoadBalancer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
