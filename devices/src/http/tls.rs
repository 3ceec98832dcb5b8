//! The TLS configuration of a client.

use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::client_settings::ClientSettingsError;
use super::verifier::{CertificateRule, PresentedCertificate, ServerVerifier};

/// The certificates that a client accepts from a server.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// Those issued by the CAs of the system.
    #[default]
    System,
    /// Those issued by these CAs.
    Authorities(Authorities),
    /// The one with this SHA-256 fingerprint in lower-case hex, under any name.
    Fingerprint(String),
    /// The one of the first connection, under any name.
    FirstConnection,
    /// Any. Also for URLs without TLS.
    Any,
}

/// CAs, and the certificates that they have revoked.
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    /// The trust anchors.
    pub anchors: Vec<CertificateDer<'static>>,
    /// CAs below the anchors, for servers that send their own certificate only.
    pub intermediates: Vec<CertificateDer<'static>>,
    /// `None`: revocation is not checked.
    pub revocation: Option<Revocation>,
}

/// The revocation check of a connection. A list that has expired refuses the connection.
#[derive(Clone, Debug)]
pub struct Revocation {
    /// One list per CA.
    pub lists: Vec<CertificateRevocationListDer<'static>>,
    /// Only the server's certificate is checked, not the certificates of its CAs.
    pub leaf_only: bool,
}

/// The certificate and the key of a client.
pub struct Identity {
    /// Certificate in PEM format, with its chain if there is one.
    pub certificate: String,
    /// Private key of the certificate, in PKCS#1, PKCS#8 or SEC1 format.
    pub key: PrivateKeyDer<'static>,
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self {
            certificate: self.certificate.clone(),
            key: self.key.clone_key(),
        }
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Authorities {
    /// CAs of a PEM text, without a revocation check.
    ///
    /// # Errors
    /// The text is no PEM.
    pub fn of_pem(pem: &str) -> Result<Self, ClientSettingsError> {
        Ok(Self {
            anchors: certificates_of_pem(pem, "CA bundle")?,
            ..Self::default()
        })
    }

    fn verifier(
        &self,
        provider: Arc<CryptoProvider>,
    ) -> Result<Arc<WebPkiServerVerifier>, ClientSettingsError> {
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(self.anchors.iter().cloned());
        if added == 0 {
            return Err(ClientSettingsError::NoAnchors);
        }
        let mut builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        if let Some(revocation) = &self.revocation {
            builder = builder
                .with_crls(revocation.lists.iter().cloned())
                .enforce_revocation_expiration();
            if revocation.leaf_only {
                builder = builder.only_check_end_entity_revocation();
            }
        }
        builder.build().map_err(ClientSettingsError::Crl)
    }
}

impl Trust {
    /// The first certificate of a PEM text, under any name.
    ///
    /// # Errors
    /// The text is no PEM, or has no certificate.
    pub fn certificate_of_pem(pem: &str) -> Result<Self, ClientSettingsError> {
        let certificates = certificates_of_pem(pem, "certificate of the server")?;
        let certificate = certificates.first();
        let certificate = certificate.ok_or(ClientSettingsError::NoAnchors)?;
        Ok(Self::Fingerprint(super::verifier::fingerprint(certificate)))
    }

    fn rule(&self, provider: &Arc<CryptoProvider>) -> Result<CertificateRule, ClientSettingsError> {
        Ok(match self {
            Self::System => CertificateRule::Issued {
                verifier: Arc::new(
                    rustls_platform_verifier::Verifier::new(Arc::clone(provider))
                        .map_err(ClientSettingsError::System)?,
                ),
                intermediates: Vec::new(),
            },
            Self::Authorities(authorities) => CertificateRule::Issued {
                verifier: authorities.verifier(Arc::clone(provider))?,
                intermediates: authorities.intermediates.clone(),
            },
            Self::Fingerprint(required) => {
                CertificateRule::Fingerprint(OnceLock::from(required.clone()))
            }
            Self::FirstConnection => CertificateRule::Fingerprint(OnceLock::new()),
            Self::Any => CertificateRule::Any,
        })
    }
}

/// The certificates of a PEM text; `file` describes it for the message.
///
/// # Errors
/// The text is no PEM.
pub fn certificates_of_pem(
    pem: &str,
    file: &'static str,
) -> Result<Vec<CertificateDer<'static>>, ClientSettingsError> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| ClientSettingsError::Pem { file, source })
}

/// The TLS configuration of a client, which records the certificate of its server.
pub(super) fn config(
    trust: &Trust,
    identity: Option<&Identity>,
    presented: PresentedCertificate,
) -> Result<ClientConfig, ClientSettingsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = ServerVerifier {
        rule: trust.rule(&provider)?,
        provider: Arc::clone(&provider),
        presented,
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring knows TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some(identity) = identity else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = certificates_of_pem(&identity.certificate, "device's certificate")?;
    builder
        .with_client_auth_cert(chain, identity.key.clone_key())
        .map_err(ClientSettingsError::Identity)
}
