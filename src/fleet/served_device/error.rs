//! Why a run of a device came to nothing.

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::session::SessionError;

use crate::agent::hook;
use crate::agent::layout::FileError;
use crate::agent::run::RunError;
use crate::store::StoreError;

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ServedError {
    #[error(transparent)]
    Agent(#[from] RunError),
    #[error("Could not connect to the device: {0}")]
    Session(#[from] SessionError),
    #[error("Can't load {kind} for {device}: {}", told(.findings))]
    Connection {
        kind: String,
        device: String,
        findings: Vec<Diagnostic>,
    },
    #[error("there is no driver for type {kind}")]
    Platform { kind: String, known: String },
    /// What speaks against the catalog; nothing was sent to the device.
    #[error("Could not use the catalog: {}", number(.0))]
    Refused(Vec<Diagnostic>),
    #[error("{0}")]
    Type(String),
    #[error(transparent)]
    Hook(#[from] hook::HookError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Stopped(String),
}

impl ServedError {
    /// What is wrong with the catalog, when that is why.
    pub fn findings(&self) -> &[Diagnostic] {
        match self {
            ServedError::Refused(findings) => findings,
            _ => &[],
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            ServedError::Agent(error) => error.hint(),
            ServedError::Session(error) => error.hint(),
            ServedError::Platform { known, .. } => Some(format!(
                "known platforms: {known}; a module of the device's environment may bring one"
            )),
            _ => None,
        }
    }
}

/// How many findings stand in the way; each is told by itself.
fn number(findings: &[Diagnostic]) -> String {
    let errors = findings
        .iter()
        .filter(|found| found.severity == Severity::Error);
    match errors.count() {
        1 => "it has an error".to_owned(),
        count => format!("it has {count} errors"),
    }
}

/// All findings in one line, each with its place and what to do.
fn told(findings: &[Diagnostic]) -> String {
    let texts = findings.iter().map(|found| {
        let place = found.labels.first().map(|label| {
            let (line, _) = label.source.position(label.span.start);
            format!(" ({}:{line})", label.source.name)
        });
        let help = found.help.as_ref().map(|help| format!(" → {help}"));
        [
            found.message.as_str(),
            place.as_deref().unwrap_or_default(),
            help.as_deref().unwrap_or_default(),
        ]
        .concat()
    });
    texts.collect::<Vec<_>>().join("; ")
}
