//! The client of a Puppet Server: node, plugins, facts, catalog and report.
//!
//! [`endpoint`] has the requests. The other modules decide what to request and keep the results.

pub(crate) mod catalog_cache;
pub mod endpoint;
pub(crate) mod environment;
pub mod facts;
pub(crate) mod pluginsync;
pub mod report_spool;
pub(crate) mod server_list;
