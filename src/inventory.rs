//! The devices and their settings: `inventory.toml`.
//!
//! A file has `[defaults]`, `[platform.<name>]` and `[device.<name>]` tables. A device inherits
//! settings from the table of its platform, then from the defaults ([`table_settings`]). Unknown keys
//! are errors, and all errors are reported together. Secrets are read when a session is opened
//! ([`secrets`]); loading, validating, showing and selecting do not read them.
//!
//! Does not depend on catalogs or sessions. Begin at [`Inventory::load`].

mod address;
mod check;
pub mod device;
mod duration;
mod file_context;
mod file_mode;
mod load;
mod referenced_files;
mod resolve;
pub mod save_policy;
pub mod secret_source;
pub mod secrets;
mod select;
pub mod setting;
pub mod show;
pub mod table_settings;
pub mod verification;

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::map::IndexMap;

pub use device::Device;
pub use load::InventoryOptions;
pub use save_policy::SavePolicy;
pub use secrets::Secrets;
pub use select::{DeviceSelection, LabelSelector};

/// The devices of one file.
#[derive(Debug)]
pub struct Inventory {
    pub source: Arc<Source>,
    /// By name, in the order of the file.
    pub devices: IndexMap<String, Device>,
    pub limits: ConcurrencyLimits,
    /// Accept secrets in files that other users can read.
    pub allow_readable: bool,
    /// Findings that do not prevent a run.
    pub warnings: Vec<Diagnostic>,
}

/// Maximum numbers of concurrent device runs, from `[limits]`. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConcurrencyLimits {
    /// All devices.
    pub concurrency: Option<usize>,
    pub per_site: Option<usize>,
    pub per_jump: Option<usize>,
}
