//! Helpers that several test modules share.

pub mod catalog;
pub mod offline;
pub mod session;
#[path = "../../../tests/support/src/stderr_note.rs"]
pub mod stderr_note;
