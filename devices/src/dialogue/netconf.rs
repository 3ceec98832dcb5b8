//! NETCONF (RFC 6241, RFC 6242) without I/O: received bytes to messages, messages to replies.
//!
//! Why not a crate? `rustnetconf` (0.19) has 18,000 lines and requires one version of russh. Its session knows neither
//! masks, limits, transcripts nor the guard of a session that only reads.

mod framing;
mod message;
#[cfg(test)]
mod mutation_tests;
pub(crate) mod rules;
mod session_list;

pub(crate) use framing::{FrameDecoder, Framing};
pub(crate) use message::{
    Capability, Reply, ServerHello, client_hello, is_read, operation_name, rpc,
};
pub(crate) use rules::NetconfRules;
pub(crate) use session_list::{LIST_SESSIONS, listed_sessions};
