//! The client of a Puppet Server: node, plugins, facts, catalog and report.
//!
//! [`endpoint`] has the requests. The other modules decide what to request and keep the results.

pub mod catalog_cache;
pub mod endpoint;
pub mod environment;
pub mod facts;
pub mod pluginsync;
pub mod report_spool;
pub mod server_list;
