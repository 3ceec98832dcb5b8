//! From whatever a device has to a certificate that can be used (`docs/reference/agent-protocol.md`,
//! sections 5.1 and 8.2).
//!
//! What is there is used, what is missing is fetched or made, and nothing that is there is ever
//! replaced by something that fits less. New devices request at once and look at once; only a
//! request that nobody has signed is waited for.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::super::http::{Client, Request};
use super::super::run_log::RunLog;
use super::authority::{Authority, AuthorityError, BundleOrigin, Fetched, Listed};
use super::certificate_request::{self, CsrAttributes};
use super::key::{Key, KeyError};
use super::local_identity;
use crate::agent::certificate::Certificate;
use crate::agent::http;
use crate::agent::http::tls::{Identity, TlsError, Trust};
use crate::agent::layout::{self, FileError, Layout, Readers, SslLock, SslLockError};
use crate::agent::puppet_conf::{Revocation, Server, Settings};

/// What a connection to the server needs.
#[derive(Clone, Debug)]
pub struct Ready {
    pub trust: Trust,
    pub identity: Identity,
    pub certificate: Certificate,
}

/// Why a device has no usable certificate.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Locked(#[from] SslLockError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    #[error(transparent)]
    Server(#[from] http::RequestError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot use the private key {}", .path.display())]
    Key {
        path: PathBuf,
        #[source]
        source: KeyError,
    },
    #[error("{device} has a certificate but no private key ({} is missing)", .path.display())]
    KeyMissing { device: String, path: PathBuf },
    #[error("no certificate can be requested for {device}")]
    Request {
        device: String,
        #[source]
        source: certificate_request::RequestError,
    },
    #[error("{device}: {server} does not take the certificate request: {said}")]
    Refused {
        device: String,
        server: Server,
        said: String,
    },
    #[error("Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate ({device}).{}", .waited.map_or_else(|| " Exiting; no certificate found and waitforcert is disabled".to_owned(), |waited| format!(" Exiting; no certificate after {} s (maxwaitforcert)", waited.as_secs())))]
    NotSigned {
        device: String,
        /// SHA-256 of the request.
        fingerprint: String,
        waited: Option<Duration>,
    },
    #[error("The certificate for 'CN={device}' does not match its private key")]
    Mismatch { device: String },
    #[error("{} is not a usable certificate: {why}", .path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("the certificate in {} is for {names}, not for {device}", .path.display())]
    WrongName {
        device: String,
        path: PathBuf,
        names: String,
    },
    #[error("the certificate of {device} has expired on {on}")]
    Expired { device: String, on: Timestamp },
    #[error("stopped while waiting for the certificate of {device}")]
    Stopped { device: String },
}

