//! Why a manifest gives no catalog.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use switchtender_devices::diagnostic::Diagnostic;

use crate::bounded_command::BoundedCommandError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("cannot read {path}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write the types for the compiler")]
    Types(#[source] io::Error),
    #[error("cannot run `{program}`")]
    Run {
        program: PathBuf,
        #[source]
        source: BoundedCommandError,
    },
    #[error("the manifest was not compiled within {} s", .0.as_secs())]
    Late(Duration),
    #[error("cannot compile the manifest")]
    Compilation { findings: Vec<Diagnostic> },
    #[error("cannot compile the manifest: `{program}` printed no catalog")]
    NoCatalog { program: PathBuf },
}

impl ManifestError {
    /// The errors of the compiler with their positions.
    pub(crate) fn findings(&self) -> &[Diagnostic] {
        match self {
            ManifestError::Compilation { findings } => findings,
            _ => &[],
        }
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            ManifestError::Run { .. } => Some(
                "install Puppet or OpenVox (Debian: `apt install puppet`), or name the program with --puppet"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
