//! Where the files of a device are: the peer's layout (`docs/reference/agent-protocol.md`, section 3).

use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::puppet_conf::Settings;
use crate::store::file::UNFINISHED;

/// The directories of one device.
#[derive(Clone, Debug)]
pub struct Layout {
    pub certname: String,
    /// `$confdir/devices/NAME/ssl`
    pub ssl: PathBuf,
    /// `$vardir/devices/NAME`
    pub var: PathBuf,
}

impl Layout {
    pub fn new(settings: &Settings, certname: &str) -> Self {
        Self {
            certname: certname.to_owned(),
            ssl: settings.deviceconfdir.join(certname).join("ssl"),
            var: settings.devicedir.join(certname),
        }
    }

    pub fn key(&self) -> PathBuf {
        self.ssl.join("private_keys").join(self.pem_name())
    }

    pub fn certificate(&self) -> PathBuf {
        self.ssl.join("certs").join(self.pem_name())
    }

    /// The whole bundle.
    pub fn ca(&self) -> PathBuf {
        self.ssl.join("certs").join("ca.pem")
    }

    pub fn crl(&self) -> PathBuf {
        self.ssl.join("crl.pem")
    }

    /// There only while a request is pending.
    pub fn request(&self) -> PathBuf {
        self.ssl.join("certificate_requests").join(self.pem_name())
    }

    pub fn lock(&self) -> PathBuf {
        self.ssl.join("ssl.lock")
    }

    pub fn csr_attributes(&self) -> PathBuf {
        self.var.join("csr_attributes.yaml")
    }

    pub fn cached_catalog(&self) -> PathBuf {
        self.var
            .join("client_data")
            .join("catalog")
            .join(format!("{}.json", self.certname.to_lowercase()))
    }

    /// Certnames are lower-cased in file names.
    fn pem_name(&self) -> String {
        format!("{}.pem", self.certname.to_lowercase())
    }

    /// Makes `$vardir/devices/NAME/ssl` point at the certificates, where the peer expects them.
    pub fn link(&self) -> Result<(), FileError> {
        make_dir(&self.var)?;
        make_dir(&self.ssl)?;
        let link = self.var.join("ssl");
        match std::os::unix::fs::symlink(&self.ssl, &link) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(FileError {
                action: "make the link",
                path: link,
                source: error,
            }),
            _ => Ok(()),
        }
    }
}

/// A file of a device that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", .path.display())]
pub struct FileError {
    pub action: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: std::io::Error,
}

/// Who may read a file besides its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Keys: the group, for services that share the certificate.
    Group,
    Everyone,
}

/// The text of a file; `None` if there is none.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError {
            action: "read",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Replaces a file as a whole.
pub fn write(path: &Path, text: &str, readers: Readers) -> Result<(), FileError> {
    let failed = |source| FileError {
        action: "write",
        path: path.to_owned(),
        source,
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    make_dir(dir)?;
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(dir)
        .map_err(failed)?;
    let mode = match readers {
        Readers::Group => 0o640,
        Readers::Everyone => 0o644,
    };
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    file.as_file()
        .set_permissions(std::fs::Permissions::from_mode(mode))
        .and_then(|()| file.as_file().sync_all())
        .map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Removes a file; whether there was one.
pub fn remove(path: &Path) -> Result<bool, FileError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(FileError {
            action: "remove",
            path: path.to_owned(),
            source,
        }),
    }
}

fn make_dir(dir: &Path) -> Result<(), FileError> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o750)
        .create(dir)
        .map_err(|source| FileError {
            action: "make the directory",
            path: dir.to_owned(),
            source,
        })
}

/// `ssl.lock`, held while keys and certificates are set up; given back when dropped.
#[derive(Debug)]
pub struct SslLock {
    path: PathBuf,
}

/// Why the set-up cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SslLockError {
    #[error("another process ({holder}) sets up the certificates of {device}")]
    Held { device: String, holder: u32 },
    #[error(transparent)]
    File(#[from] FileError),
}

impl SslLock {
    /// Takes the lock. One that a dead process has left behind is taken over.
    pub fn take(layout: &Layout) -> Result<Self, SslLockError> {
        let path = layout.lock();
        make_dir(&layout.ssl)?;
        loop {
            let made = std::fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o640)
                .open(&path);
            match made {
                Ok(mut file) => {
                    // Only people and the peer read it; the file itself is the lock.
                    let _ = std::io::Write::write_all(
                        &mut file,
                        std::process::id().to_string().as_bytes(),
                    );
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    let holder = read(&path)?.and_then(|text| text.trim().parse().ok());
                    if let Some(holder) = holder.filter(|pid| alive(*pid)) {
                        return Err(SslLockError::Held {
                            device: layout.certname.clone(),
                            holder,
                        });
                    }
                    remove(&path)?;
                }
                Err(source) => {
                    return Err(SslLockError::File(FileError {
                        action: "write",
                        path,
                        source,
                    }));
                }
            }
        }
    }
}

impl Drop for SslLock {
    fn drop(&mut self) {
        // Nothing can be done about it here; the next process finds ours dead.
        let _ = remove(&self.path);
    }
}

fn alive(pid: u32) -> bool {
    pid != std::process::id() && Path::new("/proc").join(pid.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(dir: &Path) -> Layout {
        Layout {
            certname: "SW1.lab.test".to_owned(),
            ssl: dir.join("conf/devices/SW1.lab.test/ssl"),
            var: dir.join("var/devices/SW1.lab.test"),
        }
    }

    #[test]
    fn files_are_where_the_peer_has_them() {
        let layout = layout(Path::new("/x"));
        let shown = |path: PathBuf| path.display().to_string();
        assert_eq!(
            shown(layout.key()),
            "/x/conf/devices/SW1.lab.test/ssl/private_keys/sw1.lab.test.pem"
        );
        assert_eq!(
            shown(layout.certificate()),
            "/x/conf/devices/SW1.lab.test/ssl/certs/sw1.lab.test.pem"
        );
        assert_eq!(
            shown(layout.ca()),
            "/x/conf/devices/SW1.lab.test/ssl/certs/ca.pem"
        );
        assert_eq!(
            shown(layout.crl()),
            "/x/conf/devices/SW1.lab.test/ssl/crl.pem"
        );
        assert_eq!(
            shown(layout.cached_catalog()),
            "/x/var/devices/SW1.lab.test/client_data/catalog/sw1.lab.test.json"
        );
    }

    #[test]
    fn keys_are_not_for_everyone_and_the_link_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let layout = layout(dir.path());
        layout.link().unwrap();
        layout.link().unwrap();
        write(&layout.key(), "k", Readers::Group).unwrap();
        let through = layout.var.join("ssl/private_keys/sw1.lab.test.pem");
        assert_eq!(read(&through).unwrap().as_deref(), Some("k"));
        assert_eq!(
            through.metadata().unwrap().permissions().mode() & 0o777,
            0o640
        );
    }

    #[test]
    fn a_lock_of_a_living_process_holds_and_one_of_a_dead_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let layout = layout(dir.path());
        let lock = SslLock::take(&layout).unwrap();
        drop(lock);
        assert!(!layout.lock().exists());
        std::fs::write(layout.lock(), "1").unwrap();
        let error = SslLock::take(&layout).unwrap_err().to_string();
        assert_eq!(
            error,
            "another process (1) sets up the certificates of SW1.lab.test"
        );
        std::fs::write(layout.lock(), "4194305").unwrap();
        SslLock::take(&layout).unwrap();
    }
}
