//! Errors of requests, with hints.

use std::time::Duration;

use rustls::{AlertDescription, CertificateError};
use switchtender_devices::http::{HttpError, NO_TLS, is_ca_certificate};

use crate::agent::http::tls::{NameMismatch, UnknownRevocation};

/// A request without the expected response.
#[derive(Debug, thiserror::Error)]
#[error("{request}: {kind}")]
pub struct RequestError {
    /// Method and URL.
    pub(crate) request: String,
    pub kind: RequestErrorKind,
}

/// The cause of a failed request.
#[derive(Debug, thiserror::Error)]
pub enum RequestErrorKind {
    /// No connection could be established: DNS, TCP or TLS error, or connect timeout.
    #[error("cannot connect: {0}")]
    Unreachable(String),
    /// The response was not complete within this time.
    #[error("no response within {} s", .0.as_secs())]
    Timeout(Duration),
    /// The connection ended before the headers of the response.
    #[error("the server closed the connection without a response: {0}")]
    Disconnected(String),
    /// The connection ended within the body of the response.
    #[error("the response is incomplete: {0}")]
    Incomplete(String),
    /// The certificate of the server is invalid, expired, revoked or from another CA.
    #[error("cannot verify the server's certificate: {}", render_certificate_error(.0))]
    ServerCertificate(CertificateError),
    /// The certificate of the server is valid, but not for the requested host.
    #[error("{0}")]
    ServerName(NameMismatch),
    /// The CRLs do not determine whether the server's certificate is revoked.
    #[error("cannot verify the server's certificate: {0}")]
    Revocation(UnknownRevocation),
    /// The server rejected the certificate of the device with this TLS alert.
    #[error("the server rejected the device's certificate (TLS alert {0:?})")]
    DeviceCertificate(AlertDescription),
    /// The server responded with an error status.
    #[error("the server responded with {status}{}", if .message.is_empty() { String::new() } else { format!(": {}", .message) })]
    Status {
        /// HTTP status code.
        status: u16,
        /// Message from the body of the response; can be empty.
        message: String,
    },
    /// The response is too large, redirects to an invalid URL or has unexpected content.
    #[error("unusable response: {0}")]
    Unexpected(String),
    /// The HTTP request could not be built, such as with an invalid header or URL.
    #[error("cannot send the request: {0}")]
    Invalid(String),
}

impl RequestError {
    /// The status of the response, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self.kind {
            RequestErrorKind::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Whether there was no complete response.
    pub fn is_without_response(&self) -> bool {
        matches!(
            self.kind,
            RequestErrorKind::Unreachable(_)
                | RequestErrorKind::Timeout(_)
                | RequestErrorKind::Disconnected(_)
                | RequestErrorKind::Incomplete(_)
        )
    }

    /// Whether the same request can succeed later: there was no response, or the server failed.
    pub(crate) fn is_temporary(&self) -> bool {
        self.status()
            .is_none_or(|status| matches!(status, 429 | 500..))
    }

    /// The next step for the user.
    pub fn hint(&self) -> Option<String> {
        let hint = match &self.kind {
            RequestErrorKind::Unreachable(_) => {
                "check that the server is running, and check `server` and `serverport`"
            }
            RequestErrorKind::Timeout(_) => {
                "increase http_read_timeout or catalog_timeout if the server needs more time"
            }
            RequestErrorKind::Disconnected(_) => {
                "retry; if it persists, run `switchtender cert show`: a server can close the connection when it rejects the device's certificate"
            }
            RequestErrorKind::Incomplete(_) => {
                "retry; if it persists, check puppetserver.log and any proxy or firewall"
            }
            RequestErrorKind::ServerCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
            ) => "if the CA was recreated, remove certs/ca.pem of the device and of the proxy",
            RequestErrorKind::Revocation(error) if error.expired.is_some() => {
                "correct the clock of this machine, or renew the CRL on the server: the next run downloads it"
            }
            RequestErrorKind::Revocation(error) => {
                return Some(format!(
                    "remove {}: the next run downloads it; or set certificate_revocation = leaf",
                    error.file.display()
                ));
            }
            RequestErrorKind::ServerCertificate(error) if is_ca_certificate(error) => {
                "install a server certificate on the server: CA certificates are not accepted"
            }
            RequestErrorKind::ServerCertificate(_) => {
                "install a valid certificate on the server, or correct the clock of this machine"
            }
            RequestErrorKind::ServerName(mismatch) if mismatch.common_name_only => {
                "issue a server certificate with alternative names (dns_alt_names): a common name alone is not accepted"
            }
            RequestErrorKind::ServerName(_) => {
                "set `server` to one of these names, or add this name to the server's certificate (dns_alt_names)"
            }
            RequestErrorKind::DeviceCertificate(_) => {
                "the certificate is revoked, expired or from another CA (see `switchtender cert show`): clean it on the server (`puppetserver ca clean --certname NAME`) and here (`switchtender cert clean NAME`)"
            }
            RequestErrorKind::Status { status: 403, .. } => {
                "check auth.conf on the server: the certname of the device must match the name in the path"
            }
            RequestErrorKind::Status { status: 400, .. } => {
                "check `environment`; `switchtender doctor` verifies the settings"
            }
            RequestErrorKind::Status { status: 404, .. } => {
                "check `environment`, `server` and `serverport`"
            }
            RequestErrorKind::Status {
                status: 406 | 415, ..
            } => "use Puppet Server 5 or later: JSON is required",
            RequestErrorKind::Status {
                status: 429 | 503, ..
            } => {
                "the server is overloaded: lower --catalog-concurrency, or configure Retry-After on the server"
            }
            RequestErrorKind::Status { status: 500.., .. } => {
                "fix the manifest at the position in the message; details are in puppetserver.log"
            }
            RequestErrorKind::Unexpected(_) => {
                "check `server`, `serverport` and any proxy: the response does not look like Puppet Server"
            }
            RequestErrorKind::Status { .. } | RequestErrorKind::Invalid(_) => return None,
        };
        Some(hint.to_owned())
    }
}

