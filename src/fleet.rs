//! Many concurrent device runs in one process.
//!
//! One task per device ([`device_run`]); the devices share only limits ([`limits`]). A
//! failure or a panic in one run is the failure of that device alone. Start reading at
//! [`device_run::run`].

pub(crate) mod backup;
pub(crate) mod backup_commit;
mod catalog_check;
pub(crate) mod catalog_files;
pub(crate) mod catalog_graph;
pub(crate) mod catalog_source;
pub(crate) mod change_limits;
pub(crate) mod connector;
mod convert_resources;
pub(crate) mod coverage;
pub(crate) mod declared_device;
pub(crate) mod device_run;
pub(crate) mod export;
pub(crate) mod inspect;
pub(crate) mod inventory_run;
pub(crate) mod known_device;
pub(crate) mod limits;
pub(crate) mod manifest_resource;
pub(crate) mod mock_fleet;
pub(crate) mod offline_catalog;
pub(crate) mod offline_plan;
mod own_sessions;
pub(crate) mod plan_confirmation;
pub(crate) mod read_devices;
pub(crate) mod replay;
mod report_sink;
pub(crate) mod rollout;
pub(crate) mod run_request;
pub(crate) mod runner;
mod save_config;
pub(crate) mod saved_files;
pub(crate) mod saved_fleet;
pub(crate) mod server_run;
pub(crate) mod state_files;
pub(crate) mod stored_plan;
pub(crate) mod structural_mock;
pub(crate) mod undo;
