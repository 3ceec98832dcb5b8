//! Why a device has no usable certificate.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use switchtender_devices::names::Certname;

use crate::agent::ca::authority::CaError;
use crate::agent::ca::certificate_request;
use crate::agent::ca::key::KeyError;
use crate::agent::ca::ssl_lock::SslLockError;
use crate::agent::certificate::ParseCertificateError;
use crate::agent::device_file::FileError;
use crate::agent::http;
use crate::agent::puppet_conf::Server;
use crate::agent::revocation_lists::RevocationListError;
use switchtender_devices::http::ClientSettingsError;

/// A device has no usable certificate.
#[derive(Debug, thiserror::Error)]
pub enum BootstrapError {
    /// The lock on the certificate directory is not available.
    #[error(transparent)]
    Locked(#[from] SslLockError),
    /// A file or directory of the device cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The CA bundle or the CRLs are not available.
    #[error(transparent)]
    Ca(#[from] CaError),
    /// The file of the CRLs does not exist.
    #[error("The CRL is missing from '{}'", .path.display())]
    CrlMissing {
        /// Expected file of the CRLs.
        path: PathBuf,
    },
    /// The stored CRLs cannot be used.
    #[error("cannot use the CRLs in {}", .path.display())]
    Crl {
        /// File of the CRLs.
        path: PathBuf,
        /// Error in the CRLs.
        #[source]
        source: RevocationListError,
    },
    /// A request for the certificate failed, or the server responded with an error status.
    #[error(transparent)]
    Server(#[from] http::RequestError),
    /// The CA bundle, the CRLs or the device's certificate cannot be used for TLS.
    #[error(transparent)]
    Tls(#[from] ClientSettingsError),
    /// The private key cannot be read or generated.
    #[error("cannot use the private key {}", .path.display())]
    Key {
        /// File of the private key.
        path: PathBuf,
        /// Reason why the key is unusable.
        #[source]
        source: KeyError,
    },
    /// The device has a certificate, but the file of its private key is missing.
    #[error("{device} has a certificate but no private key ({} is missing)", .path.display())]
    KeyMissing {
        /// Certname of the device.
        device: Certname,
        /// Expected file of the private key.
        path: PathBuf,
    },
    /// The certificate request cannot be created.
    #[error("cannot create a certificate request for {device}")]
    Request {
        /// Certname of the device.
        device: Certname,
        /// Error in the request or in `csr_attributes.yaml`.
        #[source]
        source: certificate_request::CsrError,
    },
    /// The CA rejected the certificate request with status 400.
    #[error("{device}: {server} rejected the certificate request: {message}")]
    Refused {
        /// Certname of the device.
        device: Certname,
        /// Server that rejected the request.
        server: Server,
        /// Message in the response of the server.
        message: String,
    },
    /// The CA has not signed the certificate request.
    #[error("Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate ({device}).{}", .waited.map_or_else(|| " Exiting; no certificate found and waitforcert is disabled".to_owned(), |waited| format!(" Exiting; no certificate after {} s (maxwaitforcert)", waited.as_secs())))]
    NotSigned {
        /// Certname of the device.
        device: Certname,
        /// SHA-256 of the request.
        fingerprint: String,
        /// Time spent waiting, up to `maxwaitforcert`; `None`: `waitforcert` is 0.
        waited: Option<Duration>,
    },
    /// The public key of the certificate does not belong to the device's private key.
    #[error("The certificate for 'CN={device}' does not match its private key")]
    Mismatch {
        /// Certname of the device.
        device: Certname,
    },
    /// The certificate or the CA bundle of the device is not valid PEM or X.509.
    #[error("cannot use the certificate {}", .path.display())]
    Unreadable {
        /// File of the certificate or of the CA bundle.
        path: PathBuf,
        /// Error in the certificate.
        #[source]
        source: ParseCertificateError,
    },
    /// Neither the common name nor an alternative name of the certificate is the certname.
    #[error("the certificate in {} is for {names}, not for {device}", .path.display())]
    WrongName {
        /// Certname of the device.
        device: Certname,
        /// File of the certificate.
        path: PathBuf,
        /// Common name and alternative names of the certificate, separated by commas.
        names: String,
    },
    /// The certificate of the device has expired.
    #[error("the certificate of {device} expired on {on}")]
    Expired {
        /// Certname of the device.
        device: Certname,
        /// End of the validity of the certificate.
        on: Timestamp,
    },
}

impl BootstrapError {
    /// The next step for the user.
    pub fn hint(&self) -> Option<String> {
        let renew = |device: &Certname| {
            format!(
                "on the server: `puppetserver ca clean --certname {device}`; here: `switchtender cert clean {device}`; the next run requests a new one"
            )
        };
        match self {
            BootstrapError::Server(error) => error.hint(),
            BootstrapError::Ca(CaError::Request(error)) => error.hint(),
            BootstrapError::Ca(CaError::NoCrl { .. }) => Some(
                "check puppetserver.log and any proxy; `certificate_revocation = false` disables the check"
                    .to_owned(),
            ),
            BootstrapError::CrlMissing { path } | BootstrapError::Crl { path, .. } => Some(format!(
                "start a run: it downloads {}; `certificate_revocation = false` disables the check",
                path.display()
            )),
            BootstrapError::Ca(CaError::Fingerprint { .. }) => {
                Some("verify the server; if the CA was recreated, update ca_fingerprint".to_owned())
            }
            BootstrapError::NotSigned {
                device,
                fingerprint,
                ..
            } => Some(format!(
                "compare the SHA-256 of the request ({fingerprint}), then sign it: `puppetserver ca sign --certname {device}`"
            )),
            BootstrapError::Mismatch { device }
            | BootstrapError::KeyMissing { device, .. }
            | BootstrapError::Expired { device, .. } => Some(renew(device)),
            BootstrapError::WrongName { path, .. } | BootstrapError::Unreadable { path, .. } => {
                Some(format!(
                    "remove {} or replace it with the certificate of the device",
                    path.display()
                ))
            }
            BootstrapError::Refused { device, .. } => Some(renew(device)),
            BootstrapError::Key {
                path,
                source: KeyError::Encrypted,
            } => Some(format!(
                "remove the pass phrase: `openssl rsa -in {0} -out {0}` or `openssl ec …`",
                path.display()
            )),
            _ => None,
        }
    }
}
