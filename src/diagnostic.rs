//! Output formats of diagnostics: terminal, JSON, SARIF, JUnit.
//!
//! A [`Diagnostic`] is data; this module renders it. It does not print and does not read the
//! environment: the caller chooses colors. Begin at [`terminal::render`].

mod count;
mod excerpt;
pub mod json;
pub(crate) mod junit;
mod order;
pub mod sarif;
pub mod terminal;

pub(crate) use count::Counts;
pub(crate) use order::{Limited, Rest, limit, sort};
pub use switchtender_devices::diagnostic::{
    Diagnostic, Label, ManifestPosition, Severity, Source, nearest,
};

/// The name of a severity in all formats.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Escapes control characters and truncates long text, for output in one line.
///
/// Messages quote values of catalogs and device output, which can contain terminal sequences.
fn escape_line(text: &str) -> String {
    const LONGEST: usize = 400;
    let mut escaped = String::with_capacity(text.len().min(LONGEST));
    for (number, character) in text.chars().enumerate() {
        match character {
            _ if number == LONGEST => {
                escaped.push('…');
                break;
            }
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            other if other.is_control() => escaped.extend(other.escape_unicode()),
            other => escaped.push(other),
        }
    }
    escaped
}
