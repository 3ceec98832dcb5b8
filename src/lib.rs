//! Switchtender applies Puppet catalogs to switches and load balancers from a proxy host.
//!
//! `ARCHITECTURE.md` describes the modules and the direction of dependencies.

pub mod agent;
pub(crate) mod bounded_command;
pub mod catalog;
pub mod cli;
pub mod clock;
pub mod compat;
pub(crate) mod counted;
pub(crate) mod coverage;
pub(crate) mod desired_state;
pub(crate) mod device_conf;
pub mod diagnostic;
pub(crate) mod fleet;
pub(crate) mod git;
pub mod graph;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod inventory;
pub(crate) mod manifest;
pub(crate) mod module_types;
pub(crate) mod natural_order;
pub(crate) mod parallel;
pub mod report;
pub mod route;
pub(crate) mod run_kind;
pub(crate) mod serve;
pub(crate) mod store;
pub(crate) mod syslog;
pub(crate) mod telemetry;
pub mod terminal_text;
pub mod transaction;
pub mod validate;
pub(crate) mod words;

pub use switchtender_devices::error_chain;
