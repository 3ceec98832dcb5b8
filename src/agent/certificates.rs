//! A device's key and certificate, and the CA's bundles: made, fetched, checked, kept.
//!
//! The layout of the files is the peer's, so that a site switches without signing anew
//! (`docs/agent-protocol.md`, sections 3 and 8). Begin at [`setup`].

pub mod at_hand;
pub mod authority;
pub mod inspect;
pub mod key;
pub mod layout;
pub mod request;
pub mod setup;
