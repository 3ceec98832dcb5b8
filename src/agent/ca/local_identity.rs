//! Reads and validates the local key, certificate and CA bundle. Does no network access and changes
//! no file.

use switchtender_devices::http::Identity;

use super::bootstrap::{BootstrapError, TlsCredentials};
use super::key::PrivateKey;
use crate::agent::certificate::Certificate;
use crate::agent::device_file;
use crate::agent::http::tls::{RevocationCheck, Trust};
use crate::agent::layout::Layout;
use crate::agent::puppet_conf::{Revocation, Settings};
use crate::agent::revocation_lists::RevocationLists;

/// The TLS credentials of the device; `None` without a certificate or a CA bundle.
///
/// # Errors
/// A file is unreadable or invalid, or the files do not match.
pub(crate) fn load(
    settings: &Settings,
    layout: &Layout,
) -> Result<Option<TlsCredentials>, BootstrapError> {
    let (Some(pem), Some(ca)) = (
        device_file::read(&layout.certificate())?,
        device_file::read(&layout.ca())?,
    ) else {
        return Ok(None);
    };
    validate_bundle(layout, &ca)?;
    let revocation = revocation(settings, layout, &ca)?;
    let Some(key) = load_key(layout)? else {
        return Err(BootstrapError::KeyMissing {
            device: layout.certname.clone(),
            path: layout.key(),
        });
    };
    let certificate = validate_certificate(layout, &pem, &key)?;
    Ok(Some(TlsCredentials {
        trust: Trust::Bundle { ca, revocation },
        identity: Identity {
            certificate: pem,
            key: key.to_der(),
        },
        certificate,
    }))
}

/// The revocation check with the stored CRLs; `None` if `certificate_revocation` is `false`.
///
/// # Errors
/// The CRLs are missing, unreadable or invalid.
pub(crate) fn revocation(
    settings: &Settings,
    layout: &Layout,
    ca: &str,
) -> Result<Option<RevocationCheck>, BootstrapError> {
    let leaf_only = match settings.certificates.revocation {
        Revocation::Off => return Ok(None),
        Revocation::Leaf => true,
        Revocation::Chain => false,
    };
    let file = layout.crl();
    let Some(text) = device_file::read(&file)? else {
        return Err(BootstrapError::CrlMissing { path: file });
    };
    match RevocationLists::parse(&text, ca, crate::clock::timestamp()) {
        Ok(lists) => Ok(Some(RevocationCheck {
            lists,
            file,
            leaf_only,
        })),
        Err(source) => Err(BootstrapError::Crl { path: file, source }),
    }
}

/// The key of the device, if it exists.
pub(super) fn load_key(layout: &Layout) -> Result<Option<PrivateKey>, BootstrapError> {
    let path = layout.key();
    let Some(pem) = device_file::read(&path)? else {
        return Ok(None);
    };
    match PrivateKey::from_pem(&pem) {
        Ok(key) => Ok(Some(key)),
        Err(source) => Err(BootstrapError::Key { path, source }),
    }
}

/// Checks that the stored bundle contains certificates.
pub(super) fn validate_bundle(layout: &Layout, text: &str) -> Result<(), BootstrapError> {
    match Certificate::bundle(text) {
        Ok(_) => Ok(()),
        Err(source) => Err(BootstrapError::Unreadable {
            path: layout.ca(),
            source,
        }),
    }
}

/// The certificate, if it matches the key and the certname and has not expired.
pub(super) fn validate_certificate(
    layout: &Layout,
    pem: &str,
    key: &PrivateKey,
) -> Result<Certificate, BootstrapError> {
    let device = layout.certname.clone();
    let path = layout.certificate();
    let certificate = match Certificate::from_pem(pem) {
        Ok(certificate) => certificate,
        Err(source) => return Err(BootstrapError::Unreadable { path, source }),
    };
    if certificate.public_key != key.public_key() {
        return Err(BootstrapError::Mismatch { device });
    }
    if !certificate.is_for(&device) {
        let names = certificate.common_name.into_iter();
        return Err(BootstrapError::WrongName {
            device,
            path,
            names: names
                .chain(certificate.alternative_names)
                .collect::<Vec<_>>()
                .join(", "),
        });
    }
    if certificate.not_after < crate::clock::timestamp() {
        return Err(BootstrapError::Expired {
            device,
            on: certificate.not_after,
        });
    }
    Ok(certificate)
}
