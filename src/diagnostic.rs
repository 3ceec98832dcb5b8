//! Renderings of findings: for a terminal and for machines.
//!
//! A [`Diagnostic`] is plain data made anywhere; here it becomes text. Nothing is printed and
//! nothing is asked of the environment: whoever prints decides about colours and width.
//! Begin at [`terminal::render`].

mod count;
mod excerpt;
pub mod json;
pub mod junit;
mod order;
pub mod sarif;
pub mod terminal;

pub use count::Counts;
pub use order::{Limited, Rest, limit, sort};
pub use switchtender_devices::diagnostic::{Diagnostic, Label, Place, Severity, Source, nearest};

/// The word for a severity, as people and machines read it.
pub fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Text that is safe to show in one line: control characters are written as escapes, and what is
/// longer than any message is cut.
///
/// Messages quote values from catalogs and device output; a terminal must not obey them, and a value
/// may be a book.
fn harmless(text: &str) -> String {
    const LONGEST: usize = 400;
    let mut shown = String::with_capacity(text.len().min(LONGEST));
    for (number, character) in text.chars().enumerate() {
        match character {
            _ if number == LONGEST => {
                shown.push('…');
                break;
            }
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            other if other.is_control() => shown.extend(other.escape_unicode()),
            other => shown.push(other),
        }
    }
    shown
}
