//! Releases on a node: the inputs that `fleet publish` has stored, from their source to a directory of the node.

mod source;

pub(crate) use source::{ReadReleaseError, ReleaseSource};
