//! The certificate of all HTTPS mocks of a process, and its CA.

use std::sync::{Arc, LazyLock};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};

/// Generated once per process.
static IDENTITY: LazyLock<Identity> =
    LazyLock::new(|| Identity::generate().expect("certificates of fixed content can be made"));

struct Identity {
    authority_pem: String,
    fingerprint: String,
    config: Arc<ServerConfig>,
}

#[derive(Debug, thiserror::Error)]
enum GenerateError {
    #[error("cannot create the certificate")]
    Certificate(#[from] rcgen::Error),
    #[error("cannot use the certificate")]
    Tls(#[from] rustls::Error),
}

impl Identity {
    fn generate() -> Result<Self, GenerateError> {
        let authority_key = KeyPair::generate()?;
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority
            .distinguished_name
            .push(DnType::CommonName, "Mock load balancers");
        let authority_certificate = authority.self_signed(&authority_key)?;
        let issuer = Issuer::new(authority, authority_key);

        let key = KeyPair::generate()?;
        let mut params =
            CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        params
            .distinguished_name
            .push(DnType::CommonName, "localhost");
        let certificate = params.signed_by(&key, &issuer)?;

        let der: CertificateDer<'static> = certificate.der().clone();
        let fingerprint: Vec<String> = Sha256::digest(&der)
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                vec![der],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )?;
        Ok(Identity {
            authority_pem: authority_certificate.pem(),
            fingerprint: fingerprint.join(":"),
            config: Arc::new(config),
        })
    }
}

/// The CA certificate, for `ca_file`.
pub(crate) fn authority_pem() -> String {
    IDENTITY.authority_pem.clone()
}

/// SHA-256 of the server's certificate, `AB:CD:…`.
pub(crate) fn fingerprint() -> String {
    IDENTITY.fingerprint.clone()
}

/// The TLS configuration of the server.
pub(crate) fn server_config() -> Arc<ServerConfig> {
    IDENTITY.config.clone()
}
