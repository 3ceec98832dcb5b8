//! Notes of a test that passes: it was skipped, or it left a file.

use std::io::Write as _;

/// Prints to standard error, after the name of the test. The harness hides what `eprintln!` prints
/// in a test that passes.
pub fn print(text: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "{test}: {text}");
}
