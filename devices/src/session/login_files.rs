//! The files of a login, read as a session reads them: private keys, CA certificates and host keys.

use russh::keys::{Error as KeyError, decode_secret_key};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::SessionErrorKind;
use super::connect_params::HostKeyPolicy;
use super::ssh::known_hosts::HostKeyVerifier;

/// Why a file of a login is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidLoginFile(String);

/// Whether a session can verify the key of a host: a file of the policy has one, or the policy needs none.
///
/// # Errors
/// A file cannot be read.
pub fn has_host_key(
    host: &str,
    port: u16,
    policy: &HostKeyPolicy,
) -> Result<bool, SessionErrorKind> {
    let HostKeyPolicy::KnownHosts(_) = policy else {
        return Ok(true);
    };
    let verifier = HostKeyVerifier::load(host, port, policy)?;
    Ok(!verifier.known_algorithms().is_empty())
}

/// Checks the text of a private key. The passphrase of an encrypted key is not needed.
///
/// # Errors
/// The text is not a private key, or it is damaged.
pub fn check_private_key(text: &str) -> Result<(), InvalidLoginFile> {
    match decode_secret_key(text, None) {
        Ok(_) | Err(KeyError::KeyIsEncrypted) => Ok(()),
        Err(error) => Err(InvalidLoginFile(error.to_string().to_lowercase())),
    }
}

/// The certificates of a PEM file, each usable as a CA.
///
/// # Errors
/// The text contains no certificate, or a damaged one.
pub fn ca_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, InvalidLoginFile> {
    let mut store = RootCertStore::empty();
    let mut certificates = Vec::new();
    for (index, certificate) in CertificateDer::pem_slice_iter(pem).enumerate() {
        let number = index + 1;
        let certificate = certificate
            .map_err(|error| InvalidLoginFile(format!("certificate {number}: {error}")))?;
        store
            .add(certificate.clone())
            .map_err(|error| InvalidLoginFile(format!("certificate {number}: {error}")))?;
        certificates.push(certificate);
    }
    if certificates.is_empty() {
        return Err(InvalidLoginFile("the file has no certificate".to_owned()));
    }
    Ok(certificates)
}
