//! The certificates that workers present. They count at the routes of workers only: pages and the API do not know them.
//!
//! The handshake accepts any certificate, or none, once its key is proven. What is wrong with it is the answer of a
//! request then: an alert of TLS has no reason, and is lost by some clients. A browser with a certificate of somebody
//! else still gets the pages.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, SignatureScheme};

use super::tls::ServerCertificate;
use crate::agent::certificate::Certificate;
use crate::clock;
use crate::serve::tls_files::{self, TlsFilesError};

/// Anybody can write long names into a certificate.
const LONGEST_REASON: usize = 300;

/// The CAs of `client_ca_file`.
#[derive(Debug)]
pub(crate) struct ClientAuthorities {
    verifier: Arc<dyn ClientCertVerifier>,
}

impl ClientAuthorities {
    /// # Errors
    /// The file has no certificate of a CA.
    pub(super) fn read(path: &Path) -> Result<Self, TlsFilesError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = tls_files::authorities(path)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
        let verifier = verifier.map_err(|_| TlsFilesError::NoAuthority {
            path: path.to_owned(),
        })?;
        Ok(Self { verifier })
    }
}

/// Asks each client for a certificate, and requires none.
#[derive(Debug)]
pub(super) struct AskForCertificate(pub(super) Arc<ClientAuthorities>);

impl ClientCertVerifier for AskForCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// Browsers ask their users about certificates of these CAs only.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.verifier.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let verifier = &self.0.verifier;
        verifier.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let verifier = &self.0.verifier;
        verifier.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.verifier.supported_verify_schemes()
    }
}

/// The certificate that the client of a connection has presented, not verified yet.
#[derive(Clone)]
pub(super) struct ClientCertificate {
    chain: Arc<[CertificateDer<'static>]>,
    server: Arc<ServerCertificate>,
}

impl ClientCertificate {
    pub(super) fn new(
        chain: &[CertificateDer<'static>],
        server: &Arc<ServerCertificate>,
    ) -> Option<Self> {
        (!chain.is_empty()).then(|| Self {
            chain: chain.into(),
            server: Arc::clone(server),
        })
    }

    /// The names that a CA of the clients has confirmed: DNS names, or the common name if there is none. They are
    /// verified at each request: a connection can outlive its certificate.
    ///
    /// # Errors
    /// Why the certificate is refused.
    pub(super) fn names(&self) -> Result<Vec<String>, String> {
        let (own, issuers) = self.chain.split_first().ok_or("there is none")?;
        let certificate = Certificate::from_der(own).map_err(|error| error.to_string())?;
        let clients = self
            .server
            .clients()
            .ok_or("the hub has no CA of clients")?;
        let seconds = u64::try_from(clock::timestamp().as_second()).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let names = certificate.worker_names();
        if names.is_empty() {
            return Err("it has no DNS name and no common name".to_owned());
        }
        let verified = clients.verifier.verify_client_cert(own, issuers, now);
        verified.map_err(|error| {
            let text = format!("{}: {}", names[0], reason(&error, &certificate));
            text.chars().take(LONGEST_REASON).collect::<String>()
        })?;
        Ok(names)
    }
}

fn reason(error: &rustls::Error, certificate: &Certificate) -> String {
    let rustls::Error::InvalidCertificate(error) = error else {
        return error.to_string();
    };
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            let (end, now) = (certificate.not_after, clock::timestamp());
            format!("it has expired at {end}, and the hub has {now:.0}")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            let (begin, now) = (certificate.not_before, clock::timestamp());
            format!("it is valid from {begin} on, and the hub has {now:.0}")
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            let issuer = &certificate.issuer;
            format!("its issuer `{issuer}` is not in `client_ca_file` of the hub")
        }
        other => other.to_string(),
    }
}
