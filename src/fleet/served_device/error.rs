//! Why a run of a device came to nothing.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::session::SessionError;

use crate::agent::certificates::layout::FileError;
use crate::agent::hook;
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
    #[error("Could not use the catalog: {0}")]
    Catalog(String),
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

fn told(findings: &[Diagnostic]) -> String {
    let texts = findings.iter().map(|found| match found.labels.first() {
        Some(label) => {
            let (line, _) = label.source.position(label.span.start);
            format!("{} ({}:{line})", found.message, label.source.name)
        }
        None => found.message.clone(),
    });
    texts.collect::<Vec<_>>().join("; ")
}
