//! What can go wrong with a request, in words, and what to do about it.

use std::error::Error as _;
use std::time::Duration;

use crate::agent::tls::NameMismatch;

/// A request that did not get the answer it wanted.
#[derive(Debug, thiserror::Error)]
#[error("{request}: {kind}")]
pub struct RequestError {
    pub request: String,
    pub kind: RequestErrorKind,
}

#[derive(Debug, thiserror::Error)]
pub enum RequestErrorKind {
    #[error("cannot connect: {0}")]
    Unreachable(String),
    #[error("no answer within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("the answer broke off: {0}")]
    Cut(String),
    #[error("the server's certificate is not accepted: {0}")]
    ServerCertificate(String),
    #[error("{0}")]
    ServerName(NameMismatch),
    #[error("the server does not accept the device's certificate ({0})")]
    DeviceCertificate(String),
    #[error("the server answered {status}{}", if .said.is_empty() { String::new() } else { format!(": {}", .said) })]
    Status { status: u16, said: String },
    #[error("the answer cannot be used: {0}")]
    Unexpected(String),
    #[error("the request cannot be sent: {0}")]
    Invalid(String),
}

impl RequestError {
    /// The status that the server answered, if it did.
    pub fn status(&self) -> Option<u16> {
        match self.kind {
            RequestErrorKind::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Whether the server was not there, as opposed to having answered.
    pub fn no_answer(&self) -> bool {
        matches!(
            self.kind,
            RequestErrorKind::Unreachable(_)
                | RequestErrorKind::Timeout(_)
                | RequestErrorKind::Cut(_)
        )
    }

    /// Whether the same request could be taken later: the server has not seen it, or had no way
    /// to take it now.
    pub fn may_pass(&self) -> bool {
        self.status()
            .is_none_or(|status| matches!(status, 429 | 500..))
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match &self.kind {
            RequestErrorKind::Unreachable(_) => {
                "is the server running, and `server` and `serverport` right?".to_owned()
            }
            RequestErrorKind::Timeout(_) => {
                "raise http_read_timeout or catalog_timeout if the server needs longer".to_owned()
            }
            RequestErrorKind::ServerCertificate(why) if why.contains("UnknownIssuer") || why.contains("BadSignature") => {
                "the server's certificate is not below the stored CA bundle; if the CA was made anew, remove certs/ca.pem of the device and of the proxy".to_owned()
            }
            RequestErrorKind::ServerCertificate(why) if why.contains("UnknownRevocationStatus") => {
                "a CRL is missing; remove crl.pem of the device, or set certificate_revocation = leaf".to_owned()
            }
            RequestErrorKind::ServerCertificate(_) => {
                "give the server a sound certificate, or set the clock of this machine; then try again"
                    .to_owned()
            }
            RequestErrorKind::ServerName(mismatch) if mismatch.common_name_only => {
                "the certificate has only a common name, which does not count; make the server a certificate with alternative names (dns_alt_names)".to_owned()
            }
            RequestErrorKind::ServerName(_) => {
                "set `server` to one of these names, or make the server a certificate with this one (dns_alt_names)".to_owned()
            }
            RequestErrorKind::DeviceCertificate(_) => {
                "it is revoked, expired or of another CA: `switchtender cert show` tells; clean it on the server (`puppetserver ca clean --certname NAME`) and here (`switchtender cert clean NAME`)".to_owned()
            }
            RequestErrorKind::Status { status: 403, .. } => {
                "the device's certificate must have the name in the path, and the server's auth.conf must allow it".to_owned()
            }
            RequestErrorKind::Status { status: 400, .. } => {
                "is `environment` right? `switchtender doctor` looks at the settings".to_owned()
            }
            RequestErrorKind::Status { status: 404, .. } => {
                "is `environment` right, and is this a Puppet Server (`server`, `serverport`)?".to_owned()
            }
            RequestErrorKind::Status { status: 406 | 415, .. } => {
                "the server must speak JSON, as all do from Puppet 5 on".to_owned()
            }
            RequestErrorKind::Status { status: 429 | 503, .. } => {
                "the server has too much to do: lower --catalog-concurrency, or let the server say when to come back (Retry-After)".to_owned()
            }
            RequestErrorKind::Status { status: 500.., .. } => {
                "mend the manifest where the message says so; the server's puppetserver.log tells more".to_owned()
            }
            RequestErrorKind::Cut(_) => {
                "try again; if it stays so, look at the server's puppetserver.log and at what is in between".to_owned()
            }
            RequestErrorKind::Unexpected(_) => {
                "did a Puppet Server answer? Look at `server` and `serverport`, and whether a proxy is in between".to_owned()
            }
            _ => return None,
        })
    }
}

/// What an error of the library means.
pub(super) fn kind_of(error: &reqwest::Error, connect_limit: Duration) -> RequestErrorKind {
    if let Some(tls) = find::<rustls::Error>(error) {
        return tls_kind(tls);
    }
    if error.is_timeout() {
        return RequestErrorKind::Unreachable(format!(
            "no connection within {} s",
            connect_limit.as_secs()
        ));
    }
    let why = innermost(error);
    if error.is_connect() {
        RequestErrorKind::Unreachable(why)
    } else if error.is_builder() {
        RequestErrorKind::Invalid(why)
    } else {
        RequestErrorKind::Cut(why)
    }
}

pub(super) fn tls_kind(error: &rustls::Error) -> RequestErrorKind {
    use rustls::{AlertDescription, CertificateError, Error};
    match error {
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            match other.0.downcast_ref::<NameMismatch>() {
                Some(mismatch) => RequestErrorKind::ServerName(NameMismatch {
                    asked: mismatch.asked.clone(),
                    names: mismatch.names.clone(),
                    common_name_only: mismatch.common_name_only,
                }),
                None => RequestErrorKind::ServerCertificate(other.to_string()),
            }
        }
        Error::InvalidCertificate(why) => {
            RequestErrorKind::ServerCertificate(certificate_words(why))
        }
        Error::AlertReceived(
            alert @ (AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::DecryptError
            | AlertDescription::AccessDenied
            | AlertDescription::CertificateRequired),
        ) => RequestErrorKind::DeviceCertificate(format!("TLS alert {alert:?}")),
        other => RequestErrorKind::Unreachable(other.to_string()),
    }
}

fn certificate_words(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError as E;
    match why {
        E::Expired | E::ExpiredContext { .. } => "it has expired (Expired)".to_owned(),
        E::NotValidYet | E::NotValidYetContext { .. } => {
            "it is not valid yet, or the clock here is wrong (NotValidYet)".to_owned()
        }
        E::Revoked => "it was revoked (Revoked)".to_owned(),
        E::BadSignature => {
            "it is of a CA that only has the name of the one in the bundle (BadSignature)"
                .to_owned()
        }
        E::UnknownIssuer => "it is of a CA that is not in the bundle (UnknownIssuer)".to_owned(),
        E::UnknownRevocationStatus => {
            "no CRL says whether it was revoked (UnknownRevocationStatus)".to_owned()
        }
        other => format!("{other:?}"),
    }
}

/// An error of this type among the causes, also where it travels inside an I/O error.
fn find<T: std::error::Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let inner = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .map(|inner| inner as &(dyn std::error::Error + 'static));
        if let Some(found) = inner.and_then(|inner| inner.downcast_ref::<T>()) {
            return Some(found);
        }
        cause = inner.or_else(|| error.source());
    }
    None
}

fn innermost(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}
