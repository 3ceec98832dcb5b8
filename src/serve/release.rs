//! Releases on a node: the inputs that `fleet publish` has stored, from their source to a directory of the node.

pub(crate) mod collect;
mod directories;
mod inputs;
pub(crate) mod named_files;
mod plans_only;
mod source;

pub(crate) use inputs::{FleetInputs, RELEASE_ACCESS};
pub(crate) use plans_only::plans_only;
pub(crate) use source::{ReadReleaseError, ReleaseSource};
