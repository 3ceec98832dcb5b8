//! The client of a Puppet Server, for devices: an agent run on the wire, without what it applies.
//!
//! `docs/agent-protocol.md` is the specification. Each device is an agent of its own: its
//! certificates, its environment, its cache and its spool, all below its own directory. Decisions
//! are functions from data to data ([`environment`], [`certificates::step`], [`retry_after`]); the
//! I/O around them is thin, and all HTTP is in [`http`].
//!
//! Knows no catalogs beyond their head, no sessions and no transactions. Begin at [`settings`].

pub mod settings;
