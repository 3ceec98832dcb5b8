//! Obtains a usable certificate for a device (`docs/reference/agent-protocol.md`, sections 5.1 and 8.2).
//!
//! Existing files are used; missing ones are downloaded or generated. A valid file is never
//! replaced by an invalid one. A new device sends its request and checks for the certificate at
//! once; it waits only for a request that is not signed yet.

mod ca_files;
mod error;
mod signing;

use std::time::Duration;

use switchtender_devices::http::Identity;

use super::authority::{CaFile, CertificateAuthority};
use super::key::{KeyError, PrivateKey};
use super::local_identity;
use crate::agent::ca::ssl_lock::SslLock;
use crate::agent::certificate::Certificate;
use crate::agent::device_file::{self, FileMode};
use crate::agent::http::tls::Trust;
use crate::agent::http::{Client, Request};
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::Settings;
use crate::agent::run_log::RunLog;
pub use error::BootstrapError;

/// The TLS parameters of a connection to the server.
#[derive(Clone, Debug)]
pub struct TlsCredentials {
    /// The certificates and CRLs that verify the server.
    pub trust: Trust,
    /// Certificate and private key for TLS client authentication.
    pub identity: Identity,
    /// Fields of the certificate in `identity`.
    pub certificate: Certificate,
}

/// The bootstrap of one device.
#[derive(Debug)]
pub struct Bootstrap<'a> {
    /// Settings for HTTP, certificates and the CA.
    pub settings: &'a Settings,
    /// Paths of the device's key, certificate, CA bundle and CRLs.
    pub layout: &'a Layout,
    /// Source of the CA bundle and the CRLs, shared by all devices.
    pub authority: &'a CertificateAuthority,
}

impl Bootstrap<'_> {
    /// Completes the files of the device; waits for a signature if `waitforcert` is set.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn run(&self, log: &mut dyn RunLog) -> Result<TlsCredentials, BootstrapError> {
        self.layout.link()?;
        let _lock = SslLock::take(self.layout)?;
        let mut ca = self.bundle(log).await?;
        let mut refreshed = false;
        let present = local_identity::revocation(self.settings, self.layout, &ca);
        let present = present.ok().flatten();
        if let Some(newer) = self
            .refresh(CaFile::Bundle, &ca, present.as_ref(), false, log)
            .await
        {
            device_file::write(&self.layout.ca(), &newer, FileMode::WorldReadable)?;
            refreshed = newer != ca;
            ca = newer;
        }
        let revocation = self.revocation(&ca, refreshed, log).await?;
        let trust = Trust::Bundle { ca, revocation };
        let stored = device_file::read(&self.layout.certificate())?;
        let key = self.key(stored.is_some(), log).await?;
        let pem = match stored {
            Some(pem) => pem,
            None => self.obtain(&key, &trust, log).await?,
        };
        let certificate = local_identity::validate_certificate(self.layout, &pem, &key)?;
        let ready = TlsCredentials {
            trust,
            identity: Identity {
                certificate: pem,
                key: key.to_der(),
            },
            certificate,
        };
        self.renew(ready, &key, log).await
    }

    /// The existing key; a new one only if there is no certificate either.
    async fn key(
        &self,
        certificate: bool,
        log: &mut dyn RunLog,
    ) -> Result<PrivateKey, BootstrapError> {
        let path = self.layout.key();
        let unusable = |source| BootstrapError::Key {
            path: path.clone(),
            source,
        };
        if let Some(key) = local_identity::load_key(self.layout)? {
            return Ok(key);
        }
        if certificate {
            return Err(BootstrapError::KeyMissing {
                device: self.layout.certname.clone(),
                path,
            });
        }
        let kind = self.settings.certificates.key_type;
        log.info(format!("Creating a new key for {}", self.layout.certname));
        let key = tokio::task::spawn_blocking(move || PrivateKey::generate(kind))
            .await
            .map_err(|_| unusable(KeyError::Generate))?
            .map_err(unusable)?;
        device_file::write(&path, &key.to_pem(), FileMode::GroupReadable)?;
        Ok(key)
    }

    /// Renews a certificate that expires soon. If that fails, keeps it and logs a warning.
    async fn renew(
        &self,
        ready: TlsCredentials,
        key: &PrivateKey,
        log: &mut dyn RunLog,
    ) -> Result<TlsCredentials, BootstrapError> {
        let interval = self.settings.certificates.renewal_interval;
        let left = ready
            .certificate
            .not_after
            .duration_since(crate::clock::timestamp());
        let left = Duration::try_from(left).unwrap_or_default();
        if left >= interval {
            return Ok(ready);
        }
        let device = &self.layout.certname;
        let client = Client::new(
            &self.settings.http,
            self.settings.runinterval,
            &ready.trust,
            Some(&ready.identity),
        )?;
        let post = Request::post(
            "/puppet-ca/v1/certificate_renewal",
            "text/plain",
            "text/plain",
            "",
        );
        let renewed = match self.authority.send(&client, &post).await {
            Ok((_, answer)) if answer.is_success() => {
                let pem = answer.text();
                local_identity::validate_certificate(self.layout, &pem, key)
                    .ok()
                    .map(|certificate| (pem, certificate))
            }
            _ => None,
        };
        match renewed {
            Some((pem, certificate)) if certificate.not_after > ready.certificate.not_after => {
                device_file::write(&self.layout.certificate(), &pem, FileMode::WorldReadable)?;
                log.notice(format!(
                    "Renewed the certificate of {device}; it expires on {}",
                    certificate.not_after
                ));
                Ok(TlsCredentials {
                    identity: Identity {
                        certificate: pem,
                        key: key.to_der(),
                    },
                    certificate,
                    ..ready
                })
            }
            _ => {
                log.warning(format!(
                    "The certificate of {device} expires on {} (days left: {}), and the server does not renew it",
                    ready.certificate.not_after,
                    left.as_secs() / 86_400
                ));
                Ok(ready)
            }
        }
    }
}
