//! The CA bundle and the CRLs: downloaded if missing, refreshed by age.

use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;

use super::{Bootstrap, BootstrapError};
use crate::agent::ca::authority::{BundleOrigin, CaError, CaFile, Fetched};
use crate::agent::ca::local_identity;
use crate::agent::device_file::{self, FileMode};
use crate::agent::http::tls::RevocationCheck;
use crate::agent::revocation_lists::RevocationLists;
use crate::agent::run_log::RunLog;
use crate::error_chain::chain;

impl Bootstrap<'_> {
    pub(super) async fn bundle(&self, log: &mut dyn RunLog) -> Result<String, BootstrapError> {
        let path = self.layout.ca();
        if let Some(text) = device_file::read(&path)? {
            local_identity::validate_bundle(self.layout, &text)?;
            return Ok(text);
        }
        let (text, origin) = self.authority.bundle().await?;
        let digest = crate::agent::certificate::fingerprint(text.as_bytes());
        match origin {
            BundleOrigin::File(from) => {
                log.info(format!("Using the CA bundle {}", from.display()));
            }
            BundleOrigin::Shared => {}
            BundleOrigin::FirstContact if self.settings.certificates.ca_fingerprint.is_some() => {
                log.notice(format!("Downloaded the CA bundle, SHA-256 {digest} as configured"));
            }
            BundleOrigin::FirstContact => log.warning(format!(
                "Downloaded the CA bundle and trusted it on first contact, SHA-256 {digest}; set ca_fingerprint to verify it"
            )),
        }
        device_file::write(&path, &text, FileMode::WorldReadable)?;
        Ok(text)
    }

    /// A newer version of the file, if it is `due` or the refresh interval has passed. Logs a failure.
    pub(super) async fn refresh(
        &self,
        file: CaFile,
        ca: &str,
        revocation: Option<&RevocationCheck>,
        due: bool,
        log: &mut dyn RunLog,
    ) -> Option<String> {
        let (path, interval) = match file {
            CaFile::Bundle => (
                self.layout.ca(),
                self.settings.certificates.ca_refresh_interval,
            ),
            CaFile::Crl => (
                self.layout.crl(),
                self.settings.certificates.crl_refresh_interval,
            ),
        };
        let modified = std::fs::metadata(&path).ok()?.modified().ok()?;
        let age = now().duration_since(modified).unwrap_or_default();
        if age < interval && !due {
            return None;
        }
        let since = http_date(modified).filter(|_| !due);
        let fetched = self
            .authority
            .fetch(file, ca, revocation, since.as_deref())
            .await;
        match fetched {
            Ok(Fetched::New(text)) => Some(text),
            Ok(Fetched::NotModified) => {
                touch(&path);
                None
            }
            Err(error) => {
                let message = format!("Failed to refresh {}: {}", path.display(), chain(&error));
                match error {
                    CaError::Request(_) => log.info(message),
                    _ => log.warning(message),
                }
                None
            }
        }
    }

    /// The CRLs for `certificate_revocation`: the stored ones, or newer ones from the CA. Usable
    /// lists are replaced only by newer ones of the same CAs.
    pub(super) async fn revocation(
        &self,
        ca: &str,
        new_bundle: bool,
        log: &mut dyn RunLog,
    ) -> Result<Option<RevocationCheck>, BootstrapError> {
        let path = self.layout.crl();
        let present = match local_identity::revocation(self.settings, self.layout, ca) {
            Err(BootstrapError::CrlMissing { .. }) => None,
            Err(error @ BootstrapError::Crl { .. }) => {
                log.warning(format!("{}; downloading them again", chain(&error)));
                None
            }
            Ok(None) => return Ok(None),
            other => other?,
        };
        let Some(present) = present else {
            return match self.authority.fetch(CaFile::Crl, ca, None, None).await? {
                Fetched::NotModified => Err(BootstrapError::CrlMissing { path }),
                Fetched::New(text) => {
                    device_file::write(&path, &text, FileMode::WorldReadable)?;
                    local_identity::revocation(self.settings, self.layout, ca)
                }
            };
        };
        // Expired lists verify no connection. The lists of another bundle have no list of a new CA.
        let due = new_bundle || present.lists.expired(crate::clock::timestamp()).is_some();
        let verifying = Some(&present).filter(|_| !due);
        let Some(text) = self.refresh(CaFile::Crl, ca, verifying, due, log).await else {
            return Ok(Some(present));
        };
        let newer = RevocationLists::parse(&text, ca, crate::clock::timestamp())
            .and_then(|lists| lists.check_replaces(&present.lists).map(|()| lists));
        match newer {
            Ok(lists) => {
                device_file::write(&path, &text, FileMode::WorldReadable)?;
                Ok(Some(RevocationCheck { lists, ..present }))
            }
            Err(error) => {
                log.warning(format!("Failed to refresh {}: {error}", path.display()));
                Ok(Some(present))
            }
        }
    }
}

fn now() -> SystemTime {
    SystemTime::from(crate::clock::timestamp())
}

fn http_date(time: SystemTime) -> Option<String> {
    let timestamp = Timestamp::try_from(time).ok()?;
    jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&timestamp)
        .ok()
}

/// Sets the modification time, from which the refresh interval counts. On failure the next run checks again.
fn touch(path: &Path) {
    let _ = std::fs::File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(now()));
}
