//! Errors of desired state files.

use std::io;
use std::path::PathBuf;

use switchtender_devices::diagnostic::Diagnostic;

/// Why the desired state of a device cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// A file or directory cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// No file applies to the device.
    #[error("no file in {directory} applies to {device}")]
    Empty { directory: PathBuf, device: String },
    /// A template uses facts, and they are not available.
    #[error("the desired state needs the facts of the device")]
    NeedsFacts(Box<Diagnostic>),
    /// Templates have no thread.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// The files have errors.
    #[error("the desired state has {}", count(.0))]
    Invalid(Vec<Diagnostic>),
}

impl StateError {
    /// What the files have wrong.
    pub(crate) fn findings(&self) -> &[Diagnostic] {
        match self {
            StateError::NeedsFacts(finding) => std::slice::from_ref(finding),
            StateError::Invalid(findings) => findings,
            _ => &[],
        }
    }

    /// The action for the user.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            StateError::Empty { directory, device } => Some(format!(
                "write {}",
                directory
                    .join("device")
                    .join(format!("{device}.yaml"))
                    .display()
            )),
            _ => None,
        }
    }
}

fn count(findings: &[Diagnostic]) -> String {
    match findings.len() {
        1 => "1 error".to_owned(),
        count => format!("{count} errors"),
    }
}
