//! What an error of the HTTP library means.

use std::error::Error;

use super::tls::CertificateCheck;
use crate::session::error::SessionErrorKind;

/// What is known when a request fails.
pub(super) struct RequestContext<'a> {
    pub address: &'a str,
    /// `GET /path`, for the message.
    pub command: &'a str,
    pub trust: &'a CertificateCheck,
    pub connect_timeout: std::time::Duration,
    pub command_timeout: std::time::Duration,
}

/// Names the failure of a request.
pub(super) fn classify(error: &reqwest::Error, of: &RequestContext<'_>) -> SessionErrorKind {
    let address = of.address.to_owned();
    if error.is_connect() {
        if let Some(refusal) = of.trust.mismatch(of.address) {
            return refusal;
        }
        if let Some(rustls::Error::InvalidCertificate(why)) = tls_error(error) {
            return SessionErrorKind::CertificateUntrusted {
                address,
                why: why.to_string(),
                found: None,
            };
        }
        if error.is_timeout() {
            return SessionErrorKind::ConnectTimeout {
                address,
                limit: of.connect_timeout,
            };
        }
        return SessionErrorKind::Unreachable {
            address,
            why: match tls_error(error) {
                Some(rustls::Error::InvalidMessage(_)) => NO_TLS.to_owned(),
                _ => root_cause(error),
            },
        };
    }
    if error.is_timeout() {
        return SessionErrorKind::CommandTimeout {
            command: of.command.to_owned(),
            limit: of.command_timeout,
            tail: String::new(),
        };
    }
    SessionErrorKind::Disconnected {
        command: of.command.to_owned(),
        why: root_cause(error),
    }
}

/// The messages of an error and its sources; the outer ones alone say nothing.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

/// What an answer that is no TLS means.
const NO_TLS: &str = "what answers does not speak TLS; is the port right?";

/// The innermost message, without the page of a library's manual that it may name.
fn root_cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    let text = innermost.to_string().to_lowercase();
    match text.split_once(": https://") {
        Some((said, _)) => said.to_owned(),
        None => text,
    }
}

fn tls_error(error: &(dyn Error + 'static)) -> Option<rustls::Error> {
    if let Some(found) = error.downcast_ref::<rustls::Error>() {
        return Some(found.clone());
    }
    // An I/O error names the source of what it wraps, not the thing itself.
    let wrapped = error
        .downcast_ref::<std::io::Error>()
        .and_then(|error| error.get_ref());
    let wrapped = wrapped.and_then(|inner| tls_error(inner));
    wrapped.or_else(|| tls_error(error.source()?))
}