impl RequestErrorKind {
    /// The kind of an error of the HTTP client.
    pub(super) fn classify(error: &HttpError, connect_timeout: Duration) -> Self {
        if let Some(tls) = error.tls() {
            return Self::classify_tls(tls);
        }
        if error.is_timeout() {
            return Self::Unreachable(format!(
                "no connection within {} s",
                connect_timeout.as_secs()
            ));
        }
        let cause = error.root_cause();
        match error {
            HttpError::TooLarge { limit } => {
                Self::Unexpected(format!("it is larger than {} MiB", limit >> 20))
            }
            HttpError::Send(_) if error.is_connect() => Self::Unreachable(cause),
            HttpError::Send(_) if error.is_invalid_request() => Self::Invalid(cause),
            HttpError::Send(_) => Self::Disconnected(cause),
            HttpError::Receive(_) => Self::Incomplete(cause),
        }
    }

    fn classify_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(error) => Self::ServerCertificate(error.clone()),
            rustls::Error::AlertReceived(
                alert @ (AlertDescription::CertificateUnknown
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::DecryptError
                | AlertDescription::AccessDenied
                | AlertDescription::CertificateRequired),
            ) => Self::DeviceCertificate(*alert),
            rustls::Error::InvalidMessage(_) => Self::Unreachable(NO_TLS.to_owned()),
            other => Self::Unreachable(other.to_string()),
        }
    }
}

fn render_certificate_error(error: &CertificateError) -> String {
    let text = match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet, or the clock of this machine is wrong"
        }
        CertificateError::Revoked => "it is revoked",
        CertificateError::BadSignature => {
            "its CA has the name of a CA in the bundle, but another key (BadSignature)"
        }
        CertificateError::UnknownIssuer => "its CA is not in the bundle (UnknownIssuer)",
        other if is_ca_certificate(other) => "it is a CA certificate, not a server certificate",
        other => return other.to_string(),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ca_certificate_of_a_server_is_named_as_such() {
        use rustls::client::WebPkiServerVerifier;
        use rustls::pki_types::{ServerName, UnixTime};
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(vec!["puppet".to_owned()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
        let error = rustls::client::danger::ServerCertVerifier::verify_server_cert(
            &*verifier.build().unwrap(),
            certificate.der(),
            &[],
            &ServerName::try_from("puppet").unwrap(),
            &[],
            UnixTime::now(),
        );
        let error = RequestError {
            request: "GET https://puppet:8140/".to_owned(),
            kind: RequestErrorKind::classify_tls(&error.unwrap_err()),
        };
        let text = "it is a CA certificate, not a server certificate";
        assert!(error.to_string().ends_with(text), "{error}");
        let hint = error.hint().unwrap();
        assert!(hint.contains("install a server certificate"), "{hint}");
    }

    #[test]
    fn classify_tls_separates_the_certificates_of_server_and_device() {
        let cases = [
            (
                rustls::Error::AlertReceived(AlertDescription::CertificateRevoked),
                "the server rejected the device's certificate (TLS alert CertificateRevoked)",
                "switchtender cert clean",
            ),
            (
                rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer),
                "cannot verify the server's certificate: its CA is not in the bundle (UnknownIssuer)",
                "remove certs/ca.pem",
            ),
            (
                rustls::Error::InvalidCertificate(CertificateError::Revoked),
                "cannot verify the server's certificate: it is revoked",
                "install a valid certificate",
            ),
            (
                rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType),
                "cannot connect: the server does not speak TLS; check the port",
                "check `server` and `serverport`",
            ),
        ];
        for (error, text, hint) in cases {
            let error = RequestError {
                request: "GET https://puppet:8140/".to_owned(),
                kind: RequestErrorKind::classify_tls(&error),
            };
            assert!(error.to_string().ends_with(text), "{error}");
            assert!(error.hint().unwrap().contains(hint), "{error}");
        }
    }
}
