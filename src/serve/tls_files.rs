//! The files of TLS: a certificate with its private key, and CA certificates.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use switchtender_devices::document::Table;
use switchtender_devices::http::Identity;
use switchtender_devices::regular_file;

use crate::inventory::private_file::{self, PrivateFileError};

/// The files of a certificate chain and its key, in PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Why files cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsFilesError {
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Key(#[from] PrivateFileError),
    #[error("cannot read {path} as PEM")]
    Pem {
        path: PathBuf,
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    #[error("cannot use the certificate {certificate} with the key {key}")]
    Unusable {
        certificate: PathBuf,
        key: PathBuf,
        #[source]
        source: rustls::Error,
    },
    #[error("{path} has no certificate of a CA that can be used")]
    NoAuthority { path: PathBuf },
}

impl TlsFilesError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Key(file) => file.hint(),
            _ => None,
        }
    }
}

impl TlsFiles {
    /// Reads the keys `certificate` and `key` of a table; relative paths begin at `directory`. `None`: it has neither,
    /// or one of them, which is an error.
    pub(crate) fn of_table(table: &Table<'_>, directory: &Path) -> Option<Self> {
        let path = |key| table.file_path(key, directory);
        match (path("certificate"), path("key")) {
            (Some(certificate), Some(key)) => Some(Self { certificate, key }),
            (None, None) => None,
            (certificate, _) => {
                table.missing(if certificate.is_some() {
                    "key"
                } else {
                    "certificate"
                });
                None
            }
        }
    }

    /// The certificate of a server.
    ///
    /// # Errors
    /// A file cannot be read, others can read the key, or the key is that of another certificate.
    pub(crate) fn certified_key(&self) -> Result<CertifiedKey, TlsFilesError> {
        let (certificate, key) = self.read()?;
        self.joined(&certificate, key)
    }

    /// The certificate of a client.
    ///
    /// # Errors
    /// As [`Self::certified_key`].
    pub(crate) fn identity(&self) -> Result<Identity, TlsFilesError> {
        let (certificate, key) = self.read()?;
        self.joined(&certificate, key.clone_key())?;
        Ok(Identity { certificate, key })
    }

    fn read(&self) -> Result<(String, PrivateKeyDer<'static>), TlsFilesError> {
        let key = private_file::read_text(&self.key)?;
        let certificate = text(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
        Ok((certificate, key.map_err(pem_error(&self.key))?))
    }

    fn joined(
        &self,
        certificate: &str,
        key: PrivateKeyDer<'static>,
    ) -> Result<CertifiedKey, TlsFilesError> {
        let chain = certificates(certificate).map_err(pem_error(&self.certificate))?;
        let provider = rustls::crypto::ring::default_provider();
        CertifiedKey::from_der(chain, key, &provider).map_err(|source| TlsFilesError::Unusable {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            source,
        })
    }
}

/// The CA certificates of a file.
///
/// # Errors
/// It cannot be read, or has none.
pub(crate) fn authorities(path: &Path) -> Result<Arc<RootCertStore>, TlsFilesError> {
    let found = certificates(&text(path)?).map_err(pem_error(path))?;
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found);
    if added == 0 {
        let path = path.to_owned();
        return Err(TlsFilesError::NoAuthority { path });
    }
    Ok(Arc::new(roots))
}

fn text(path: &Path) -> Result<String, TlsFilesError> {
    regular_file::read_text(path, regular_file::LARGEST).map_err(|source| TlsFilesError::Read {
        path: path.to_owned(),
        source,
    })
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, rustls::pki_types::pem::Error> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect()
}

fn pem_error(path: &Path) -> impl FnOnce(rustls::pki_types::pem::Error) -> TlsFilesError {
    let path = path.to_owned();
    move |source| TlsFilesError::Pem { path, source }
}
