//! Output formats of diagnostics: terminal, JSON, SARIF, JUnit, GitHub and GitLab.
//!
//! A [`Diagnostic`] is data; this module renders it. It does not print and does not read the
//! environment: the caller chooses colors. Begin at [`terminal::render`].

mod count;
mod excerpt;
mod fingerprint;
pub(crate) mod github;
pub(crate) mod gitlab;
pub mod json;
pub(crate) mod junit;
mod main_position;
mod order;
mod path_map;
pub mod sarif;
pub mod terminal;

pub(crate) use count::Counts;
pub(crate) use order::{Limited, Rest, limit, sort};
pub(crate) use path_map::{PathMapping, map_paths};
pub use switchtender_devices::diagnostic::{
    Diagnostic, Label, ManifestPosition, Severity, Source, did_you_mean, suggest,
};
use switchtender_devices::printable::escape;

/// A checked file with its findings.
#[derive(Clone, Debug)]
pub(crate) struct CheckedFindings {
    pub(crate) name: String,
    pub(crate) findings: Vec<Diagnostic>,
}

/// The name of a severity in all formats.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Escapes and truncates text for output in one line: messages quote values of catalogs and devices.
fn escape_line(text: &str) -> String {
    const LONGEST: usize = 400;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", escape(&text[..end])),
        None => escape(text).into_owned(),
    }
}
