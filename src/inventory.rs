//! The devices that can be reached, and how: `inventory.toml`.
//!
//! A file has `[defaults]`, `[platform.<name>]` and `[device.<name>]` tables; what a device does
//! not say comes from its platform's table, then from the defaults ([`table_settings`]). The file is read
//! strictly and all mistakes are told at once. Secrets stay where they are until a session is
//! opened ([`secrets`]); loading, checking, showing and selecting never touch one.
//!
//! Knows no catalogs and no sessions. Begin at [`Inventory::load`].

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
    /// Secrets in files that others can read are accepted.
    pub allow_readable: bool,
    /// What is odd but does not stand in the way.
    pub warnings: Vec<Diagnostic>,
}

/// How many devices may be at work at once, from `[limits]`; what is `None` is not limited there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConcurrencyLimits {
    /// Over all.
    pub concurrency: Option<usize>,
    pub per_site: Option<usize>,
    pub per_jump: Option<usize>,
}