impl SetupError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let renew = |device: &str| {
            format!(
                "on the server: `puppetserver ca clean --certname {device}`; here: `switchtender cert clean {device}`; the next run requests a new one"
            )
        };
        match self {
            SetupError::Server(error) => error.hint(),
            SetupError::Authority(AuthorityError::Request(error)) => error.hint(),
            SetupError::Authority(AuthorityError::Fingerprint { .. }) => Some(
                "either the server is not yours, or the CA was made anew and ca_fingerprint must be changed".to_owned(),
            ),
            SetupError::NotSigned {
                device,
                fingerprint,
                ..
            } => Some(format!(
                "the request has SHA-256 {fingerprint}; sign it with `puppetserver ca sign --certname {device}`"
            )),
            SetupError::Mismatch { device }
            | SetupError::KeyMissing { device, .. }
            | SetupError::Expired { device, .. } => Some(renew(device)),
            SetupError::WrongName { path, .. } | SetupError::Unreadable { path, .. } => {
                Some(format!("move {} away, or put the right one there", path.display()))
            }
            SetupError::Refused { device, .. } => Some(renew(device)),
            SetupError::Key {
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

/// The set-up of one device.
#[derive(Debug)]
pub struct Setup<'a> {
    pub settings: &'a Settings,
    pub layout: &'a Layout,
    pub authority: &'a Authority,
    pub stop: &'a CancellationToken,
}

impl Setup<'_> {
    /// Does what is missing, and waits for a signature if the settings say so.
    ///
    /// # Cancellation
    /// `stop` ends the waiting; may also be dropped at any time.
    pub async fn run(&self, log: &mut dyn RunLog) -> Result<Ready, SetupError> {
        self.layout.link()?;
        let _lock = SslLock::take(self.layout)?;
        let mut ca = self.bundle(log).await?;
        let mut refreshed = false;
        if let Some(newer) = self.refresh(Listed::Bundle, &ca, log).await {
            layout::write(&self.layout.ca(), &newer, Readers::Everyone)?;
            refreshed = newer != ca;
            ca = newer;
        }
        let crl = self.crls(&ca, refreshed, log).await?;
        let trust = Trust::Bundle {
            ca,
            crl,
            revocation: self.settings.certificates.revocation,
        };
        let known = layout::read(&self.layout.certificate())?;
        let key = self.key(known.is_some(), log).await?;
        let pem = match known {
            Some(pem) => pem,
            None => self.obtain(&key, &trust, log).await?,
        };
        let certificate = local_identity::fitting(self.layout, &pem, &key)?;
        let ready = Ready {
            trust,
            identity: Identity {
                certificate: pem,
                key: key.to_der(),
            },
            certificate,
        };
        self.renew(ready, &key, log).await
    }

    async fn bundle(&self, log: &mut dyn RunLog) -> Result<String, SetupError> {
        let path = self.layout.ca();
        if let Some(text) = layout::read(&path)? {
            local_identity::bundle(self.layout, &text)?;
            return Ok(text);
        }
        let (text, origin) = self.authority.bundle().await?;
        let digest = crate::agent::certificate::fingerprint(text.as_bytes());
        match origin {
            BundleOrigin::File(from) => {
                log.info(format!("Using the CA bundle of {}", from.display()));
            }
            BundleOrigin::Shared => {}
            BundleOrigin::FirstContact if self.settings.certificates.ca_fingerprint.is_some() => {
                log.notice(format!("CA bundle fetched, SHA-256 {digest} as configured"));
            }
            BundleOrigin::FirstContact => log.warning(format!(
                "CA bundle fetched and trusted on first contact, SHA-256 {digest}; set ca_fingerprint to check it"
            )),
        }
        layout::write(&path, &text, Readers::Everyone)?;
        Ok(text)
    }

    /// What the CA has newer than our file, if it is time to ask. A failure is only told.
    async fn refresh(&self, what: Listed, ca: &str, log: &mut dyn RunLog) -> Option<String> {
        let (path, interval) = match what {
            Listed::Bundle => (
                self.layout.ca(),
                self.settings.certificates.ca_refresh_interval,
            ),
            Listed::Revoked => (
                self.layout.crl(),
                self.settings.certificates.crl_refresh_interval,
            ),
        };
        let modified = std::fs::metadata(&path).ok()?.modified().ok()?;
        let age = now().duration_since(modified).unwrap_or_default();
        if age < interval {
            return None;
        }
        let fetched = self
            .authority
            .fetch(what, ca, http_date(modified).as_deref())
            .await;
        match fetched {
            Ok(Fetched::New(text)) => Some(text),
            Ok(Fetched::Unchanged) => {
                touch(&path);
                None
            }
            Err(error) => {
                log.info(format!(
                    "Failed to refresh {}: {}",
                    path.display(),
                    crate::error_chain::chain(&error)
                ));
                None
            }
        }
    }

    async fn crls(
        &self,
        ca: &str,
        new_bundle: bool,
        log: &mut dyn RunLog,
    ) -> Result<Option<String>, SetupError> {
        if self.settings.certificates.revocation == Revocation::Off {
            return Ok(None);
        }
        let path = self.layout.crl();
        let newer = match layout::read(&path)? {
            Some(known) if !new_bundle => match self.refresh(Listed::Revoked, ca, log).await {
                None => return Ok(Some(known)),
                Some(newer) => newer,
            },
            _ => match self.authority.fetch(Listed::Revoked, ca, None).await? {
                Fetched::New(text) => text,
                Fetched::Unchanged => return Ok(None),
            },
        };
        layout::write(&path, &newer, Readers::Everyone)?;
        Ok(Some(newer))
    }

    /// The key that is there; a new one only where there is no certificate either.
    async fn key(&self, certificate: bool, log: &mut dyn RunLog) -> Result<Key, SetupError> {
        let path = self.layout.key();
        let unusable = |source| SetupError::Key {
            path: path.clone(),
            source,
        };
        if let Some(key) = local_identity::key(self.layout)? {
            return Ok(key);
        }
        if certificate {
            return Err(SetupError::KeyMissing {
                device: self.layout.certname.clone(),
                path,
            });
        }
        let kind = self.settings.certificates.key_type;
        log.info(format!("Creating a new key for {}", self.layout.certname));
        let key = tokio::task::spawn_blocking(move || Key::generate(kind))
            .await
            .map_err(|_| unusable(KeyError::Generate))?
            .map_err(unusable)?;
        layout::write(&path, &key.to_pem(), Readers::Group)?;
        Ok(key)
    }

    /// Requests a certificate and waits for it.
    async fn obtain(
        &self,
        key: &Key,
        trust: &Trust,
        log: &mut dyn RunLog,
    ) -> Result<String, SetupError> {
        let device = &self.layout.certname;
        let client = Client::new(&self.settings.http, self.settings.runinterval, trust, None)?;
        let csr = self.csr(key)?;
        let fingerprint = certificate_request::fingerprint(&csr).expect("it was made a moment ago");
        let server = self.submit(&client, &csr, &fingerprint, log).await?;
        let pem = self.wait(&client, &server, &fingerprint, log).await?;
        // What does not fit the key is not kept: the next run may get another.
        local_identity::fitting(self.layout, &pem, key)?;
        layout::write(&self.layout.certificate(), &pem, Readers::Everyone)?;
        layout::remove(&self.layout.request())?;
        log.notice(format!("Downloaded certificate for {device}"));
        Ok(pem)
    }

    /// A request that is pending is sent again as it was, so that its fingerprint stays.
    fn csr(&self, key: &Key) -> Result<String, SetupError> {
        let failed = |source| SetupError::Request {
            device: self.layout.certname.clone(),
            source,
        };
        if let Some(pending) = layout::read(&self.layout.request())?
            && certificate_request::fingerprint(&pending).is_some()
        {
            return Ok(pending);
        }
        let attributes = CsrAttributes::read(&self.layout.csr_attributes()).map_err(failed)?;
        let certificates = &self.settings.certificates;
        let csr = certificate_request::request(
            &self.layout.certname,
            key,
            &certificates.dns_alt_names,
            &attributes,
            !certificates.renewal_interval.is_zero(),
        )
        .map_err(failed)?;
        layout::write(&self.layout.request(), &csr, Readers::Everyone)?;
        Ok(csr)
    }

    async fn submit(
        &self,
        client: &Client,
        csr: &str,
        fingerprint: &str,
        log: &mut dyn RunLog,
    ) -> Result<Server, SetupError> {
        let device = &self.layout.certname;
        let target = format!(
            "/puppet-ca/v1/certificate_request/{}",
            http::target::encode(device)
        );
        let put = Request::put(target, "text/plain", "text/plain", csr);
        let (server, answer) = self.authority.ask(client, &put).await?;
        match answer.status {
            200..300 => log.notice(format!(
                "Certificate request for {device} sent to {server}, SHA-256 {fingerprint}"
            )),
            400 => {
                let said = crate::agent::http::error_body::message(&answer.body);
                // The CA knows the name already. What it has decides: a certificate that fits the
                // key is as good as a new one.
                if !said.contains("already has a") {
                    return Err(SetupError::Refused {
                        device: device.clone(),
                        server,
                        said,
                    });
                }
                log.info(said);
            }
            _ => return Err(answer.refused().into()),
        }
        Ok(server)
    }

    async fn wait(
        &self,
        client: &Client,
        server: &Server,
        fingerprint: &str,
        log: &mut dyn RunLog,
    ) -> Result<String, SetupError> {
        let device = &self.layout.certname;
        let settings = &self.settings.certificates;
        let not_signed = |waited| SetupError::NotSigned {
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
            }
            let left = settings.maxwaitforcert.map(|limit| limit - waited);
            let pause = left.map_or(settings.waitforcert, |left| settings.waitforcert.min(left));
            tokio::select! {
                () = self.stop.cancelled() => {
                    return Err(SetupError::Stopped { device: device.clone() });
                }
                () = tokio::time::sleep(pause) => {}
            }
            waited += pause;
        }
    }

    /// Asks for a new certificate when the old one ends soon; without one goes on with the old.
    async fn renew(
        &self,
        ready: Ready,
        key: &Key,
        log: &mut dyn RunLog,
    ) -> Result<Ready, SetupError> {
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
        let renewed = match self.authority.ask(&client, &post).await {
            Ok((_, answer)) if answer.success() => {
                let pem = answer.text();
                local_identity::fitting(self.layout, &pem, key)
                    .ok()
                    .map(|certificate| (pem, certificate))
            }
            _ => None,
        };
        match renewed {
            Some((pem, certificate)) if certificate.not_after > ready.certificate.not_after => {
                layout::write(&self.layout.certificate(), &pem, Readers::Everyone)?;
                log.notice(format!(
                    "Renewed the certificate of {device}; it ends on {}",
                    certificate.not_after
                ));
                Ok(Ready {
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
                    "The certificate of {device} ends in {} days, on {}, and the server does not renew it",
                    left.as_secs() / 86_400,
                    ready.certificate.not_after
                ));
                Ok(ready)
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

/// Marks a file as looked at now; if that fails, it is looked at again.
fn touch(path: &Path) {
    let _ = std::fs::File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(now()));
}
