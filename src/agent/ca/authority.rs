//! The certificate authority: its bundle and CRLs, downloaded once for all devices.
//!
//! The first contact cannot be verified. It happens once per proxy host, and only if neither the
//! agent of the proxy host nor an earlier run has stored a bundle.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::super::http::{self, Client, Request, RequestError, Response};
use crate::agent::certificate::{Certificate, ParseCertificateError, fingerprint};
use crate::agent::device_file::{self, FileError, FileMode};
use crate::agent::http::tls::{RevocationCheck, Trust};
use crate::agent::puppet_conf::{Server, Settings};
use crate::agent::revocation_lists::{RevocationListError, RevocationLists};

/// The certificate authority of this proxy host.
#[derive(Debug)]
pub struct CertificateAuthority {
    settings: Arc<Settings>,
    /// Results of the downloads of this process by request, failures included.
    downloads: Mutex<BTreeMap<String, Result<Fetched, CaError>>>,
}

/// The result of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fetched {
    New(String),
    /// Status 304.
    NotModified,
}

/// The CA bundle or the CRLs are not available.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CaError {
    /// A request to the CA failed, or its response was an error.
    #[error(transparent)]
    Request(Arc<RequestError>),
    /// The server has no CA certificate: it responded with status 404.
    #[error("CA certificate is missing from the server")]
    Missing,
    /// The bundle does not match the `ca_fingerprint` setting.
    #[error("the CA bundle of {server} has the SHA-256 fingerprint {found}, not {expected}")]
    Fingerprint {
        /// First configured server for certificates.
        server: Server,
        /// Value of `ca_fingerprint`: SHA-256 in lower-case hex without colons.
        expected: String,
        /// SHA-256 of the bundle in upper-case hex with colons.
        found: String,
    },
    /// The response of the server contains no valid CA bundle.
    #[error("cannot use the CA bundle from {server}")]
    NoBundle {
        /// Server that sent the response.
        server: Server,
        /// Error in a certificate of the bundle, or a bundle without certificates.
        #[source]
        source: ParseCertificateError,
    },
    /// The response of the server contains no valid CRLs.
    #[error("cannot use the CRLs from {server}")]
    NoCrl {
        /// Server that sent the response.
        server: Server,
        /// Error in a CRL, or a text without CRLs.
        #[source]
        source: RevocationListError,
    },
    /// A file of the CA bundle cannot be read or written.
    #[error("cannot store the CA bundle")]
    File(#[source] Arc<FileError>),
    /// The TLS configuration for requests to the CA cannot be built.
    #[error("cannot use the local certificates")]
    Tls(#[source] Arc<switchtender_devices::http::ClientSettingsError>),
}

impl CertificateAuthority {
    /// Creates the authority without any network or file access.
    pub fn new(settings: &Arc<Settings>) -> Self {
        Self {
            settings: Arc::clone(settings),
            downloads: Mutex::default(),
        }
    }

    /// The servers for certificates, in order.
    fn servers(&self) -> Vec<Server> {
        match &self.settings.ca_server {
            Some(server) => vec![server.clone()],
            None if self.settings.server_list.is_empty() => vec![self.settings.server.clone()],
            None => self.settings.server_list.clone(),
        }
    }

    /// The bundle for a new device, with its origin: from the proxy host, from an earlier run, or
    /// from the first contact.
    pub(crate) async fn bundle(&self) -> Result<(String, BundleOrigin), CaError> {
        let file = |error| CaError::File(Arc::new(error));
        let own = self.settings.ssldir.join("certs").join("ca.pem");
        for path in [own, self.bundle_path()] {
            let Some(text) = device_file::read(&path).map_err(file)? else {
                continue;
            };
            if Certificate::bundle(&text).is_ok() {
                self.check_fingerprint(&text)?;
                return Ok((text, BundleOrigin::File(path)));
            }
        }
        let mut downloads = self.downloads.lock().await;
        if let Some(outcome) = downloads.get("bundle") {
            return match outcome.clone()? {
                Fetched::New(text) => Ok((text, BundleOrigin::Shared)),
                Fetched::NotModified => Err(CaError::Missing),
            };
        }
        let outcome = self.first_contact().await;
        if let Ok(text) = &outcome {
            device_file::write(&self.bundle_path(), text, FileMode::WorldReadable).map_err(file)?;
        }
        downloads.insert("bundle".to_owned(), outcome.clone().map(Fetched::New));
        outcome.map(|text| (text, BundleOrigin::FirstContact))
    }

    /// The file of the bundle from the first contact.
    fn bundle_path(&self) -> PathBuf {
        self.settings.vardir.join("switchtender").join("ca.pem")
    }

    async fn first_contact(&self) -> Result<String, CaError> {
        let client = self.client(&Trust::FirstContact)?;
        let request = Request::get("/puppet-ca/v1/certificate/ca", "text/plain");
        let (server, answer) = self.send(&client, &request).await.map_err(request_error)?;
        if answer.status == 404 {
            return Err(CaError::Missing);
        }
        let text = answer.expect_success().map_err(request_error)?.text();
        Certificate::bundle(&text).map_err(|source| CaError::NoBundle {
            server: server.clone(),
            source,
        })?;
        self.check_fingerprint(&text)?;
        Ok(text)
    }

    fn check_fingerprint(&self, bundle: &str) -> Result<(), CaError> {
        let Some(expected) = &self.settings.certificates.ca_fingerprint else {
            return Ok(());
        };
        let found = fingerprint(bundle.as_bytes());
        if found.replace(':', "").eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        Err(CaError::Fingerprint {
            server: self.servers().remove(0),
            expected: expected.clone(),
            found,
        })
    }

    /// Downloads the bundle or the CRLs if newer than `since` (an HTTP date), over a connection that
    /// `ca` and `revocation` verify. Downloads once per process and bundle.
    ///
    /// # Errors
    /// No server responds, or the response has no valid certificate or CRL.
    pub(crate) async fn fetch(
        &self,
        file: CaFile,
        ca: &str,
        revocation: Option<&RevocationCheck>,
        since: Option<&str>,
    ) -> Result<Fetched, CaError> {
        let crls = revocation.map_or("", |check| check.lists.pem());
        let key = format!(
            "{file:?} {} {} {}",
            fingerprint(ca.as_bytes()),
            fingerprint(crls.as_bytes()),
            since.is_some()
        );
        let mut downloads = self.downloads.lock().await;
        if let Some(outcome) = downloads.get(&key) {
            return outcome.clone();
        }
        let trust = Trust::Bundle {
            ca: ca.to_owned(),
            revocation: revocation.cloned(),
        };
        let outcome = self.fetch_now(file, ca, &trust, since).await;
        downloads.insert(key, outcome.clone());
        outcome
    }

    async fn fetch_now(
        &self,
        file: CaFile,
        ca: &str,
        trust: &Trust,
        since: Option<&str>,
    ) -> Result<Fetched, CaError> {
        let client = self.client(trust)?;
        let mut request = match file {
            CaFile::Bundle => Request::get("/puppet-ca/v1/certificate/ca", "text/plain"),
            CaFile::Crl => {
                Request::get("/puppet-ca/v1/certificate_revocation_list/ca", "text/plain")
                    .response_limit(http::CRL_LIMIT)
            }
        };
        request.if_modified_since = since.map(str::to_owned);
        let (server, answer) = self.send(&client, &request).await.map_err(request_error)?;
        if answer.status == 304 {
            return Ok(Fetched::NotModified);
        }
        let text = answer.expect_success().map_err(request_error)?.text();
        match file {
            CaFile::Bundle => {
                Certificate::bundle(&text)
                    .map_err(|source| CaError::NoBundle { server, source })?;
            }
            CaFile::Crl => {
                RevocationLists::parse(&text, ca, crate::clock::timestamp())
                    .map_err(|source| CaError::NoCrl { server, source })?;
            }
        }
        Ok(Fetched::New(text))
    }

    /// Sends the request to the first server that responds.
    pub(super) async fn send(
        &self,
        client: &Client,
        request: &Request,
    ) -> Result<(Server, Response), RequestError> {
        let mut failure = None;
        for server in self.servers() {
            match client.send(&server, request).await {
                Ok(answer) => return Ok((server, answer)),
                Err(error) if error.is_without_response() => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failure.expect("there is at least one server"))
    }

    fn client(&self, trust: &Trust) -> Result<Client, CaError> {
        let longest = self.settings.runinterval;
        Client::new(&self.settings.http, longest, trust, None)
            .map_err(|error| CaError::Tls(Arc::new(error)))
    }
}

fn request_error(error: RequestError) -> CaError {
    CaError::Request(Arc::new(error))
}

/// A file of the CA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaFile {
    Bundle,
    Crl,
}

/// The origin of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BundleOrigin {
    File(PathBuf),
    /// Downloaded for another device of this process.
    Shared,
    /// Downloaded over an unverified connection.
    FirstContact,
}
