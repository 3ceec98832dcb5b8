//! What the tests and benches of `switchtender` have in common: the program as a process, catalogs,
//! devices on loopback with their inventory, and proxy hosts of a Puppet Server.

pub mod browser;
pub mod catalog;
pub mod certificates;
pub mod device_host;
pub mod difference;
pub mod free_port;
pub mod host_clock;
pub mod interrupt;
pub mod lab;
pub mod peer;
pub mod postgresql;
pub mod program;
pub mod proxy_host;
pub mod pseudo_terminal;
pub mod report;
pub mod safe_output;
pub mod stderr_note;
pub mod write_fault;

use std::path::{Path, PathBuf};

/// A path of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}
