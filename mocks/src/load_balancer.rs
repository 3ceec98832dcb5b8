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
mod files;
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
mod transaction;
mod tree;

use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::clock;
use crate::control::lock;
use crate::fault::{self, MockKind, UnsupportedFault};
use crate::http_server;
use crate::running::{ListenError, ListenOptions, RunningMock};
use crate::tls;
use api::Api;
use message::ApiRequest;
pub use options::LoadBalancerOptions;
use server::LoadBalancerService;
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
    #[error(transparent)]
    Listen(#[from] ListenError),
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
        let listen = ListenOptions {
            name: &options.name,
            port,
            faults: &options.faults,
            log: options.log.clone(),
            exchanges_in_memory: options.exchanges_in_memory,
        };
        let state = LoadBalancerState {
            api: Arc::new(Mutex::new(api)),
        };
        let (running, listener) = RunningMock::listen(state, listen).await?;
        let service = LoadBalancerService {
            api: running.device.api.clone(),
            faults: running.faults.clone(),
            log: running.log.clone(),
            tokens: options.tokens,
        };
        running.accept(listener, http_server::server(&running, service));
        Ok(running)
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
                "expected an object or a list of requests".to_owned(),
            ));
        }
    };
    for (line, body) in requests {
        let (method, path) = line
            .split_once(' ')
            .ok_or_else(|| refused(&line, "expected a method and a path".to_owned()))?;
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

/// The objects of a running load balancer.
#[derive(Debug)]
pub struct LoadBalancerState {
    api: Arc<Mutex<Api>>,
}

/// A running load balancer.
pub type RunningLoadBalancer = RunningMock<LoadBalancerState>;

impl RunningLoadBalancer {
    /// The CA certificate of the server certificate, as PEM.
    pub fn ca_pem(&self) -> String {
        tls::authority_pem()
    }

    /// SHA-256 of the server's certificate, `AB:CD:…`.
    pub fn fingerprint(&self) -> String {
        tls::fingerprint()
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
        let response = lock(&self.device.api).handle(&request, clock::instant());
        (response.status == 200).then_some(response.body)
    }

    /// The running configuration, one field per line. Numbers of changes, uploaded files and empty
    /// collections are left out.
    pub fn configuration(&self) -> String {
        let mut tree = lock(&self.device.api).tree.clone();
        tree.files.clear();
        tree.objects.retain(|_, collection| !collection.is_empty());
        let text = format!("{tree:#?}");
        let is_counter = |line: &str| line.trim_start().starts_with("generation: ");
        let lines = text.lines().filter(|line| !is_counter(line));
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// Whether the running configuration is saved.
    pub fn is_saved(&self) -> bool {
        let api = lock(&self.device.api);
        api.tree == api.saved
    }

    /// Number of valid tokens.
    pub fn tokens(&self) -> usize {
        lock(&self.device.api).sessions.count(clock::instant())
    }
}
