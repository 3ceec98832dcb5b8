//! What a test has to say although it passes: that it was skipped, that it left something behind.

use std::io::Write as _;

/// Says it on standard error, after the name of the test. What `eprintln!` says of a test that
/// passes the harness keeps to itself.
pub fn say(text: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "{test}: {text}");
}
