//! From the response of a Puppet server to a catalog that can be applied.
//!
//! Two steps, both without I/O. [`mod@load`] reads the wire format (`docs/reference/transaction.md`, sections 1
//! and 2, steps 1 to 4): it reads resources in order, resolves references and deferred calls, and
//! decodes rich data. [`mod@convert`] gives the resources their types (steps 5 to 9). Errors have
//! Puppet's wording and positions in the manifest and in the text.

mod cached_status;
mod compiled;
mod convert;
mod deferred;
mod index;
mod level;
mod load;
mod load_error;
mod metaparameters;
pub mod node;
mod position;
mod redact;
pub mod resource;
mod resource_ref;
mod resources;
pub mod rich_data;
mod tag_list;
pub mod types;
mod wire;

/// Maximum size of a catalog in bytes. Twenty thousand resources are 5 MiB.
pub(crate) const MAX_SIZE: usize = 64 << 20;

pub use cached_status::CachedStatus;
pub(crate) use compiled::manifest_position;
pub use compiled::{Catalog, ResourceKind};
pub(crate) use compiled::{CatalogResource, ConfigVersion};
pub(crate) use convert::{GeneratedResourceError, convert_canonical, convert_generated};
pub use convert::{Typing, convert};
pub use level::Level;
pub use load::{Loading, load, source};
pub use load_error::LoadError;
pub(crate) use load_error::LoadMessage;
pub(crate) use metaparameters::{audited as audited_properties, read as read_metaparameters};
pub(crate) use position::{Segment, locate_all};
pub(crate) use redact::{clear_secrets, hides_value};
pub use resource_ref::ResourceRef;
pub use resources::Resources;
pub(crate) use tag_list::TagList;
