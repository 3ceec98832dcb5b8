//! What a mock load balancer is to be like.

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
    /// Account that may log in; other names than `admin` may hold 100 tokens only.
    pub user: String,
    /// Its password.
    pub password: String,
    /// Version of the software.
    pub version: String,
    /// Whether tokens can be had (not on releases before 12).
    pub tokens: bool,
    /// Life of a token.
    pub token_lifetime: Duration,
    /// How long a transaction waits for its next request.
    pub transaction_timeout: Duration,
    /// Objects to begin with: requests as `{"POST /mgmt/tm/ltm/pool": {…}, …}` or a list of `[request, body]`.
    pub config: Option<Value>,
    /// Faults to show.
    pub faults: Vec<Fault>,
    /// Where exchanges are written besides memory.
    pub log: Option<SharedWriter>,
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
        }
    }
}
