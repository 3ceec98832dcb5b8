//! What a device has of keys, certificates and bundles, and whether it fits together. Nobody is
//! asked and nothing is changed.

use super::bootstrap::{Ready, SetupError};
use super::key::Key;
use crate::agent::certificate::Certificate;
use crate::agent::http::tls::{Identity, Trust};
use crate::agent::layout::{self, Layout};
use crate::agent::puppet_conf::{Revocation, Settings};

/// What a connection to the server needs, if the device has a certificate and a CA bundle.
///
/// # Errors
/// Something is there and cannot be used.
pub fn at_hand(settings: &Settings, layout: &Layout) -> Result<Option<Ready>, SetupError> {
    let (Some(pem), Some(ca)) = (
        layout::read(&layout.certificate())?,
        layout::read(&layout.ca())?,
    ) else {
        return Ok(None);
    };
    bundle(layout, &ca)?;
    let revocation = settings.certificates.revocation;
    let crl = match revocation {
        Revocation::Off => None,
        Revocation::Chain | Revocation::Leaf => layout::read(&layout.crl())?,
    };
    let Some(key) = key(layout)? else {
        return Err(SetupError::KeyMissing {
            device: layout.certname.clone(),
            path: layout.key(),
        });
    };
    let certificate = fitting(layout, &pem, &key)?;
    Ok(Some(Ready {
        trust: Trust::Bundle {
            ca,
            crl,
            revocation,
        },
        identity: Identity {
            certificate: pem,
            key: key.to_der(),
        },
        certificate,
    }))
}

/// The device's key, if there is one.
pub(super) fn key(layout: &Layout) -> Result<Option<Key>, SetupError> {
    let path = layout.key();
    let Some(pem) = layout::read(&path)? else {
        return Ok(None);
    };
    match Key::from_pem(&pem) {
        Ok(key) => Ok(Some(key)),
        Err(source) => Err(SetupError::Key { path, source }),
    }
}

/// Whether the stored bundle is one.
pub(super) fn bundle(layout: &Layout, text: &str) -> Result<(), SetupError> {
    match Certificate::bundle(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(SetupError::Unreadable {
            path: layout.ca(),
            why: error.to_string(),
        }),
    }
}

/// The certificate, if it is the device's, of this key, and has not ended.
pub(super) fn fitting(layout: &Layout, pem: &str, key: &Key) -> Result<Certificate, SetupError> {
    let device = layout.certname.clone();
    let path = layout.certificate();
    let certificate = match Certificate::from_pem(pem) {
        Ok(certificate) => certificate,
        Err(error) => {
            return Err(SetupError::Unreadable {
                path,
                why: error.to_string(),
            });
        }
    };
    if certificate.public_key != key.public_key() {
        return Err(SetupError::Mismatch { device });
    }
    if !certificate.names(&device) {
        let names = certificate.common_name.into_iter();
        return Err(SetupError::WrongName {
            device,
            path,
            names: names
                .chain(certificate.alternative_names)
                .collect::<Vec<_>>()
                .join(", "),
        });
    }
    if certificate.not_after < crate::clock::timestamp() {
        return Err(SetupError::Expired {
            device,
            on: certificate.not_after,
        });
    }
    Ok(certificate)
}
