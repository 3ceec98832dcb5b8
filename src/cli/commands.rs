//! The commands: one file per command, named as the user types it, and what they share.
//!
//! A command has its arguments with their help and the function that runs it.

pub(crate) mod access;
#[cfg(test)]
mod agreement;
pub(crate) mod apply;
pub(crate) mod backup;
pub(crate) mod cert;
pub(crate) mod complete_names;
pub(crate) mod completions;
pub(crate) mod confirmation;
pub(crate) mod coverage;
pub(crate) mod device;
pub(crate) mod doctor;
pub(crate) mod drift;
pub(crate) mod driver;
pub(crate) mod explain;
pub(crate) mod facts;
pub(crate) mod fleet;
pub(crate) mod graph;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod inventory;
pub(crate) mod man;
pub(crate) mod mock;
pub(crate) mod model;
pub(crate) mod plan;
pub(crate) mod read_many;
pub(crate) mod report;
pub(crate) mod resource;
pub(crate) mod rollout;
pub(crate) mod run;
pub(crate) mod run_device;
pub(crate) mod run_recorder;
mod run_reference;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod state;
pub(crate) mod state_dir;
pub(crate) mod store;
pub(crate) mod stored_plan;
pub(crate) mod stored_run;
pub(crate) mod type_reference;
pub(crate) mod types;
pub(crate) mod undo;
pub(crate) mod validate;
