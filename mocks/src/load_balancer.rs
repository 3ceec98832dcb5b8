//! A load balancer with an iControl-REST-like interface over HTTPS.
//!
//! Written from `docs/reference/devices/f5_bigip.md`, independent of the drivers. Start reading with
//! `api.rs` (a request), then `schema.rs` (objects and fields), `edit.rs` and `normalize.rs` (their changes).
//!
//! To start one: `switchtender mock load-balancer --port 8443`, then
//! `curl -k -u admin:admin https://127.0.0.1:8443/mgmt/tm/ltm/pool`.

mod api;
mod edit;
mod factory_config;
mod message;
mod normalize;
mod options;
mod path;
mod references;
mod refusal;
mod render;
mod schema;
mod server;
mod session;
mod tls;
mod transaction;
mod tree;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock;
use crate::control::{ExchangeLog, lock};
use crate::fault::{self, DeferredWork, FaultPlan, MockKind, UnsupportedFault};
use api::Api;
use message::ApiRequest;
pub use options::LoadBalancerOptions;
use server::ServerContext;
use session::Sessions;

/// Why a mock load balancer cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartLoadBalancerError {
    /// The device refused a request of the initial configuration.
    #[error(
        "cannot load the configuration of the mock load balancer {name}: `{request}`: {message}"
    )]
    Config {
        /// Name of the device.
        name: String,
        /// The request.
        request: String,
        /// The message of the device.
        message: String,
    },
    /// The mock does not support a fault.
    #[error(transparent)]
    Fault(#[from] UnsupportedFault),
    /// The port is not available.
    #[error("cannot listen on port {port} of 127.0.0.1 for the mock load balancer {name}")]
    Listen {
        /// Name of the device.
        name: String,
        /// The value of the option.
        port: u16,
        /// The reason.
        source: std::io::Error,
    },
}

/// A kind of mock device.
#[derive(Debug)]
pub struct LoadBalancer;

impl LoadBalancer {
    /// Starts a load balancer on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// A fault is not supported, the configuration is refused, or the port is in use.
    pub async fn start(
        options: LoadBalancerOptions,
        port: u16,
    ) -> Result<RunningLoadBalancer, StartLoadBalancerError> {
        fault::check_supported(&options.faults, MockKind::LoadBalancer)?;
        let sessions = Sessions::new(&options.user, &options.password, options.token_lifetime);
        let tree = factory_config::tree(&options.hostname, &options.version);
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
        let log = ExchangeLog::new(
            &options.name,
            options.log.clone(),
            options.exchanges_in_memory,
        );
        let deferred = DeferredWork::default();
        let faults = Arc::new(Mutex::new(FaultPlan::new(&options.faults)));
        let shared = ServerContext {
            api: api.clone(),
            deferred: deferred.clone(),
            faults: faults.clone(),
            log: log.clone(),
            tokens: options.tokens,
        };
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(server::serve(listener, shared, tasks.clone(), stop.clone()));
        Ok(RunningLoadBalancer {
            address,
            api,
            deferred,
            faults,
            log,
            tasks,
            stop,
        })
    }
}

/// Executes the requests of a configuration in order.
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
        let request = ApiRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            body,
            ..ApiRequest::default()
        };
        let response = api.handle(&request, clock::instant());
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

/// A running load balancer. It accepts connections until it is stopped or dropped.
#[derive(Debug)]
pub struct RunningLoadBalancer {
    address: SocketAddr,
    api: Arc<Mutex<Api>>,
    deferred: DeferredWork,
    faults: Arc<Mutex<FaultPlan>>,
    log: ExchangeLog,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl RunningLoadBalancer {
    /// Address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA certificate of the server certificate, as PEM.
    pub fn ca_pem(&self) -> String {
        tls::authority_pem()
    }

    /// SHA-256 of the server's certificate, `AB:CD:…`.
    pub fn fingerprint(&self) -> String {
        tls::fingerprint()
    }

    /// The received requests and their responses.
    pub fn log(&self) -> &ExchangeLog {
        &self.log
    }

    /// The response to a `GET` below `/mgmt/tm`, such as `ltm/pool/~Common~web?expandSubcollections=true`; `None` if it
    /// is refused. Not logged.
    pub fn get(&self, path: &str) -> Option<Value> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = ApiRequest {
            method: "GET".to_owned(),
            path: format!("/mgmt/tm/{path}"),
            query: query.to_owned(),
            ..ApiRequest::default()
        };
        let response = lock(&self.api).handle(&request, clock::instant());
        (response.status == 200).then_some(response.body)
    }

    /// Whether the running configuration is saved.
    pub fn is_saved(&self) -> bool {
        let api = lock(&self.api);
        api.tree == api.saved
    }

    /// Number of valid tokens.
    pub fn tokens(&self) -> usize {
        lock(&self.api).sessions.count(clock::instant())
    }

    /// Removes all faults. Connections that a fault affects remain affected.
    pub fn clear_faults(&self) {
        lock(&self.faults).clear();
    }

    /// Number of times that a fault has fired. Faults that are always active are not counted.
    pub fn fired_faults(&self) -> u64 {
        lock(&self.faults).fired()
    }

    /// Number of bytes that the device has sent.
    pub fn sent_bytes(&self) -> u64 {
        lock(&self.faults).sent_bytes()
    }

    /// Executes the commands that the faults `busy` and `late-effect` have deferred without a time,
    /// and returns their number.
    pub fn resume(&self) -> usize {
        self.deferred.resume()
    }

    /// Waits until a fault has deferred a command without a time.
    pub async fn wait_for_deferred(&self) {
        self.deferred.wait().await;
    }

    /// Closes all connections and waits for them.
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
