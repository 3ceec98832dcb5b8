//! The TLS configuration of a connection: trust anchors, CRLs and the device's certificate.
//!
//! The server sends its leaf certificate only, so the chain comes from the CA bundle.
//! `docs/reference/agent-protocol.md`, section 8.1.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::agent::revocation_lists::RevocationLists;

/// The certificates to trust.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Any certificate: only for the first download of the CA bundle.
    FirstContact,
    /// The first certificate of this PEM text, under any name.
    Pinned(String),
    /// Certificates issued by this bundle and not revoked.
    Bundle {
        /// CA bundle in PEM format.
        ca: String,
        /// `None`: revocation is not checked.
        revocation: Option<RevocationCheck>,
    },
}

/// The revocation check of a connection: `certificate_revocation` is `chain` or `leaf`.
#[derive(Clone, Debug)]
pub struct RevocationCheck {
    /// The lists of the CA.
    pub lists: RevocationLists,
    /// File of the lists, for errors.
    pub file: PathBuf,
    /// Only the server's certificate is checked, not the certificates of its CAs.
    pub leaf_only: bool,
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
        /// Description of the file for the message, such as `CA bundle`.
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

/// The revocation status of a certificate cannot be determined.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", match .expired {
    Some((issuer, end)) => format!("The CRL issued by '{issuer}' has expired, verify time is synchronized ({}, valid until {end})", .file.display()),
    None => format!("{} has no CRL of a CA in its chain", .file.display()),
})]
pub struct UnknownRevocation {
    /// File of the lists.
    pub(crate) file: PathBuf,
    /// Issuer and end of validity of an expired list; `None`: a list is missing.
    pub(crate) expired: Option<(String, Timestamp)>,
}

/// Builds the TLS configuration of a connection.
pub(crate) fn config(trust: &Trust, identity: Option<&Identity>) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::FirstContact => Arc::new(FirstContactVerifier {
            provider: Arc::clone(&provider),
            pinned: None,
        }),
        Trust::Pinned(pem) => {
            let pinned = certificates(pem, "certificate of the server")?;
            Arc::new(FirstContactVerifier {
                provider: Arc::clone(&provider),
                pinned: Some(pinned.into_iter().next().ok_or(TlsError::NoAnchors)?),
            })
        }
        Trust::Bundle { ca, revocation } => Arc::new(BundleVerifier::new(
            ca,
            revocation.as_ref(),
            Arc::clone(&provider),
        )?),
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

fn certificates(pem: &str, file: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| TlsError::Pem { file, source })
}

/// The standard verifier with the certificates of a bundle and with errors that have the details.
#[derive(Debug)]
struct BundleVerifier {
    verifier: Arc<WebPkiServerVerifier>,
    /// CAs of the bundle below its trust anchors: the server sends its own certificate only.
    intermediates: Vec<CertificateDer<'static>>,
    revocation: Option<RevocationCheck>,
}

impl BundleVerifier {
    fn new(
        ca: &str,
        revocation: Option<&RevocationCheck>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, TlsError> {
        let bundle = certificates(ca, "CA bundle")?;
        // Trust anchors are not checked for revocation, so an intermediate CA must not be one.
        let (intermediates, anchors) = match revocation {
            Some(check) if !check.leaf_only => split_intermediates(bundle),
            _ => (Vec::new(), bundle),
        };
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(anchors);
        if added == 0 {
            return Err(TlsError::NoAnchors);
        }
        let mut builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        if let Some(check) = revocation {
            builder = builder
                .with_crls(check.lists.lists().iter().cloned())
                .enforce_revocation_expiration();
            if check.leaf_only {
                builder = builder.only_check_end_entity_revocation();
            }
        }
        Ok(Self {
            verifier: builder.build().map_err(TlsError::Crl)?,
            intermediates,
            revocation: revocation.cloned(),
        })
    }

    /// Why the lists do not determine the status of a certificate.
    fn unknown_revocation(&self, now: UnixTime) -> Option<rustls::Error> {
        let check = self.revocation.as_ref()?;
        let now = i64::try_from(now.as_secs()).ok()?;
        let now = Timestamp::from_second(now).ok()?;
        let expired = check.lists.expired(now);
        let error = UnknownRevocation {
            file: check.file.clone(),
            expired: expired.map(|(issuer, end)| (issuer.to_owned(), end)),
        };
        let error = CertificateError::Other(OtherError(Arc::new(error)));
        Some(rustls::Error::InvalidCertificate(error))
    }
}

/// Separates the certificates whose issuer is another certificate of the bundle from the others.
fn split_intermediates(
    bundle: Vec<CertificateDer<'static>>,
) -> (Vec<CertificateDer<'static>>, Vec<CertificateDer<'static>>) {
    let names: Vec<(Vec<u8>, Vec<u8>)> = bundle
        .iter()
        .map(|der| match X509Certificate::from_der(der) {
            Ok((_, certificate)) => (
                certificate.subject().as_raw().to_vec(),
                certificate.issuer().as_raw().to_vec(),
            ),
            Err(_) => Default::default(),
        })
        .collect();
    let (intermediates, anchors): (Vec<_>, Vec<_>) =
        bundle
            .into_iter()
            .zip(&names)
            .partition(|(_, (subject, issuer))| {
                subject != issuer && names.iter().any(|(other, _)| other == issuer)
            });
    let certificates = |found: Vec<(CertificateDer<'static>, _)>| {
        found
            .into_iter()
            .map(|(certificate, _)| certificate)
            .collect()
    };
    (certificates(intermediates), certificates(anchors))
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let mut chain = intermediates.to_vec();
        chain.extend(self.intermediates.iter().cloned());
        let verified =
            self.verifier
                .verify_server_cert(end_entity, &chain, server_name, ocsp_response, now);
        match verified {
            Err(
                error @ rustls::Error::InvalidCertificate(
                    CertificateError::UnknownRevocationStatus
                    | CertificateError::ExpiredRevocationList
                    | CertificateError::ExpiredRevocationListContext { .. },
                ),
            ) => Err(self.unknown_revocation(now).unwrap_or(error)),
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
        self.verifier.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.verifier.supported_verify_schemes()
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
struct FirstContactVerifier {
    provider: Arc<CryptoProvider>,
    /// The only certificate that is accepted. `None`: any.
    pinned: Option<CertificateDer<'static>>,
}

impl ServerCertVerifier for FirstContactVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.pinned {
            Some(pinned) if pinned != certificate => {
                let error = CertificateError::ApplicationVerificationFailure;
                Err(rustls::Error::InvalidCertificate(error))
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
