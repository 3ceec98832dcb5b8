//! Many device runs side by side, in one process.
//!
//! One task per device ([`device_run`]); the devices share nothing but limits ([`limits`]). A
//! failure or a panic in one run is the failure of that device alone. Start reading at
//! [`device_run::run`].

mod catalog_check;
pub mod catalog_files;
pub mod catalog_source;
pub mod connector;
mod convert_resources;
pub mod device_run;
pub mod inspect;
pub mod inventory_run;
pub mod limits;
#[cfg_attr(not(feature = "mock"), path = "fleet/no_mock_fleet.rs")]
pub mod mock_fleet;
pub mod run_counts;
pub mod runner;
mod save_config;
pub mod server_run;
mod state_files;
