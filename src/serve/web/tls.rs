//! The certificate of the server. It is read again when its files change, without a restart.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use switchtender_devices::regular_file;

use crate::inventory::file_mode;
use crate::serve::watched_files::WatchedFiles;

/// The files of a certificate chain and its key, in PEM format.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerCertificateError {
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is readable by others (mode {mode:o})")]
    Mode { path: PathBuf, mode: u32 },
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
}

/// Resolves to the newest valid certificate of its files.
#[derive(Debug)]
pub(crate) struct ServerCertificate {
    files: TlsFiles,
    current: RwLock<LoadedCertificate>,
}

#[derive(Debug)]
struct LoadedCertificate {
    key: Arc<CertifiedKey>,
    states: WatchedFiles,
}

impl ServerCertificate {
    /// Reads the files.
    pub(crate) fn open(files: TlsFiles) -> Result<Self, ServerCertificateError> {
        let mut states = WatchedFiles::default();
        states.add(&files.certificate);
        states.add(&files.key);
        let key = Arc::new(read(&files)?);
        let current = RwLock::new(LoadedCertificate { key, states });
        Ok(Self { files, current })
    }

    /// Reads the files again if they changed. An invalid version is logged, and the previous
    /// certificate stays in effect. Key and certificate are replaced one after the other, so a pair
    /// that does not match is read again at the next change.
    pub(crate) fn reload(&self) {
        let earlier = self.current.read().expect("no panic with the lock");
        let states = earlier.states.read_again();
        if earlier.states == states {
            return;
        }
        drop(earlier);
        let key = read(&self.files);
        let mut current = self.current.write().expect("no panic with the lock");
        current.states = states;
        match key {
            Ok(key) => {
                tracing::info!("the certificate of the server is read again");
                current.key = Arc::new(key);
            }
            Err(error) => tracing::error!(
                "{}; the previous certificate stays in effect",
                crate::error_chain::chain(&error)
            ),
        }
    }

    /// The TLS configuration of a server with this certificate.
    pub(crate) fn config(self: &Arc<Self>) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }
}

impl ResolvesServerCert for ServerCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read().expect("no panic with the lock");
        Some(Arc::clone(&current.key))
    }
}

fn read(files: &TlsFiles) -> Result<CertifiedKey, ServerCertificateError> {
    let text = |path: &PathBuf| {
        regular_file::read(path, regular_file::LARGEST).map_err(|source| {
            ServerCertificateError::Read {
                path: path.clone(),
                source,
            }
        })
    };
    let pem = |path: &PathBuf| {
        let path = path.clone();
        move |source| ServerCertificateError::Pem { path, source }
    };
    let key_file = regular_file::open(&files.key, regular_file::LARGEST)
        .and_then(|file| file_mode::readable_by_others(&file));
    let mode = key_file.map_err(|source| ServerCertificateError::Read {
        path: files.key.clone(),
        source,
    })?;
    if let Some(mode) = mode {
        let path = files.key.clone();
        return Err(ServerCertificateError::Mode { path, mode });
    }
    let chain = CertificateDer::pem_slice_iter(&text(&files.certificate)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(pem(&files.certificate))?;
    let key = PrivateKeyDer::from_pem_slice(&text(&files.key)?).map_err(pem(&files.key))?;
    let provider: CryptoProvider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(chain, key, &provider).map_err(|source| {
        ServerCertificateError::Unusable {
            certificate: files.certificate.clone(),
            key: files.key.clone(),
            source,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;

    fn write(files: &TlsFiles, name: &str) -> Vec<u8> {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        // A time of its own: two writes can have the same time.
        fs::write(&files.certificate, made.cert.pem()).unwrap();
        fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        set_mode(files, 0o600);
        made.cert.der().to_vec()
    }

    fn set_mode(files: &TlsFiles, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&files.key, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn current(certificate: &ServerCertificate) -> Vec<u8> {
        certificate.current.read().unwrap().key.cert[0].to_vec()
    }

    #[test]
    fn tls_certificate_is_read_again_and_an_invalid_one_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let files = TlsFiles {
            certificate: dir.path().join("cert.pem"),
            key: dir.path().join("key.pem"),
        };
        let first = write(&files, "one.test");
        let certificate = ServerCertificate::open(files.clone()).unwrap();
        assert_eq!(current(&certificate), first);
        let second = write(&files, "two.test");
        let set_time = |seconds| {
            let file = fs::File::options()
                .write(true)
                .open(&files.certificate)
                .unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds))
                .unwrap();
        };
        set_time(1);
        certificate.reload();
        assert_eq!(current(&certificate), second);
        fs::write(&files.key, "no key").unwrap();
        set_time(2);
        certificate.reload();
        assert_eq!(current(&certificate), second);
        let other = write(&files, "three.test");
        set_time(3);
        certificate.reload();
        assert_eq!(current(&certificate), other);
        // An invalid mode is corrected without a change of the content.
        let last = write(&files, "four.test");
        set_time(4);
        set_mode(&files, 0o644);
        certificate.reload();
        assert_eq!(current(&certificate), other);
        set_mode(&files, 0o600);
        certificate.reload();
        assert_eq!(current(&certificate), last);
    }

    #[test]
    fn tls_key_that_others_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let files = TlsFiles {
            certificate: dir.path().join("cert.pem"),
            key: dir.path().join("key.pem"),
        };
        write(&files, "one.test");
        set_mode(&files, 0o640);
        let error = ServerCertificate::open(files).unwrap_err().to_string();
        assert!(
            error.contains("is readable by others (mode 640)"),
            "{error}"
        );
    }

    #[test]
    fn tls_key_of_another_certificate_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let files = TlsFiles {
            certificate: dir.path().join("cert.pem"),
            key: dir.path().join("key.pem"),
        };
        write(&files, "one.test");
        let certificate = fs::read(&files.certificate).unwrap();
        write(&files, "two.test");
        fs::write(&files.certificate, certificate).unwrap();
        let error = ServerCertificate::open(files).unwrap_err();
        assert!(
            matches!(error, ServerCertificateError::Unusable { .. }),
            "{error}"
        );
    }
}
