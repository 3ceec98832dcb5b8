//! Verification of server certificates.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use reqwest::tls::TlsInfo;
use reqwest::{ClientBuilder, Response};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use sha2::{Digest, Sha256};

use crate::error_chain::chain;
use crate::regular_file;
use crate::session::FIRST_CONNECTION;
use crate::session::connect_params::TlsPolicy;
use crate::session::error::SessionErrorKind;
use crate::session::login_files::ca_certificates;

/// State of the verification of one server's certificate.
#[derive(Clone, Debug, Default)]
pub(super) struct CertificateCheck {
    /// The required fingerprint.
    desired: Option<String>,
    /// The fingerprint of the presented certificate, after the handshake.
    found: Arc<OnceLock<String>>,
    /// File for the fingerprint of the first connection.
    store: Option<PathBuf>,
    stored: Arc<OnceLock<()>>,
    pub(crate) is_enabled: bool,
}

/// Configures certificate verification of a client.
pub(super) fn configure(
    builder: ClientBuilder,
    policy: &TlsPolicy,
) -> Result<(ClientBuilder, CertificateCheck), SessionErrorKind> {
    install_provider();
    let mut check = CertificateCheck {
        is_enabled: true,
        ..CertificateCheck::default()
    };
    match policy {
        TlsPolicy::System | TlsPolicy::Disabled => return Ok((builder, check)),
        TlsPolicy::CaFile(path) => {
            let pem = regular_file::read(path, regular_file::LARGEST)
                .map_err(|error| file_error(path, error.to_string()))?;
            let failed = |reason: String| file_error(path, reason);
            let certificates = ca_certificates(&pem).map_err(|error| failed(error.to_string()))?;
            let certificates = certificates
                .iter()
                .map(|certificate| reqwest::Certificate::from_der(certificate))
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| failed(chain(&error)))?;
            return Ok((builder.tls_certs_only(certificates), check));
        }
        TlsPolicy::Fingerprint(fingerprint) => check.desired = Some(normalize(fingerprint)),
        TlsPolicy::TrustOnFirstUse(path) => {
            match regular_file::read_text(path, regular_file::LARGEST) {
                Ok(stored) => check.desired = Some(normalize(&stored)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    check.store = Some(path.clone());
                }
                Err(error) => return Err(file_error(path, error.to_string())),
            }
        }
        TlsPolicy::Ignore => check.is_enabled = false,
    }
    let verifier = FingerprintVerifier {
        check: check.clone(),
        provider: ring::default_provider(),
    };
    let config = ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok((builder.tls_backend_preconfigured(config), check))
}

/// The fingerprint of the certificate at `url`. The handshake is aborted, so no request is sent.
pub(super) async fn fetch_fingerprint(builder: ClientBuilder, url: &str) -> Option<String> {
    let reject_all = TlsPolicy::Fingerprint(String::new());
    let (builder, check) = configure(builder, &reject_all).ok()?;
    let client = builder.build().ok()?;
    let refused = client.head(url).send().await;
    debug_assert!(
        refused.is_err(),
        "an empty fingerprint matches no certificate"
    );
    check.found.get().cloned()
}

/// Installs the crypto provider of the process, once.
fn install_provider() {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have installed the same provider.
        let _ = ring::default_provider().install_default();
    }
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
fn with_colons(fingerprint: &str) -> String {
    let upper = fingerprint.to_ascii_uppercase();
    let pairs: Vec<&str> = (0..upper.len())
        .step_by(2)
        .map(|at| &upper[at..(at + 2).min(upper.len())])
        .collect();
    pairs.join(":")
}

impl CertificateCheck {
    /// Records the certificate of a connection that the verifier of the library has accepted.
    pub(crate) fn record(&self, response: &Response) {
        let info = response.extensions().get::<TlsInfo>();
        if let Some(certificate) = info.and_then(TlsInfo::peer_certificate) {
            self.found
                .get_or_init(|| hex::encode(Sha256::digest(certificate)));
        }
    }

    /// The fingerprint of the presented certificate.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        self.found.get().map(|found| with_colons(found))
    }

    /// The error if the certificate does not have the required fingerprint.
    pub(crate) fn mismatch(&self, address: &str) -> Option<SessionErrorKind> {
        let (desired, found) = (self.desired.as_ref()?, self.found.get()?);
        (desired != found).then(|| SessionErrorKind::CertificateFingerprint {
            address: address.to_owned(),
            desired: with_colons(desired),
            found: with_colons(found),
        })
    }

    /// Stores the fingerprint of the first connection. Returns a note for the user if it did.
    pub(crate) fn store_fingerprint(
        &self,
        address: &str,
    ) -> Result<Option<String>, SessionErrorKind> {
        let (Some(path), Some(found)) = (&self.store, self.found.get()) else {
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
        writeln!(file, "{found}").map_err(failed)?;
        Ok(Some(format!(
            "{FIRST_CONNECTION} {address}: stored the fingerprint of its certificate in {}: {found}",
            path.display()
        )))
    }
}

/// Verifies the fingerprint only. It still verifies the signatures of the handshake, which prove
/// that the server has the private key.
#[derive(Debug)]
struct FingerprintVerifier {
    check: CertificateCheck,
    provider: CryptoProvider,
}

impl ServerCertVerifier for FingerprintVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let digest = Sha256::digest(end_entity.as_ref());
        let fingerprint = hex::encode(digest);
        // All connections of a session must present the same certificate.
        let first = self.check.found.get_or_init(|| fingerprint.clone());
        let desired = self.check.desired.as_ref().or_else(|| {
            let storing = self.check.store.is_some();
            storing.then_some(first)
        });
        match desired {
            Some(desired) if *desired != fingerprint => Err(rustls::Error::InvalidCertificate(
                CertificateError::ApplicationVerificationFailure,
            )),
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
