//! Options of a mock load balancer.

use std::time::Duration;

use serde_json::Value;

use super::session;
use crate::control::SharedWriter;
use crate::fault::Fault;

/// Options of a mock load balancer. The defaults are `lb1.example` with user `admin`, password `admin`.
#[derive(Debug, Clone)]
pub struct LoadBalancerOptions {
    /// Name in the log.
    pub name: String,
    /// Fully qualified host name.
    pub hostname: String,
    /// User name for login. Users other than `admin` are limited to 100 tokens.
    pub user: String,
    /// Password for login.
    pub password: String,
    /// Version of the software.
    pub version: String,
    /// Whether the device issues tokens (releases before 12 do not).
    pub tokens: bool,
    /// Lifetime of a token.
    pub token_lifetime: Duration,
    /// Timeout of a transaction after each request.
    pub transaction_timeout: Duration,
    /// Initial objects: requests as `{"POST /mgmt/tm/ltm/pool": {…}, …}` or a list of `[request, body]`.
    pub config: Option<Value>,
    /// Faults to inject.
    pub faults: Vec<Fault>,
    /// A writer for exchanges, in addition to memory.
    pub log: Option<SharedWriter>,
    /// Maximum number of exchanges in memory; the oldest are removed.
    pub exchanges_in_memory: usize,
}

impl Default for LoadBalancerOptions {
    fn default() -> Self {
        LoadBalancerOptions {
            name: "lb1".to_owned(),
            hostname: "lb1.example".to_owned(),
            user: "admin".to_owned(),
            password: "admin".to_owned(),
            version: "17.1.0".to_owned(),
            tokens: true,
            token_lifetime: session::LIFETIME,
            transaction_timeout: Duration::from_secs(120),
            config: None,
            faults: Vec::new(),
            log: None,
            exchanges_in_memory: 100_000,
        }
    }
}
