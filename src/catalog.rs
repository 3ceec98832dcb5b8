//! From the text that a Puppet server sends to a catalog that can be applied.
//!
//! Two steps, both without I/O. [`load`] reads the wire format (`docs/transaction.md`, sections 1
//! and 2, steps 1 to 4): resources in order, references resolved, rich data and deferred calls
//! turned into values. [`convert`] gives the resources their types (steps 5 to 9).
//! Errors are worded as Puppet words them and carry places in the manifest and in the text.

mod convert;
mod declared;
mod deferred;
mod findings;
mod level;
mod load;
mod masked;
mod metaparameters;
mod names;
mod position;
pub mod resource;
mod resource_ref;
mod resources;
pub mod rich_data;
pub mod types;
mod wire;

pub(crate) use convert::made;
pub use convert::{Typing, convert, convert_known};
pub(crate) use declared::position as manifest_position;
pub use declared::{Catalog, Declared, Kind, Version};
pub use findings::{LoadError, Readable, Told};
pub use level::Level;
pub use load::{Loading, load, source};
pub use masked::{masked, overwritten};
pub(crate) use metaparameters::{NAMES as METAPARAMETERS, read as read_metaparameters};
pub use position::{Segment, locate, locate_all};
pub use resource_ref::{ParseReferenceError, ResourceRef};
pub use resources::Resources;
