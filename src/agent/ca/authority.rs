//! The CA as all devices of the proxy see it: its bundle and CRLs are learned once.
//!
//! The first contact cannot be verified. It happens once per proxy, not once per device, and only
//! where neither the proxy's own agent nor an earlier run has left a bundle.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::super::http::{Answer, Client, Request, RequestError};
use crate::agent::certificate::{Certificate, fingerprint};
use crate::agent::http::tls::Trust;
use crate::agent::layout::{self, FileError, Readers};
use crate::agent::puppet_conf::{Server, Settings};

/// The CA of this proxy.
#[derive(Debug)]
pub struct Authority {
    settings: Arc<Settings>,
    /// What was asked in this process, by what it was asked for, with its outcome: a server that
    /// is away is not asked again for each device.
    asked: Mutex<BTreeMap<String, Result<Fetched, AuthorityError>>>,
}

/// What the CA sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    New(String),
    /// 304
    Unchanged,
}

/// Why the CA's bundle or CRLs could not be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error(transparent)]
    Request(Arc<RequestError>),
    #[error("CA certificate is missing from the server")]
    Missing,
    #[error("the CA bundle of {server} has the SHA-256 fingerprint {found}, not {expected}")]
    Fingerprint {
        server: Server,
        expected: String,
        found: String,
    },
    #[error("what {server} sent as CA bundle is not usable: {why}")]
    NoBundle { server: Server, why: String },
    #[error("cannot keep the CA bundle")]
    File(#[source] Arc<FileError>),
    #[error("certificates that are at hand cannot be used")]
    Tls(#[source] Arc<crate::agent::http::tls::TlsError>),
}

impl Authority {
    pub fn new(settings: &Arc<Settings>) -> Self {
        Self {
            settings: Arc::clone(settings),
            asked: Mutex::default(),
        }
    }

    /// Servers to ask about certificates, in order.
    fn servers(&self) -> Vec<Server> {
        match &self.settings.ca_server {
            Some(server) => vec![server.clone()],
            None if self.settings.server_list.is_empty() => vec![self.settings.server.clone()],
            None => self.settings.server_list.clone(),
        }
    }

    /// The bundle for a device that has none: the proxy's own, an earlier one, or the first
    /// contact. Says where it is from.
    pub async fn bundle(&self) -> Result<(String, BundleOrigin), AuthorityError> {
        let file = |error| AuthorityError::File(Arc::new(error));
        let own = self.settings.ssldir.join("certs").join("ca.pem");
        for path in [own, self.kept()] {
            let Some(text) = layout::read(&path).map_err(file)? else {
                continue;
            };
            if Certificate::bundle(&text).is_ok() {
                self.check_fingerprint(&text)?;
                return Ok((text, BundleOrigin::File(path)));
            }
        }
        let mut asked = self.asked.lock().await;
        if let Some(outcome) = asked.get("bundle") {
            return match outcome.clone()? {
                Fetched::New(text) => Ok((text, BundleOrigin::Shared)),
                Fetched::Unchanged => Err(AuthorityError::Missing),
            };
        }
        let outcome = self.first_contact().await;
        if let Ok(text) = &outcome {
            layout::write(&self.kept(), text, Readers::Everyone).map_err(file)?;
        }
        asked.insert("bundle".to_owned(), outcome.clone().map(Fetched::New));
        outcome.map(|text| (text, BundleOrigin::FirstContact))
    }

    /// Where the first contact's bundle is kept.
    fn kept(&self) -> PathBuf {
        self.settings.vardir.join("switchtender").join("ca.pem")
    }

    async fn first_contact(&self) -> Result<String, AuthorityError> {
        let client = self.client(&Trust::FirstContact)?;
        let request = Request::get("/puppet-ca/v1/certificate/ca", "text/plain");
        let (server, answer) = self.ask(&client, &request).await.map_err(request_error)?;
        if answer.status == 404 {
            return Err(AuthorityError::Missing);
        }
        let text = answer.expect_success().map_err(request_error)?.text();
        Certificate::bundle(&text).map_err(|error| AuthorityError::NoBundle {
            server: server.clone(),
            why: error.to_string(),
        })?;
        self.check_fingerprint(&text)?;
        Ok(text)
    }

    fn check_fingerprint(&self, bundle: &str) -> Result<(), AuthorityError> {
        let Some(expected) = &self.settings.certificates.ca_fingerprint else {
            return Ok(());
        };
        let found = fingerprint(bundle.as_bytes());
        if found.replace(':', "").eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        Err(AuthorityError::Fingerprint {
            server: self.servers().remove(0),
            expected: expected.clone(),
            found,
        })
    }

    /// A newer bundle or newer CRLs than those of `since` (an HTTP date), verified by `ca`; asked
    /// for once per process and bundle.
    pub async fn fetch(
        &self,
        what: Listed,
        ca: &str,
        since: Option<&str>,
    ) -> Result<Fetched, AuthorityError> {
        let key = format!(
            "{what:?} {} {}",
            fingerprint(ca.as_bytes()),
            since.is_some()
        );
        let mut asked = self.asked.lock().await;
        if let Some(outcome) = asked.get(&key) {
            return outcome.clone();
        }
        let outcome = self.fetch_now(what, ca, since).await;
        asked.insert(key, outcome.clone());
        outcome
    }

    async fn fetch_now(
        &self,
        what: Listed,
        ca: &str,
        since: Option<&str>,
    ) -> Result<Fetched, AuthorityError> {
        let client = self.client(&Trust::Bundle {
            ca: ca.to_owned(),
            crl: None,
            revocation: crate::agent::puppet_conf::Revocation::Off,
        })?;
        let target = match what {
            Listed::Bundle => "/puppet-ca/v1/certificate/ca",
            Listed::Revoked => "/puppet-ca/v1/certificate_revocation_list/ca",
        };
        let mut request = Request::get(target, "text/plain");
        request.if_modified_since = since.map(str::to_owned);
        let (server, answer) = self.ask(&client, &request).await.map_err(request_error)?;
        if answer.status == 304 {
            return Ok(Fetched::Unchanged);
        }
        let text = answer.expect_success().map_err(request_error)?.text();
        if what == Listed::Bundle {
            Certificate::bundle(&text).map_err(|error| AuthorityError::NoBundle {
                server,
                why: error.to_string(),
            })?;
        }
        Ok(Fetched::New(text))
    }

    /// Asks the first server that answers at all.
    pub(super) async fn ask(
        &self,
        client: &Client,
        request: &Request,
    ) -> Result<(Server, Answer), RequestError> {
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

    fn client(&self, trust: &Trust) -> Result<Client, AuthorityError> {
        let longest = self.settings.runinterval;
        Client::new(&self.settings.http, longest, trust, None)
            .map_err(|error| AuthorityError::Tls(Arc::new(error)))
    }
}

fn request_error(error: RequestError) -> AuthorityError {
    AuthorityError::Request(Arc::new(error))
}

/// What the CA lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    Bundle,
    Revoked,
}

/// Where a bundle is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleOrigin {
    File(PathBuf),
    /// Another device of this process has fetched it.
    Shared,
    /// Nobody has vouched for it.
    FirstContact,
}
