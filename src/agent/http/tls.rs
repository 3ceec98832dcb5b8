//! What a connection to a Puppet Server trusts, and why a certificate is refused.
//!
//! The server sends its leaf certificate only, so the chain comes from the CA bundle.
//! `docs/reference/agent-protocol.md`, section 8.1.

use std::path::PathBuf;

use jiff::Timestamp;
use rustls::CertificateError;
use rustls::pki_types::CertificateDer;
use switchtender_devices::http::{
    self, Authorities, ClientSettingsError, PresentedCertificate, Revocation,
};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::agent::certificate::Certificate;
use crate::agent::revocation_lists::RevocationLists;

/// The certificates to trust.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Any certificate: only for the first download of the CA bundle.
    FirstContact,
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

/// The server's certificate is for other names than the requested one.
#[derive(Debug, thiserror::Error)]
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
#[derive(Debug, thiserror::Error)]
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

impl Trust {
    /// The same for the HTTP client.
    ///
    /// # Errors
    /// The bundle is no PEM.
    pub(super) fn of_client(&self) -> Result<http::Trust, ClientSettingsError> {
        let Self::Bundle { ca, revocation } = self else {
            return Ok(http::Trust::Any);
        };
        let bundle = http::certificates_of_pem(ca, "CA bundle")?;
        // Trust anchors are not checked for revocation, so an intermediate CA must not be one.
        let (intermediates, anchors) = match revocation {
            Some(check) if !check.leaf_only => split_intermediates(bundle),
            _ => (Vec::new(), bundle),
        };
        Ok(http::Trust::Authorities(Authorities {
            anchors,
            intermediates,
            revocation: revocation.as_ref().map(|check| Revocation {
                lists: check.lists.lists().to_vec(),
                leaf_only: check.leaf_only,
            }),
        }))
    }

    /// Why the lists do not determine the status of a certificate, if that is the error.
    pub(super) fn unknown_revocation(&self, error: &CertificateError) -> Option<UnknownRevocation> {
        let Self::Bundle {
            revocation: Some(check),
            ..
        } = self
        else {
            return None;
        };
        let (CertificateError::UnknownRevocationStatus
        | CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. }) = error
        else {
            return None;
        };
        let expired = check.lists.expired(crate::clock::timestamp());
        Some(UnknownRevocation {
            file: check.file.clone(),
            expired: expired.map(|(issuer, end)| (issuer.to_owned(), end)),
        })
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

/// The names of the presented certificate, if the error is that the requested one is missing.
pub(super) fn name_mismatch(
    error: &CertificateError,
    presented: &PresentedCertificate,
) -> Option<NameMismatch> {
    let CertificateError::NotValidForNameContext { expected, .. } = error else {
        return None;
    };
    let certificate = presented.certificate();
    let read = certificate.and_then(|der| Certificate::from_der(&der).ok());
    let (mut names, common_name) = read.map_or((Vec::new(), None), |certificate| {
        (certificate.alternative_names, certificate.common_name)
    });
    let common_name_only = names.is_empty();
    if common_name_only {
        names.extend(common_name);
    }
    Some(NameMismatch {
        requested: expected.to_str().into_owned(),
        names,
        common_name_only,
    })
}
