//! The certificate that a device must present.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::http::{Authorities, PresentedCertificate, Trust};
use crate::regular_file;
use crate::session::FIRST_CONNECTION;
use crate::session::connect_params::TlsPolicy;
use crate::session::error::SessionErrorKind;
use crate::session::login_files::ca_certificates;

/// State of the verification of one device's certificate.
#[derive(Debug, Default)]
pub(super) struct CertificateCheck {
    /// The required fingerprint.
    desired: Option<String>,
    /// File for the fingerprint of the first connection.
    store: Option<PathBuf>,
    stored: OnceLock<()>,
    /// Some certificates are refused.
    pub(crate) is_enabled: bool,
}

/// What a client trusts by a policy.
pub(super) fn trust(policy: &TlsPolicy) -> Result<(Trust, CertificateCheck), SessionErrorKind> {
    let mut check = CertificateCheck {
        is_enabled: true,
        ..CertificateCheck::default()
    };
    let trust = match policy {
        TlsPolicy::System => Trust::System,
        TlsPolicy::Disabled => Trust::Any,
        TlsPolicy::CaFile(path) => {
            let failed = |error: &dyn std::error::Error| file_error(path, error.to_string());
            let pem =
                regular_file::read(path, regular_file::LARGEST).map_err(|error| failed(&error))?;
            Trust::Authorities(Authorities {
                anchors: ca_certificates(&pem).map_err(|error| failed(&error))?,
                ..Authorities::default()
            })
        }
        TlsPolicy::Fingerprint(fingerprint) => check.require(fingerprint),
        TlsPolicy::TrustOnFirstUse(path) => {
            match regular_file::read_text(path, regular_file::LARGEST) {
                Ok(stored) => check.require(&stored),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    check.store = Some(path.clone());
                    Trust::FirstConnection
                }
                Err(error) => return Err(file_error(path, error.to_string())),
            }
        }
        TlsPolicy::Ignore => {
            check.is_enabled = false;
            Trust::Any
        }
    };
    Ok((trust, check))
}

fn file_error(path: &Path, reason: String) -> SessionErrorKind {
    SessionErrorKind::File {
        action: "cannot use",
        path: path.to_owned(),
        reason,
    }
}

/// Normalizes a fingerprint: without colons, in lower case.
fn normalize(fingerprint: &str) -> String {
    fingerprint
        .chars()
        .filter(char::is_ascii_hexdigit)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// A fingerprint as devices and OpenSSL print it: in upper case, with colons.
pub(super) fn with_colons(fingerprint: &str) -> String {
    let upper = fingerprint.to_ascii_uppercase();
    let pairs: Vec<&str> = (0..upper.len())
        .step_by(2)
        .map(|at| &upper[at..(at + 2).min(upper.len())])
        .collect();
    pairs.join(":")
}

impl CertificateCheck {
    fn require(&mut self, fingerprint: &str) -> Trust {
        let fingerprint = normalize(fingerprint);
        self.desired = Some(fingerprint.clone());
        Trust::Fingerprint(fingerprint)
    }

    /// The error if the certificate does not have the required fingerprint.
    pub(crate) fn mismatch(
        &self,
        presented: &PresentedCertificate,
        address: &str,
    ) -> Option<SessionErrorKind> {
        let (desired, found) = (self.desired.as_ref()?, presented.fingerprint()?);
        (*desired != found).then(|| SessionErrorKind::CertificateFingerprint {
            address: address.to_owned(),
            desired: with_colons(desired),
            found: with_colons(&found),
        })
    }

    /// Stores the fingerprint of the first connection. Returns a note for the user if it did.
    pub(crate) fn store_fingerprint(
        &self,
        presented: &PresentedCertificate,
        address: &str,
    ) -> Result<Option<String>, SessionErrorKind> {
        let (Some(path), Some(found)) = (&self.store, presented.fingerprint()) else {
            return Ok(None);
        };
        if self.stored.set(()).is_err() {
            return Ok(None);
        }
        let failed = |error: std::io::Error| file_error(path, error.to_string());
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = match options.open(path) {
            Ok(file) => file,
            // Another run stored it first; the next run compares.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        writeln!(file, "{}", with_colons(&found)).map_err(failed)?;
        Ok(Some(format!(
            "{FIRST_CONNECTION} {address}: stored the fingerprint of its certificate in {}: {}",
            path.display(),
            with_colons(&found)
        )))
    }
}
