//! The dialogue with a device, without I/O: for command lines, bytes in, events out.
//!
//! [`Rules`] say what a platform's prompts, pagers, questions and errors look like; they are data
//! of the platform's file. The [`Dialogue`] is told which lines were written and is fed whatever
//! bytes arrive, in any pieces; it attributes every prompt to its line, turns pages, answers the
//! questions that the rules expect and refuses all others. [`Verdict`] says what an answer means.
//!
//! Nothing here knows sockets or clocks: that nothing arrived for a while is told by
//! [`Dialogue::quiet`]. Begin reading at [`engine`]. A REST interface needs
//! no engine, only its [`RestRules`]; [`Protocol`] is either of the two.

pub mod classify;
pub mod cli_rules;
mod cli_rules_file;
pub mod command;
mod echo;
pub mod engine;
mod pending_command;
mod protocol;
mod question;
pub mod rest_rules;
mod screen;
#[cfg(test)]
mod tests;

pub use classify::{Classification, Refusal};
pub use cli_rules::{CliRules, MessageClass};
pub use command::{Answer, AskedQuestion, Command, Prompt, SecretResponse, SecretState};
pub use engine::{Dialogue, Event};
pub use protocol::{Dialect, Protocol};
pub use rest_rules::RestRules;
#[cfg(test)]
pub(crate) use tests::rules as rules_for_tests;
