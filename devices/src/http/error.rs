//! Requests without a complete answer.

use std::error::Error;

use rustls::CertificateError;

/// A request without a complete answer. Its text has the URL; [`HttpError::without_url`] omits it.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// There is no connection, or it ended before the headers of the answer.
    #[error(transparent)]
    Send(reqwest::Error),
    /// The connection ended within the body of the answer.
    #[error(transparent)]
    Receive(reqwest::Error),
    /// The body of the answer is too large.
    #[error("the answer is longer than {} MiB", limit >> 20)]
    TooLarge {
        /// Maximum number of bytes.
        limit: usize,
    },
}

impl HttpError {
    /// The same error without the URL, which can have a secret.
    #[must_use]
    pub fn without_url(self) -> Self {
        match self {
            Self::Send(error) => Self::Send(error.without_url()),
            Self::Receive(error) => Self::Receive(error.without_url()),
            Self::TooLarge { limit } => Self::TooLarge { limit },
        }
    }

    /// Whether the connection was not established.
    pub fn is_connect(&self) -> bool {
        self.library_error().is_some_and(reqwest::Error::is_connect)
    }

    /// Whether a limit of the client or of the request has passed.
    pub fn is_timeout(&self) -> bool {
        self.library_error().is_some_and(reqwest::Error::is_timeout)
    }

    /// Whether a URL or a header was invalid, so that nothing was sent.
    pub fn is_invalid_request(&self) -> bool {
        self.library_error().is_some_and(reqwest::Error::is_builder)
    }

    /// The cause, if it is one of TLS.
    pub fn tls(&self) -> Option<&rustls::Error> {
        find_tls(self.library_error()?)
    }

    /// The text of the innermost cause, in clear words for an answer without TLS.
    pub fn root_cause(&self) -> String {
        if let Some(rustls::Error::InvalidMessage(_)) = self.tls() {
            return NO_TLS.to_owned();
        }
        let mut innermost: &dyn Error = self;
        while let Some(cause) = innermost.source() {
            innermost = cause;
        }
        innermost.to_string()
    }

    fn library_error(&self) -> Option<&reqwest::Error> {
        match self {
            Self::Send(error) | Self::Receive(error) => Some(error),
            Self::TooLarge { .. } => None,
        }
    }
}

/// The cause of an answer that is not TLS: the library says `received corrupt message of type InvalidContentType`.
pub const NO_TLS: &str = "the server does not speak TLS; check the port";

/// Whether the server presented a CA certificate as its own.
pub fn is_ca_certificate(error: &CertificateError) -> bool {
    // The TLS library has no other name for it.
    matches!(error, CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity")
}

/// A TLS error among the causes, also where it travels inside an I/O error.
fn find_tls<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    if let Some(found) = error.downcast_ref::<rustls::Error>() {
        return Some(found);
    }
    // The source of an I/O error is the source of the wrapped error, not the wrapped error.
    let wrapped = error
        .downcast_ref::<std::io::Error>()
        .and_then(std::io::Error::get_ref);
    wrapped
        .and_then(|inner| find_tls(inner))
        .or_else(|| find_tls(error.source()?))
}
