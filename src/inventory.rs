//! The devices and their settings: `inventory.toml`.
//!
//! A file has `[defaults]`, `[platform.<name>]`, `[group.<name>]` and `[device.<name>]` tables. A device
//! inherits settings from its groups, from the table of its platform, then from the defaults
//! ([`table_settings`]). `[device."sw[001-300]"]` stands for several devices ([`range`]). `[source]` has more
//! tables, from a command or a service ([`source`]). Unknown keys
//! are errors, and all errors are reported together. Secrets are read when a session is opened
//! ([`secrets`]); loading, validating, showing and selecting do not read them.
//!
//! Does not depend on catalogs or sessions. Begin at [`Inventory::load`].

mod address;
mod ansible;
mod check;
mod command_output;
pub(crate) mod device;
mod device_order;
mod failure_policy;
mod file_context;
mod file_mode;
mod fill;
mod group;
mod load;
mod one_device;
pub(crate) mod placeholders;
pub(crate) mod private_file;
pub(crate) mod range;
#[cfg(test)]
mod reference;
mod referenced_files;
mod render_setting;
mod resolve;
pub(crate) mod save_policy;
pub(crate) mod schema;
pub(crate) mod secret_source;
pub(crate) mod secrets;
mod select;
pub(crate) mod selection;
pub(crate) mod setting;
pub(crate) mod show;
mod source;
mod source_command;
mod source_service;
pub(crate) mod standby_policy;
pub(crate) mod table_settings;
mod tables;
mod vault;
mod vault_settings;
pub(crate) mod verification;

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::map::IndexMap;
use switchtender_devices::names::DeviceName;

pub(crate) use device::Device;
pub(crate) use failure_policy::FailurePolicy;
pub(crate) use file_context::{FileContext, clear_secrets};
use file_mode::WritableFile;
pub(crate) use load::redact;
pub(crate) use load::{InventoryOptions, platform_hint};
pub(crate) use save_policy::SavePolicy;
pub(crate) use secrets::{NO_VAULT_HELP, Secrets, StateCommands};
pub(crate) use selection::{DeviceSelection, Selectable, TargetSyntaxError};
pub(crate) use standby_policy::StandbyPolicy;
pub(crate) use vault_settings::VaultSettings;

/// The devices of one file.
#[derive(Clone, Debug)]
pub struct Inventory {
    pub(crate) source: Arc<Source>,
    /// By name, in the order of the file.
    pub(crate) devices: IndexMap<DeviceName, Device>,
    pub(crate) limits: ConcurrencyLimits,
    /// Keys of labels; files of desired state for later keys replace values of earlier ones.
    pub(crate) label_order: Vec<String>,
    /// Accept secrets in files that other users can read.
    pub(crate) allow_readable: bool,
    /// The server of Vault.
    pub(crate) vault: Option<vault_settings::VaultSettings>,
    /// The file, if other users can write it: its commands do not run.
    pub(crate) writable: Option<WritableFile>,
    /// Findings that do not prevent a run.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Maximum numbers of concurrent device runs, from `[limits]`. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConcurrencyLimits {
    /// All devices.
    pub(crate) concurrency: Option<usize>,
    pub(crate) per_site: Option<usize>,
    pub(crate) per_jump: Option<usize>,
}
