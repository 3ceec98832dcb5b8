//! Verification of server certificates.

use std::sync::{Arc, Mutex, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use sha2::{Digest as _, Sha256};

/// The certificate that the server of a client presented last, accepted or not.
#[derive(Clone, Debug, Default)]
pub struct PresentedCertificate(Arc<Mutex<Option<CertificateDer<'static>>>>);

impl PresentedCertificate {
    /// The certificate; `None` before the first handshake.
    pub fn certificate(&self) -> Option<CertificateDer<'static>> {
        self.0.lock().expect("no panic with the lock").clone()
    }

    /// Its SHA-256 fingerprint in lower-case hex.
    pub fn fingerprint(&self) -> Option<String> {
        self.certificate().as_ref().map(fingerprint)
    }

    fn record(&self, certificate: &CertificateDer<'_>) {
        *self.0.lock().expect("no panic with the lock") = Some(certificate.clone().into_owned());
    }
}

/// The SHA-256 fingerprint of a certificate in lower-case hex.
pub(super) fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    hex::encode(Sha256::digest(certificate.as_ref()))
}

/// What a certificate must be.
#[derive(Debug)]
pub(super) enum CertificateRule {
    Any,
    /// It has this fingerprint, or that of the first connection.
    Fingerprint(OnceLock<String>),
    /// A CA of the verifier issued it, or one of the intermediate CAs.
    Issued {
        verifier: Arc<dyn ServerCertVerifier>,
        intermediates: Vec<CertificateDer<'static>>,
    },
}

/// Verifies the certificate of a server by a rule, and always the signatures of the handshake, which
/// prove that the server has the private key.
#[derive(Debug)]
pub(super) struct ServerVerifier {
    pub(super) rule: CertificateRule,
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) presented: PresentedCertificate,
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.presented.record(end_entity);
        match &self.rule {
            CertificateRule::Any => Ok(ServerCertVerified::assertion()),
            CertificateRule::Fingerprint(required) => {
                let found = fingerprint(end_entity);
                if *required.get_or_init(|| found.clone()) == found {
                    return Ok(ServerCertVerified::assertion());
                }
                let error = CertificateError::ApplicationVerificationFailure;
                Err(rustls::Error::InvalidCertificate(error))
            }
            CertificateRule::Issued {
                verifier,
                intermediates: own,
            } => {
                let mut chain = intermediates.to_vec();
                chain.extend(own.iter().cloned());
                verifier.verify_server_cert(end_entity, &chain, server_name, ocsp_response, now)
            }
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
