//! The link between a worker, which has no database, and the hubs of its fleet.
//!
//! The worker connects, also through an HTTP proxy; nothing connects to it. What a node asks of its store is a
//! [`protocol::LinkCall`]: [`hub`] answers it for the sites of the worker only, and [`client`] is the store of the worker.

mod audit;
pub(crate) mod client;
pub(crate) mod hub;
mod lease_store;
pub(crate) mod protocol;
mod release_source;
mod run_store;
pub(crate) mod settings;
mod state_table;
pub(crate) mod work;
