//! The long-running process: scheduled and requested runs of devices, their history, pages and an API.
//!
//! A run is the same device run as that of `apply` and `device`. [`dispatcher`] decides which device
//! runs when, without I/O; [`work`] runs it and stores the result; [`live`] passes events on.

pub(crate) mod accept_drift;
pub(crate) mod access;
mod approvals;
pub(crate) mod audit_copies;
mod backup_writer;
pub(crate) mod client;
pub(crate) mod condition;
pub(crate) mod demo;
pub(crate) mod dispatcher;
pub(crate) mod fleet;
mod held_devices;
pub(crate) mod lease;
pub(crate) mod link;
pub(crate) mod live;
mod live_observer;
pub(crate) mod live_watch;
pub(crate) mod process_lock;
mod puppetdb;
mod queue;
pub(crate) mod release;
pub(crate) mod reload;
pub(crate) mod request;
mod requested_runs;
mod results;
mod retention;
mod run_begin;
pub(crate) mod run_store;
pub(crate) mod schedule;
pub(crate) mod service;
pub(crate) mod settings;
#[cfg(test)]
mod simulation;
mod spool;
mod store_check;
pub(crate) mod systemd;
pub(crate) mod tls_files;
pub(crate) mod visible_service;
pub(crate) mod watched_files;
pub(crate) mod web;
pub(crate) mod webhook;
pub(crate) mod window;
mod work;
