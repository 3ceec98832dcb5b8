//! Converts errors of the HTTP library to session errors.

use std::error::Error;

use rustls::CertificateError;

use super::tls::CertificateCheck;
use crate::session::error::{CA_CERTIFICATE, SessionErrorKind};

/// Context of a failed request.
pub(super) struct RequestContext<'a> {
    pub(crate) address: &'a str,
    /// `GET /path`, for the message.
    pub(crate) command: &'a str,
    pub(crate) certificate_check: &'a CertificateCheck,
    pub(crate) connect_timeout: std::time::Duration,
    pub(crate) command_timeout: std::time::Duration,
}

/// The session error of a failed request.
pub(super) fn classify(error: &reqwest::Error, context: &RequestContext<'_>) -> SessionErrorKind {
    let address = context.address.to_owned();
    if error.is_connect() {
        if let Some(refusal) = context.certificate_check.mismatch(context.address) {
            return refusal;
        }
        if let Some(rustls::Error::InvalidCertificate(reason)) = tls_error(error) {
            return SessionErrorKind::CertificateUntrusted {
                address,
                reason: match &reason {
                    // The TLS library has no other name for it.
                    CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
                        CA_CERTIFICATE.to_owned()
                    }
                    other => other.to_string(),
                },
                found: None,
            };
        }
        if error.is_timeout() {
            return SessionErrorKind::ConnectTimeout {
                address,
                limit: context.connect_timeout,
            };
        }
        return SessionErrorKind::Unreachable {
            address,
            reason: match tls_error(error) {
                Some(rustls::Error::InvalidMessage(_)) => NO_TLS.to_owned(),
                _ => root_cause(error),
            },
        };
    }
    if error.is_timeout() {
        return SessionErrorKind::CommandTimeout {
            command: context.command.to_owned(),
            limit: context.command_timeout,
            last_output: String::new(),
        };
    }
    SessionErrorKind::Disconnected {
        command: context.command.to_owned(),
        reason: root_cause(error),
    }
}

/// Reason for an answer that is not TLS.
const NO_TLS: &str = "the server does not speak TLS; check the port";

/// The innermost message, without a link to a library's manual.
fn root_cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    let text = innermost.to_string().to_lowercase();
    match text.split_once(": https://") {
        Some((message, _)) => message.to_owned(),
        None => text,
    }
}

fn tls_error(error: &(dyn Error + 'static)) -> Option<rustls::Error> {
    if let Some(found) = error.downcast_ref::<rustls::Error>() {
        return Some(found.clone());
    }
    // The source of an I/O error is the source of the wrapped error, not the wrapped error.
    let wrapped = error
        .downcast_ref::<std::io::Error>()
        .and_then(|error| error.get_ref());
    let wrapped = wrapped.and_then(|inner| tls_error(inner));
    wrapped.or_else(|| tls_error(error.source()?))
}
