//! From the text that a Puppet server sends to a catalog that can be applied.
//!
//! Two steps, both without I/O. [`load`] reads the wire format (`docs/transaction.md`, sections 1
//! and 2, steps 1 to 4): resources in order, references resolved, rich data and deferred calls
//! turned into values. Typing the resources by their models comes after it.
//! Errors are worded as Puppet words them and carry places in the manifest and in the text.

mod deferred;
mod load;
mod position;
mod resource_ref;
pub mod rich_data;
mod wire;

pub use load::{Catalog, Declared, Kind, LoadError, Loading, Version, load, source};
pub use position::{Segment, locate};
pub use resource_ref::{ParseReferenceError, ResourceRef};
