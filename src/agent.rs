//! The client of a Puppet Server, for devices: an agent run on the wire, without what it applies.
//!
//! `docs/agent-protocol.md` is the specification. Each device is an agent of its own: its
//! certificates, its environment, its cache and its spool, all below its own directory. Decisions
//! are functions from data to data ([`environment`], [`retry_after`], [`cache`]); the
//! I/O around them is thin, and all HTTP is in [`http`].
//!
//! Knows no catalogs beyond their head, no sessions and no transactions. Begin at [`run`].

pub mod cache;
pub mod certificates;
pub mod disabled;
pub mod endpoint;
pub mod environment;
mod error_body;
pub mod facts;
pub mod hook;
pub mod http;
pub mod pluginsync;
pub mod retry_after;
pub mod run;
pub mod run_log;
pub mod server_list;
pub mod settings;
pub mod spool;
pub mod tls;

/// The level of the peer's protocol that is spoken here, sent as `X-Puppet-Version`.
pub const PROTOCOL_VERSION: &str = "8.11.0";

/// Who asks.
pub const USER_AGENT: &str = concat!("Switchtender/", env!("CARGO_PKG_VERSION"));
