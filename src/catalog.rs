//! From the text that a Puppet server sends to a catalog that can be applied.
//!
//! Two steps, both without I/O. [`load`] reads the wire format (`docs/reference/transaction.md`, sections 1
//! and 2, steps 1 to 4): resources in order, references resolved, rich data and deferred calls
//! turned into values. [`convert`] gives the resources their types (steps 5 to 9).
//! Errors are worded as Puppet words them and carry places in the manifest and in the text.

mod compiled;
mod convert;
mod deferred;
mod index;
mod level;
mod load;
mod load_error;
mod metaparameters;
mod position;
mod redact;
pub mod resource;
mod resource_ref;
mod resources;
pub mod rich_data;
pub mod types;
mod wire;

pub(crate) use compiled::position as manifest_position;
pub use compiled::{Catalog, CatalogResource, ConfigVersion, ResourceKind};
pub(crate) use convert::convert_generated;
pub use convert::{Typing, convert, convert_canonical};
pub use level::Level;
pub use load::{Loading, load, source};
pub use load_error::{LoadError, LoadMessage, PartialCatalog};
pub(crate) use metaparameters::{NAMES as METAPARAMETERS, read as read_metaparameters};
pub use position::{Segment, locate, locate_all};
pub use redact::{redact, redact_ranges};
pub use resource_ref::{ParseReferenceError, ResourceRef};
pub use resources::Resources;
