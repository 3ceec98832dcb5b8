//! The Puppet agent of one device: certificates, node, facts, catalog and report.
//!
//! `docs/reference/agent-protocol.md` is the specification. Each device is an agent of its own, with its
//! certificates, environment, catalog cache and report spool in its own directories ([`layout`]).
//! [`run`] calls the steps: [`ca`] provides key and certificate, [`client`] talks to the server, and
//! [`http`] sends the requests. [`puppet_conf`] has the settings.
//!
//! Reads only the header of a catalog; uses no sessions and no transactions. Begin at [`run`].

pub mod ca;
pub mod certificate;
pub mod client;
pub(crate) mod device_file;
pub(crate) mod disabled;
pub(crate) mod hook;
pub mod http;
pub mod layout;
pub mod puppet_conf;
pub mod revocation_lists;
pub mod run;
pub mod run_log;

/// The Puppet version whose protocol this agent speaks, sent as `X-Puppet-Version`.
pub(crate) const PROTOCOL_VERSION: &str = "8.11.0";

/// The `User-Agent` header.
pub(crate) const USER_AGENT: &str = concat!("Switchtender/", env!("CARGO_PKG_VERSION"));
