//! The device side of Switchtender: what a resource type may say, how a platform reads and
//! writes it, and how the lines or requests reach a device.
//!
//! Drivers are data ([`driver`]); everything between device text and resource state is a
//! function from data to data ([`read`], [`change`], [`operation`], [`predict`], [`dialogue`]).
//! Only [`session`] performs I/O. Nothing here knows catalogs, reports or a Puppet server.
//!
//! Begin reading at [`provider`], the seam between the engine and a device.

pub mod change;
pub mod definitions;
pub mod diagnostic;
pub mod dialogue;
pub mod document;
pub mod driver;
pub mod error_chain;
pub mod map;
pub mod model;
pub mod names;
pub mod operation;
pub mod pattern;
pub(crate) mod predict;
pub mod provider;
pub mod read;
pub mod secret;
pub mod session;
pub mod value;
