//! The file layout of a device, which is Puppet's (`docs/reference/agent-protocol.md`, section 3).

use std::path::PathBuf;

use switchtender_devices::names::Certname;

use super::device_file::{FileError, create_dir};
use super::puppet_conf::Settings;

/// The directories of one device.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(crate) certname: Certname,
    /// `$confdir/devices/NAME/ssl`
    pub ssl: PathBuf,
    /// `$vardir/devices/NAME`
    pub var: PathBuf,
}

impl Layout {
    /// The paths of the device `certname` below `deviceconfdir` and `devicedir`.
    pub fn new(settings: &Settings, certname: &Certname) -> Self {
        Self {
            certname: certname.clone(),
            ssl: settings.deviceconfdir.join(certname.as_str()).join("ssl"),
            var: settings.devicedir.join(certname.as_str()),
        }
    }

    /// `private_keys/NAME.pem` below `ssl`: the private key of the device.
    pub fn key(&self) -> PathBuf {
        self.ssl.join("private_keys").join(self.pem_name())
    }

    /// `certs/NAME.pem` below `ssl`: the certificate of the device.
    pub fn certificate(&self) -> PathBuf {
        self.ssl.join("certs").join(self.pem_name())
    }

    /// The CA bundle.
    pub fn ca(&self) -> PathBuf {
        self.ssl.join("certs").join("ca.pem")
    }

    /// The CRL bundle, `crl.pem` below `ssl`.
    pub fn crl(&self) -> PathBuf {
        self.ssl.join("crl.pem")
    }

    /// Exists only while a request is pending.
    pub fn request(&self) -> PathBuf {
        self.ssl.join("certificate_requests").join(self.pem_name())
    }

    /// The lock file for updates of the certificates, `ssl.lock` below `ssl`.
    pub fn lock(&self) -> PathBuf {
        self.ssl.join("ssl.lock")
    }

    pub(crate) fn csr_attributes(&self) -> PathBuf {
        self.var.join("csr_attributes.yaml")
    }

    /// The cached catalog, `client_data/catalog/NAME.json` below `var`.
    pub fn cached_catalog(&self) -> PathBuf {
        self.var
            .join("client_data")
            .join("catalog")
            .join(format!("{}.json", self.certname.to_lowercase()))
    }

    /// Puppet uses the lower-case certname in file names.
    fn pem_name(&self) -> String {
        format!("{}.pem", self.certname.to_lowercase())
    }

    /// Links `$vardir/devices/NAME/ssl` to the certificates, where Puppet expects them.
    pub(crate) fn link(&self) -> Result<(), FileError> {
        create_dir(&self.var)?;
        create_dir(&self.ssl)?;
        let link = self.var.join("ssl");
        // A relative target would start at the directory of the link.
        let created = std::path::absolute(&self.ssl)
            .and_then(|target| std::os::unix::fs::symlink(target, &link));
        match created {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(FileError {
                action: "create the link",
                path: link,
                source: error,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;
    use crate::agent::device_file::{self, FileMode};

    fn layout(dir: &Path) -> Layout {
        Layout {
            certname: Certname::parse("SW1.lab.test").unwrap(),
            ssl: dir.join("conf/devices/SW1.lab.test/ssl"),
            var: dir.join("var/devices/SW1.lab.test"),
        }
    }

    #[test]
    fn layout_is_the_layout_of_puppet() {
        let layout = layout(Path::new("/x"));
        let text = |path: PathBuf| path.display().to_string();
        assert_eq!(
            text(layout.key()),
            "/x/conf/devices/SW1.lab.test/ssl/private_keys/sw1.lab.test.pem"
        );
        assert_eq!(
            text(layout.certificate()),
            "/x/conf/devices/SW1.lab.test/ssl/certs/sw1.lab.test.pem"
        );
        assert_eq!(
            text(layout.ca()),
            "/x/conf/devices/SW1.lab.test/ssl/certs/ca.pem"
        );
        assert_eq!(
            text(layout.crl()),
            "/x/conf/devices/SW1.lab.test/ssl/crl.pem"
        );
        assert_eq!(
            text(layout.cached_catalog()),
            "/x/var/devices/SW1.lab.test/client_data/catalog/sw1.lab.test.json"
        );
    }

    #[test]
    fn link_leads_to_the_key() {
        let dir = tempfile::tempdir().unwrap();
        let layout = layout(dir.path());
        layout.link().unwrap();
        layout.link().unwrap();
        device_file::write(&layout.key(), "k", FileMode::GroupReadable).unwrap();
        let through = layout.var.join("ssl/private_keys/sw1.lab.test.pem");
        assert_eq!(device_file::read(&through).unwrap().as_deref(), Some("k"));
        assert_eq!(
            through.metadata().unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
