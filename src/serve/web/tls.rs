//! The certificate of the server. It is read again when its files change, without a restart.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::client_certificate::{AskForCertificate, ClientAuthorities};
use crate::serve::tls_files::{TlsFiles, TlsFilesError};
use crate::serve::watched_files::WatchedFiles;

/// The files of a server with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerTls {
    pub(crate) files: TlsFiles,
    /// The CA certificates of workers. `None`: no client is asked for a certificate.
    pub(crate) client_ca_file: Option<PathBuf>,
}

/// Resolves to the newest valid certificate of its files.
#[derive(Debug)]
pub(crate) struct ServerCertificate {
    settings: ServerTls,
    current: RwLock<LoadedCertificate>,
}

#[derive(Debug)]
struct LoadedCertificate {
    content: TlsContent,
    states: WatchedFiles,
}

/// What the files have.
#[derive(Clone, Debug)]
struct TlsContent {
    key: Arc<CertifiedKey>,
    clients: Option<Arc<ClientAuthorities>>,
}

impl ServerCertificate {
    /// Reads the files.
    pub(crate) fn open(settings: ServerTls) -> Result<Self, TlsFilesError> {
        let mut states = WatchedFiles::default();
        states.add(&settings.files.certificate);
        states.add(&settings.files.key);
        if let Some(path) = &settings.client_ca_file {
            states.add(path);
        }
        let content = read(&settings)?;
        let current = RwLock::new(LoadedCertificate { content, states });
        Ok(Self { settings, current })
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
        let content = read(&self.settings);
        let mut current = self.current.write().expect("no panic with the lock");
        current.states = states;
        match content {
            Ok(content) => {
                tracing::info!("the certificate of the server is read again");
                current.content = content;
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
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has TLS 1.2 and 1.3");
        let builder = match self.clients() {
            Some(clients) => {
                builder.with_client_cert_verifier(Arc::new(AskForCertificate(clients)))
            }
            None => builder.with_no_client_auth(),
        };
        let mut config =
            builder.with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }

    /// The CAs of clients, as their file has them now.
    pub(super) fn clients(&self) -> Option<Arc<ClientAuthorities>> {
        let current = self.current.read().expect("no panic with the lock");
        current.content.clients.clone()
    }
}

impl ResolvesServerCert for ServerCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read().expect("no panic with the lock");
        Some(Arc::clone(&current.content.key))
    }
}

fn read(settings: &ServerTls) -> Result<TlsContent, TlsFilesError> {
    let clients = settings.client_ca_file.as_deref();
    Ok(TlsContent {
        key: Arc::new(settings.files.certified_key()?),
        clients: clients
            .map(ClientAuthorities::read)
            .transpose()?
            .map(Arc::new),
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

    fn open(files: &TlsFiles) -> Result<ServerCertificate, TlsFilesError> {
        ServerCertificate::open(ServerTls {
            files: files.clone(),
            client_ca_file: None,
        })
    }

    fn set_mode(files: &TlsFiles, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&files.key, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn current(certificate: &ServerCertificate) -> Vec<u8> {
        certificate.current.read().unwrap().content.key.cert[0].to_vec()
    }

    #[test]
    fn tls_certificate_is_read_again_and_an_invalid_one_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let files = TlsFiles {
            certificate: dir.path().join("cert.pem"),
            key: dir.path().join("key.pem"),
        };
        let first = write(&files, "one.test");
        let certificate = open(&files).unwrap();
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
        let error = open(&files).unwrap_err().to_string();
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
        let error = open(&files).unwrap_err();
        assert!(matches!(error, TlsFilesError::Unusable { .. }), "{error}");
    }
}
