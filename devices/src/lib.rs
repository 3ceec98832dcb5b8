//! The device side of Switchtender: models of resource types, drivers of platforms, and sessions.
//!
//! Drivers are data ([`driver`]). Pure functions convert between device text and resource state
//! ([`read`], [`change`], [`operation`], `predict`, [`dialogue`]). Only [`session`] and
//! [`http`] perform I/O.
//! The package does not depend on catalogs, reports or a Puppet server.
//!
//! Begin reading at [`provider`], the interface between the engine and a device.

pub mod change;
pub(crate) mod clock;
pub mod definitions;
pub mod diagnostic;
pub mod dialogue;
pub mod document;
pub mod draft;
pub mod driver;
pub mod duration;
pub mod error_chain;
pub mod format_version;
pub mod http;
pub mod map;
pub mod model;
pub mod names;
pub mod not_understood;
pub(crate) mod number_list;
pub mod operation;
pub mod pattern;
pub(crate) mod predict;
pub mod printable;
pub mod provider;
pub mod read;
pub mod recording;
pub mod regular_file;
pub mod secret;
pub mod secret_mask;
pub mod secret_text;
pub mod secret_url;
pub mod session;
pub mod task;
pub mod value;
