//! The tests of the package in one program: each program costs a link of everything.

#![expect(
    clippy::disallowed_methods,
    reason = "tests measure durations, and their tasks end with their runtime"
)]

mod agent_certificates;
mod agent_http;
mod agent_real_server;
mod agent_run;
mod apply;
mod backup;
mod cert_command;
mod ci_examples;
mod completion;
mod conformance;
mod core_dumps;
mod coverage;
mod dependencies;
mod desired_state;
mod device_command;
mod device_failures;
mod driver_import;
mod driver_new;
mod empty_success;
mod example_definitions;
mod fault_matrix;
mod fence_model;
mod file_versions;
mod fleet_chaos;
mod fleet_output;
mod fleet_queries;
mod graph;
mod handbook;
mod hostile_catalogs;
mod html_page;
mod import;
mod inventory_command;
mod inventory_source;
mod kills;
mod manifest;
mod migration_page;
mod mock_puppet_server;
mod model_import;
mod offline;
mod operator_files;
mod planted_secrets;
mod questions;
mod readme;
mod real_caddy;
mod real_frr;
mod real_hosts;
mod real_kea;
mod real_netconf;
mod real_rest_peer;
mod recorded_catalogs;
mod recorded_reports;
mod reference_order;
mod removal_order;
mod report_command;
mod report_formats;
mod resource_manifest;
mod schema;
mod serve;
mod standard_streams;
mod state_dir_prune;
mod state_directory;
mod terminal;
mod texts;
mod tidy;
mod upstream_types;
mod validate_recorded;
