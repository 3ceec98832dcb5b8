//! Groups of options that several commands have.
//!
//! A group knows no command.

pub(crate) mod catalog_arguments;
pub(crate) mod definitions;
pub(crate) mod desired_state;
pub(crate) mod device_access;
pub(crate) mod device_state;
pub(crate) mod duration_argument;
pub(crate) mod facts_file;
pub(crate) mod global;
pub(crate) mod inventory_source;
pub(crate) mod limit_options;
pub(crate) mod manifest;
pub(crate) mod mock_options;
pub(crate) mod offline_state;
pub(crate) mod one_device;
pub(crate) mod output_format;
pub(crate) mod puppet_settings;
pub(crate) mod record_options;
pub(crate) mod run_arguments;
pub(crate) mod saved_config;
pub(crate) mod selection;
pub(crate) mod serve_state;
pub(crate) mod settings_file;
pub(crate) mod state_root;
pub(crate) mod store_options;
pub(crate) mod target_options;
pub(crate) mod unknown_name;
pub(crate) mod view_arguments;
