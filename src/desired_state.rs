//! Desired state in YAML files, as an alternative to compiled catalogs (`--state DIR`).
//!
//! ```text
//! DIR/common.yaml                 every device
//! DIR/label/<key>/<value>.yaml    devices with the label
//! DIR/device/<name>.yaml          one device
//! ```
//!
//! Each file maps types to titles to attributes, the form of `resource --output yaml`. The files of a
//! device are merged attribute by attribute ([`merge`]); a catalog is made of the result
//! ([`compile`]). Findings about that catalog are moved to the YAML files ([`origin_map`]).
//! `docs/desired-state.md` describes the format.

pub(crate) mod clear_secrets;
mod compile;
pub(crate) mod declared;
mod document;
mod error;
mod expand;
mod layered;
mod merge;
mod merged_state;
mod origin_map;
mod schema;
mod secret_values;
pub(crate) mod show;
mod state_directory;
mod state_entry;
mod template;
mod unmanaged;
pub(crate) mod writer;
mod yaml_value;

pub(crate) use compile::{StateCatalog, StateDevice};
pub(crate) use error::StateError;
pub(crate) use expand::exclusion::Exclusions;
pub(crate) use expand::title_range::literal_title;
pub(crate) use merged_state::{MergedState, ValueOrigin};
pub(crate) use origin_map::OriginMap;
pub(crate) use schema::schema;
pub(crate) use secret_values::SecretValues;
pub(crate) use state_directory::StateDirectory;
pub(crate) use state_entry::{EntryKind, StateEntry};
pub(crate) use template::literal;
pub(crate) use unmanaged::Unmanaged;
pub(crate) use yaml_value::YamlValue;

#[cfg(test)]
mod tests;
