//! Whether a server's certificate is to be trusted.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use reqwest::ClientBuilder;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use sha2::{Digest, Sha256};

use crate::session::connect_params::TlsPolicy;
use crate::session::error::SessionErrorKind;

/// What a connection has shown of the other side.
#[derive(Clone, Debug, Default)]
pub(super) struct CertificateCheck {
    /// The fingerprint that is required.
    wanted: Option<String>,
    /// The fingerprint that was found, once a handshake has shown it.
    found: Arc<OnceLock<String>>,
    /// Where the first fingerprint is to be stored.
    store: Option<PathBuf>,
    stored: Arc<OnceLock<()>>,
    pub is_enabled: bool,
}

/// Arms a client with a policy.
pub(super) fn configure(
    builder: ClientBuilder,
    policy: &TlsPolicy,
) -> Result<(ClientBuilder, CertificateCheck), SessionErrorKind> {
    install_provider();
    let mut trust = CertificateCheck {
        is_enabled: true,
        ..CertificateCheck::default()
    };
    match policy {
        TlsPolicy::System => return Ok((builder, trust)),
        TlsPolicy::CaFile(path) => {
            let pem = std::fs::read(path).map_err(|error| file_error(path, error.to_string()))?;
            let anchors = reqwest::Certificate::from_pem_bundle(&pem)
                .map_err(|error| file_error(path, super::request_error::chain(&error)))?;
            if anchors.is_empty() {
                return Err(file_error(path, "it has no certificate in it".to_owned()));
            }
            return Ok((builder.tls_certs_only(anchors), trust));
        }
        TlsPolicy::Fingerprint(fingerprint) => trust.wanted = Some(normalize(fingerprint)),
        TlsPolicy::TrustOnFirstUse(path) => match std::fs::read_to_string(path) {
            Ok(stored) => trust.wanted = Some(normalize(&stored)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                trust.store = Some(path.clone());
            }
            Err(error) => return Err(file_error(path, error.to_string())),
        },
        TlsPolicy::Ignore => trust.is_enabled = false,
    }
    let verifier = FingerprintVerifier {
        trust: trust.clone(),
        provider: ring::default_provider(),
    };
    let config = ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok((builder.tls_backend_preconfigured(config), trust))
}

/// The fingerprint of the certificate that is shown at `url`; nothing is sent there, for the
/// handshake is broken off.
pub(super) async fn fetch_fingerprint(builder: ClientBuilder, url: &str) -> Option<String> {
    let nobody = TlsPolicy::Fingerprint(String::new());
    let (builder, trust) = configure(builder, &nobody).ok()?;
    let client = builder.build().ok()?;
    let refused = client.head(url).send().await;
    debug_assert!(refused.is_err(), "no certificate has an empty fingerprint");
    trust.found.get().cloned()
}

/// One provider of cryptography for the process; whoever comes first installs it.
fn install_provider() {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have been faster, with the same one.
        let _ = ring::default_provider().install_default();
    }
}

fn file_error(path: &Path, why: String) -> SessionErrorKind {
    SessionErrorKind::File {
        what: "cannot use",
        path: path.to_owned(),
        why,
    }
}

/// Fingerprints compare without colons and case.
fn normalize(fingerprint: &str) -> String {
    fingerprint
        .chars()
        .filter(char::is_ascii_hexdigit)
        .collect::<String>()
        .to_ascii_lowercase()
}

impl CertificateCheck {
    /// The refusal, when the certificate was not the wanted one.
    pub fn mismatch(&self, address: &str) -> Option<SessionErrorKind> {
        let (wanted, found) = (self.wanted.as_ref()?, self.found.get()?);
        (wanted != found).then(|| SessionErrorKind::CertificateFingerprint {
            address: address.to_owned(),
            wanted: wanted.clone(),
            found: found.clone(),
        })
    }

    /// Stores the first fingerprint; a note for people when it did.
    pub fn store_fingerprint(&self, address: &str) -> Result<Option<String>, SessionErrorKind> {
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
            // Another run was faster; the next one compares.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        writeln!(file, "{found}").map_err(failed)?;
        Ok(Some(format!(
            "the certificate of {address} was seen for the first time and its fingerprint stored \
             in {}: {found}",
            path.display()
        )))
    }
}

/// Compares the fingerprint and nothing else; the signatures of the handshake are verified all
/// the same, for they prove that the other side has the key.
#[derive(Debug)]
struct FingerprintVerifier {
    trust: CertificateCheck,
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
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        // The first contact of this session stands for all of it.
        let first = self.trust.found.get_or_init(|| hex.clone());
        let wanted = self.trust.wanted.as_ref().or_else(|| {
            let storing = self.trust.store.is_some();
            storing.then_some(first)
        });
        match wanted {
            Some(wanted) if *wanted != hex => Err(rustls::Error::InvalidCertificate(
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
