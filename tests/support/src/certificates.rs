//! Certificates of a CA of the test, in files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};

/// A CA.
pub struct TestAuthority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl TestAuthority {
    /// A CA with a new key.
    ///
    /// # Panics
    /// Never: the parameters are valid.
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = parameters(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("valid parameters").pem();
        let issuer = Issuer::new(params, key);
        Self { issuer, pem }
    }

    /// The CA certificate.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Writes a new certificate and its key as `NAME.pem` and `NAME.key`.
    ///
    /// # Panics
    /// If the files cannot be written.
    pub fn issue(&self, directory: &Path, name: &str, params: &CertificateParams) {
        let key = KeyPair::generate().expect("a key");
        let issued = params.signed_by(&key, &self.issuer);
        let certificate = issued.expect("valid parameters").pem();
        fs::write(directory.join(format!("{name}.pem")), certificate).expect("a writable file");
        let path = directory.join(format!("{name}.key"));
        fs::write(&path, key.serialize_pem()).expect("a writable file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("an own file");
    }
}

/// A certificate with a common name, and with alternative names or addresses.
///
/// # Panics
/// If a name is no DNS name.
pub fn parameters(common_name: &str, names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("valid names");
    params.distinguished_name = DistinguishedName::new();
    (params.distinguished_name).push(DnType::CommonName, common_name);
    params
}
