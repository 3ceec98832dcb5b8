//! Obtains a usable certificate for a device (`docs/reference/agent-protocol.md`, sections 5.1 and 8.2).
//!
//! Existing files are used; missing ones are downloaded or generated. A valid file is never
//! replaced by an invalid one. A new device sends its request and checks for the certificate at
//! once; it waits only for a request that is not signed yet.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use switchtender_devices::names::Certname;
use tokio_util::sync::CancellationToken;

use super::super::run_log::RunLog;
use super::authority::{BundleOrigin, CaError, CaFile, CertificateAuthority, Fetched};
use super::certificate_request::{self, CsrAttributes};
use super::key::{KeyError, PrivateKey};
use super::local_identity;
use crate::agent::ca::ssl_lock::{SslLock, SslLockError};
use crate::agent::certificate::{Certificate, ParseCertificateError};
use crate::agent::device_file::{self, FileError, FileMode};
use crate::agent::http::tls::{Identity, RevocationCheck, TlsError, Trust};
use crate::agent::http::{self, Client, Request, error_body};
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::{Server, Settings};
use crate::agent::revocation_lists::{RevocationListError, RevocationLists};
use crate::error_chain::chain;

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

/// A device has no usable certificate.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// The lock on the certificate directory is not available.
    #[error(transparent)]
    Locked(#[from] SslLockError),
    /// A file or directory of the device cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The CA bundle or the CRLs are not available.
    #[error(transparent)]
    Ca(#[from] CaError),
    /// The file of the CRLs does not exist.
    #[error("The CRL is missing from '{}'", .path.display())]
    CrlMissing {
        /// Expected file of the CRLs.
        path: PathBuf,
    },
    /// The stored CRLs cannot be used.
    #[error("cannot use the CRLs in {}", .path.display())]
    Crl {
        /// File of the CRLs.
        path: PathBuf,
        /// Error in the CRLs.
        #[source]
        source: RevocationListError,
    },
    /// A request for the certificate failed, or the server responded with an error status.
    #[error(transparent)]
    Server(#[from] http::RequestError),
    /// The CA bundle, the CRLs or the device's certificate cannot be used for TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The private key cannot be read or generated.
    #[error("cannot use the private key {}", .path.display())]
    Key {
        /// File of the private key.
        path: PathBuf,
        /// Reason why the key is unusable.
        #[source]
        source: KeyError,
    },
    /// The device has a certificate, but the file of its private key is missing.
    #[error("{device} has a certificate but no private key ({} is missing)", .path.display())]
    KeyMissing {
        /// Certname of the device.
        device: Certname,
        /// Expected file of the private key.
        path: PathBuf,
    },
    /// The certificate request cannot be created.
    #[error("cannot create a certificate request for {device}")]
    Request {
        /// Certname of the device.
        device: Certname,
        /// Error in the request or in `csr_attributes.yaml`.
        #[source]
        source: certificate_request::CsrError,
    },
    /// The CA rejected the certificate request with status 400.
    #[error("{device}: {server} rejected the certificate request: {message}")]
    Refused {
        /// Certname of the device.
        device: Certname,
        /// Server that rejected the request.
        server: Server,
        /// Message in the response of the server.
        message: String,
    },
    /// The CA has not signed the certificate request.
    #[error("Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate ({device}).{}", .waited.map_or_else(|| " Exiting; no certificate found and waitforcert is disabled".to_owned(), |waited| format!(" Exiting; no certificate after {} s (maxwaitforcert)", waited.as_secs())))]
    NotSigned {
        /// Certname of the device.
        device: Certname,
        /// SHA-256 of the request.
        fingerprint: String,
        /// Time spent waiting, up to `maxwaitforcert`; `None`: `waitforcert` is 0.
        waited: Option<Duration>,
    },
    /// The public key of the certificate does not belong to the device's private key.
    #[error("The certificate for 'CN={device}' does not match its private key")]
    Mismatch {
        /// Certname of the device.
        device: Certname,
    },
    /// The certificate or the CA bundle of the device is not valid PEM or X.509.
    #[error("cannot use the certificate {}", .path.display())]
    Unreadable {
        /// File of the certificate or of the CA bundle.
        path: PathBuf,
        /// Error in the certificate.
        #[source]
        source: ParseCertificateError,
    },
    /// Neither the common name nor an alternative name of the certificate is the certname.
    #[error("the certificate in {} is for {names}, not for {device}", .path.display())]
    WrongName {
        /// Certname of the device.
        device: Certname,
        /// File of the certificate.
        path: PathBuf,
        /// Common name and alternative names of the certificate, separated by commas.
        names: String,
    },
    /// The certificate of the device has expired.
    #[error("the certificate of {device} expired on {on}")]
    Expired {
        /// Certname of the device.
        device: Certname,
        /// End of the validity of the certificate.
        on: Timestamp,
    },
    /// The run was canceled during the wait for a signature.
    #[error("stopped while waiting for the certificate of {device}")]
    Stopped {
        /// Certname of the device.
        device: Certname,
    },
}

impl BootstrapError {
    /// The next step for the user.
    pub fn hint(&self) -> Option<String> {
        let renew = |device: &Certname| {
            format!(
                "on the server: `puppetserver ca clean --certname {device}`; here: `switchtender cert clean {device}`; the next run requests a new one"
            )
        };
        match self {
            BootstrapError::Server(error) => error.hint(),
            BootstrapError::Ca(CaError::Request(error)) => error.hint(),
            BootstrapError::Ca(CaError::NoCrl { .. }) => Some(
                "check puppetserver.log and any proxy; `certificate_revocation = false` disables the check"
                    .to_owned(),
            ),
            BootstrapError::CrlMissing { path } | BootstrapError::Crl { path, .. } => Some(format!(
                "start a run: it downloads {}; `certificate_revocation = false` disables the check",
                path.display()
            )),
            BootstrapError::Ca(CaError::Fingerprint { .. }) => {
                Some("verify the server; if the CA was recreated, update ca_fingerprint".to_owned())
            }
            BootstrapError::NotSigned {
                device,
                fingerprint,
                ..
            } => Some(format!(
                "compare the SHA-256 of the request ({fingerprint}), then sign it: `puppetserver ca sign --certname {device}`"
            )),
            BootstrapError::Mismatch { device }
            | BootstrapError::KeyMissing { device, .. }
            | BootstrapError::Expired { device, .. } => Some(renew(device)),
            BootstrapError::WrongName { path, .. } | BootstrapError::Unreadable { path, .. } => {
                Some(format!(
                    "remove {} or replace it with the certificate of the device",
                    path.display()
                ))
            }
            BootstrapError::Refused { device, .. } => Some(renew(device)),
            BootstrapError::Key {
                path,
                source: KeyError::Encrypted,
            } => Some(format!(
                "remove the pass phrase: `openssl rsa -in {0} -out {0}` or `openssl ec …`",
                path.display()
            )),
            _ => None,
        }
    }
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
    /// Cancels the wait for a signed certificate.
    pub stop: &'a CancellationToken,
}

impl Bootstrap<'_> {
    /// Completes the files of the device; waits for a signature if `waitforcert` is set.
    ///
    /// # Cancellation
    /// `stop` ends the wait; may also be dropped at any time.
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
        let known = device_file::read(&self.layout.certificate())?;
        let key = self.key(known.is_some(), log).await?;
        let pem = match known {
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

    async fn bundle(&self, log: &mut dyn RunLog) -> Result<String, BootstrapError> {
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
    async fn refresh(
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
    async fn revocation(
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

    /// Requests a certificate and waits for it.
    async fn obtain(
        &self,
        key: &PrivateKey,
        trust: &Trust,
        log: &mut dyn RunLog,
    ) -> Result<String, BootstrapError> {
        let device = &self.layout.certname;
        let client = Client::new(&self.settings.http, self.settings.runinterval, trust, None)?;
        let csr = self.csr(key)?;
        let fingerprint =
            certificate_request::fingerprint(&csr).expect("the request was just created");
        let server = self.submit(&client, &csr, &fingerprint, log).await?;
        let pem = self.wait(&client, &server, &fingerprint, log).await?;
        // Only a certificate for this key is stored: the next run may get another one.
        local_identity::validate_certificate(self.layout, &pem, key)?;
        device_file::write(&self.layout.certificate(), &pem, FileMode::WorldReadable)?;
        device_file::remove(&self.layout.request())?;
        log.notice(format!("Downloaded certificate for {device}"));
        Ok(pem)
    }

    /// The pending request, so that its fingerprint stays; otherwise a new one.
    fn csr(&self, key: &PrivateKey) -> Result<String, BootstrapError> {
        let failed = |source| BootstrapError::Request {
            device: self.layout.certname.clone(),
            source,
        };
        if let Some(pending) = device_file::read(&self.layout.request())?
            && certificate_request::fingerprint(&pending).is_some()
        {
            return Ok(pending);
        }
        let attributes = CsrAttributes::read(&self.layout.csr_attributes()).map_err(failed)?;
        let certificates = &self.settings.certificates;
        let csr = certificate_request::create(
            &self.layout.certname,
            key,
            &certificates.dns_alt_names,
            &attributes,
            !certificates.renewal_interval.is_zero(),
        )
        .map_err(failed)?;
        device_file::write(&self.layout.request(), &csr, FileMode::WorldReadable)?;
        Ok(csr)
    }

    async fn submit(
        &self,
        client: &Client,
        csr: &str,
        fingerprint: &str,
        log: &mut dyn RunLog,
    ) -> Result<Server, BootstrapError> {
        let device = &self.layout.certname;
        let target = format!(
            "/puppet-ca/v1/certificate_request/{}",
            http::target::encode(device)
        );
        let put = Request::put(target, "text/plain", "text/plain", csr);
        let (server, answer) = self.authority.send(client, &put).await?;
        match answer.status {
            200..300 => log.notice(format!(
                "Certificate request for {device} sent to {server}, SHA-256 {fingerprint}"
            )),
            400 => match Rejection::parse(&error_body::message(&answer.body)) {
                // An existing certificate for this key is as good as a new one.
                Rejection::AlreadyExists(message) => log.info(message),
                Rejection::Other(message) => {
                    return Err(BootstrapError::Refused {
                        device: device.clone(),
                        server,
                        message,
                    });
                }
            },
            _ => return Err(answer.to_error().into()),
        }
        Ok(server)
    }

    async fn wait(
        &self,
        client: &Client,
        server: &Server,
        fingerprint: &str,
        log: &mut dyn RunLog,
    ) -> Result<String, BootstrapError> {
        let device = &self.layout.certname;
        let settings = &self.settings.certificates;
        let not_signed = |waited| BootstrapError::NotSigned {
            device: device.clone(),
            fingerprint: fingerprint.to_owned(),
            waited,
        };
        let target = format!("/puppet-ca/v1/certificate/{}", http::target::encode(device));
        let mut waited = Duration::ZERO;
        loop {
            let answer = client
                .send(server, &Request::get(target.as_str(), "text/plain"))
                .await?;
            if answer.status != 404 {
                return Ok(answer.expect_success()?.text());
            }
            if settings.waitforcert.is_zero() {
                return Err(not_signed(None));
            }
            if settings.maxwaitforcert.is_some_and(|limit| waited >= limit) {
                return Err(not_signed(Some(waited)));
            }
            if waited.is_zero() {
                log.notice(format!(
                    "Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate ({device}). SHA-256 of the request: {fingerprint}"
                ));
            } else {
                log.notice(format!(
                    "the certificate of {device} is not signed after {} s; SHA-256 of the request: {fingerprint}",
                    waited.as_secs()
                ));
            }
            let left = settings.maxwaitforcert.map(|limit| limit - waited);
            let pause = left.map_or(settings.waitforcert, |left| settings.waitforcert.min(left));
            tokio::select! {
                () = self.stop.cancelled() => {
                    return Err(BootstrapError::Stopped { device: device.clone() });
                }
                () = tokio::time::sleep(pause) => {}
            }
            waited += pause;
        }
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
                    "The certificate of {device} expires in {} days, on {}, and the server does not renew it",
                    left.as_secs() / 86_400,
                    ready.certificate.not_after
                ));
                Ok(ready)
            }
        }
    }
}

/// A certificate request that the CA rejected with status 400.
enum Rejection {
    /// The CA has a request or a certificate with this certname.
    AlreadyExists(String),
    Other(String),
}

impl Rejection {
    /// The CA has no code for the cause, only this text.
    fn parse(message: &str) -> Self {
        if message.contains("already has a") {
            Self::AlreadyExists(message.to_owned())
        } else {
            Self::Other(message.to_owned())
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
