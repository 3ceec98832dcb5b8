//! The Puppet CA client: a device's key and certificate, the CA bundle and its CRLs.
//!
//! The file layout is Puppet's, so that a site can switch without new certificates
//! (`docs/reference/agent-protocol.md`, sections 3 and 8). Begin at [`bootstrap`].

pub mod authority;
pub mod bootstrap;
pub mod certificate_request;
pub mod key;
pub(crate) mod local_identity;
pub(crate) mod ssl_lock;
