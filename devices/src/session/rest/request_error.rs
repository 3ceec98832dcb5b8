//! Converts errors of requests to session errors.

use std::time::Duration;

use rustls::CertificateError;

use super::certificate_check::{CertificateCheck, with_colons};
use crate::http::{HttpError, NO_TLS, PresentedCertificate, is_ca_certificate};
use crate::session::error::{CA_CERTIFICATE, SessionErrorKind};

/// Context of a failed request.
pub(super) struct RequestContext<'a> {
    pub(crate) address: &'a str,
    /// `GET /path`, for the message.
    pub(crate) command: &'a str,
    pub(crate) certificate_check: &'a CertificateCheck,
    pub(crate) presented: &'a PresentedCertificate,
    pub(crate) connect_timeout: Duration,
    pub(crate) command_timeout: Duration,
}

/// The session error of a failed request.
pub(super) fn classify(error: &HttpError, context: &RequestContext<'_>) -> SessionErrorKind {
    let command = context.command.to_owned();
    if error.is_connect() {
        return no_connection(error, context);
    }
    if error.is_timeout() {
        return SessionErrorKind::CommandTimeout {
            command,
            limit: context.command_timeout,
            last_output: String::new(),
        };
    }
    if let HttpError::TooLarge { .. } = error {
        let reason = error.to_string();
        return SessionErrorKind::InvalidAnswer { command, reason };
    }
    SessionErrorKind::Disconnected {
        command,
        reason: root_cause(error),
    }
}

fn no_connection(error: &HttpError, context: &RequestContext<'_>) -> SessionErrorKind {
    let address = context.address.to_owned();
    let presented = context.presented;
    if let Some(refusal) = (context.certificate_check).mismatch(presented, &address) {
        return refusal;
    }
    let tls = error.tls();
    if let Some(rustls::Error::InvalidCertificate(reason)) = tls {
        return SessionErrorKind::CertificateUntrusted {
            address,
            reason: certificate_reason(reason),
            found: presented.fingerprint().as_deref().map(with_colons),
        };
    }
    if error.is_timeout() {
        return SessionErrorKind::ConnectTimeout {
            address,
            limit: context.connect_timeout,
        };
    }
    let reason = root_cause(error);
    SessionErrorKind::Unreachable { address, reason }
}

fn certificate_reason(error: &CertificateError) -> String {
    if is_ca_certificate(error) {
        CA_CERTIFICATE.to_owned()
    } else {
        error.to_string()
    }
}

/// The innermost message, without a link to a library's manual.
fn root_cause(error: &HttpError) -> String {
    let text = error.root_cause();
    if text == NO_TLS {
        return text;
    }
    let text = text.to_lowercase();
    match text.split_once(": https://") {
        Some((message, _)) => message.to_owned(),
        None => text,
    }
}
