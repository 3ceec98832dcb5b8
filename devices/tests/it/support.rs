//! Helpers that several test modules share.

pub(crate) mod catalog;
pub(crate) mod offline;
pub(crate) mod session;
#[path = "../../../tests/support/src/stderr_note.rs"]
#[expect(
    unreachable_pub,
    reason = "a module of another package, where it is public"
)]
pub(crate) mod stderr_note;
