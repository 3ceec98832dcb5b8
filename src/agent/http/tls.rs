//! The TLS configuration of a connection: trust anchors, CRLs and the device's certificate.
//!
//! The server sends its leaf certificate only, so every certificate of the CA bundle is an anchor.
//! `docs/reference/agent-protocol.md`, section 8.1.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime,
};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore};

use crate::agent::puppet_conf::Revocation;

/// The certificates to trust.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Any certificate: only for the first download of the CA bundle.
    FirstContact,
    /// Certificates issued by this bundle and not revoked by these CRLs.
    Bundle {
        /// CA bundle in PEM format; each of its certificates is a trust anchor.
        ca: String,
        /// CRL bundle in PEM format; `None`: no revocation check.
        crl: Option<String>,
        /// Certificates of the chain to check against the CRLs.
        revocation: Revocation,
    },
}

/// The device's certificate and key, as PEM and DER (any of the three formats).
pub struct Identity {
    /// Certificate of the device in PEM format.
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

/// The local certificates are unusable.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The CA bundle contains no certificate that can be a trust anchor.
    #[error("the CA bundle has no usable certificate")]
    NoAnchors,
    /// A file contains invalid PEM.
    #[error("cannot read the {file} as PEM")]
    Pem {
        /// Description of the file for the message, such as `CRL bundle`.
        file: &'static str,
        /// Error of the PEM parser.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// The certificate verifier rejected the CRLs.
    #[error("cannot use the CRL bundle")]
    Crl(#[source] rustls::server::VerifierBuilderError),
    /// The certificate and the key of the device cannot be used for client authentication.
    #[error("cannot use the device's certificate and key")]
    Identity(#[source] rustls::Error),
}

/// The server's certificate is for other names than the requested one.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the certificate is for {}, not for {requested}", if .names.is_empty() { "no name".to_owned() } else { .names.join(", ") })]
pub struct NameMismatch {
    /// Host name from the request URL.
    pub requested: String,
    /// Alternative names, or the common name where there are none.
    pub(crate) names: Vec<String>,
    /// The certificate has only a common name, which is not accepted.
    pub(crate) common_name_only: bool,
}

/// Builds the TLS configuration of a connection.
pub(crate) fn config(trust: &Trust, identity: Option<&Identity>) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::FirstContact => Arc::new(FirstContactVerifier(Arc::clone(&provider))),
        Trust::Bundle {
            ca,
            crl,
            revocation,
        } => Arc::new(HostnameVerifier(bundle_verifier(
            ca,
            crl.as_deref(),
            *revocation,
            &provider,
        )?)),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring knows TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    match identity {
        None => Ok(builder.with_no_client_auth()),
        Some(identity) => {
            let chain = certificates(&identity.certificate, "device's certificate")?;
            builder
                .with_client_auth_cert(chain, identity.key.clone_key())
                .map_err(TlsError::Identity)
        }
    }
}

fn bundle_verifier(
    ca: &str,
    crl: Option<&str>,
    revocation: Revocation,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates(ca, "CA bundle")?);
    if added == 0 {
        return Err(TlsError::NoAnchors);
    }
    let mut builder =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    if let (Some(crl), Revocation::Chain | Revocation::Leaf) = (crl, revocation) {
        let lists = CertificateRevocationListDer::pem_slice_iter(crl.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| TlsError::Pem {
                file: "CRL bundle",
                source,
            })?;
        builder = builder.with_crls(lists);
        if revocation == Revocation::Leaf {
            builder = builder.only_check_end_entity_revocation();
        }
    }
    builder.build().map_err(TlsError::Crl)
}

fn certificates(pem: &str, file: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| TlsError::Pem { file, source })
}

/// The standard verifier, with the names of the certificate in a mismatch error.
#[derive(Debug)]
struct HostnameVerifier(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for HostnameVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified =
            self.0
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Err(mismatch(end_entity, server_name)),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

fn mismatch(certificate: &CertificateDer<'_>, requested: &ServerName<'_>) -> rustls::Error {
    let read = crate::agent::certificate::Certificate::from_der(certificate).ok();
    let (mut names, common_name) = read.map_or((Vec::new(), None), |certificate| {
        (certificate.alternative_names, certificate.common_name)
    });
    let common_name_only = names.is_empty();
    if common_name_only {
        names.extend(common_name);
    }
    let error = NameMismatch {
        requested: requested.to_str().into_owned(),
        names,
        common_name_only,
    };
    rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(error))))
}

/// Accepts any server certificate; verifies only that the server has its private key.
#[derive(Debug)]
struct FirstContactVerifier(Arc<CryptoProvider>);

impl ServerCertVerifier for FirstContactVerifier {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
