//! Helpers that several test modules share.

#[path = "../../../tests/support/aloud.rs"]
pub mod aloud;
pub mod catalog;
pub mod offline;
pub mod session;
