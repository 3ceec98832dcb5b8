//! The dialogue with a device, without I/O: received bytes in, events out.
//!
//! [`CliRules`] describe the prompts, pagers, questions and errors of a platform; they are data of
//! the platform's file. The [`Dialogue`] takes the commands that are sent and the bytes that are
//! received. It assigns each prompt to its command, pages through output, accepts the questions
//! that the rules list, and declines all others. A [`Classification`] is the meaning of an answer.
//!
//! The module has no sockets and no clocks; the caller reports idle time by [`Dialogue::on_idle`].
//! Begin reading at [`engine`]. A REST interface has no engine, only [`RestRules`]. [`netconf`] has
//! framing and messages. [`Protocol`] is one of the three.

pub(crate) mod candidate_rules;
mod classify;
mod cli_keys;
pub(crate) mod cli_rules;
mod cli_rules_file;
mod command;
mod echo;
mod engine;
mod guarantee;
mod hostname_pattern;
pub(crate) mod line_request_rules;
mod line_transport;
#[cfg(test)]
mod mutation_tests;
pub(crate) mod netconf;
mod pending_command;
pub(crate) mod protect_rules;
mod protocol;
mod question;
pub(crate) mod rest_rules;
mod screen;
pub(crate) mod sections;
mod session_limits;
pub(crate) mod session_rules;
#[cfg(test)]
mod tests;
mod transport;

pub(crate) use classify::{Classification, Refusal};
pub(crate) use cli_rules::CliRules;
pub(crate) use command::{Answer, Command, Prompt, SecretResponse, SecretState};
pub(crate) use engine::{Dialogue, Event};
pub use guarantee::{GuaranteeClass, WriteGuarantee};
pub use hostname_pattern::HostnamePattern;
pub(crate) use line_request_rules::{LineAnswer, LineRequestRules, RequestLine};
pub use line_transport::LineTransport;
pub(crate) use netconf::NetconfRules;
pub(crate) use protocol::Dialect;
pub use protocol::Protocol;
pub(crate) use rest_rules::RestRules;
#[cfg(test)]
pub(crate) use tests::rules as rules_for_tests;
pub use transport::Transport;
