//! The data of a record that does not come from events.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::catalog::{CachedStatus, Level};

/// The data of a record that does not come from events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Context {
    /// Certname of the device.
    pub host: String,
    /// Start of the run.
    pub time: Timestamp,
    /// UUID that identifies the transaction.
    pub transaction_uuid: Option<String>,
    /// The version of Puppet in the report.
    pub puppet_version: String,
    /// The global `noop` setting.
    pub noop: bool,
    /// The requested environment.
    pub environment: Option<String>,
    /// `host:port` of the server that was selected from `server_list`.
    pub server_used: Option<String>,
    /// ID of the orchestrator job that started the run.
    pub job_id: Option<String>,
    /// Whether the catalog came from the cache, and why.
    pub cached_catalog_status: CachedStatus,
    /// Minimum level of messages.
    pub log_level: Level,
}
