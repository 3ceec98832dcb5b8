//! A complete answer to a request.

use reqwest::header::{ETAG, HeaderMap, HeaderName};

/// A complete answer.
#[derive(Clone, Debug)]
pub(in crate::session::rest) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// The entity tag of the object.
    pub(crate) etag: Option<String>,
    /// The body contains an error, whatever the status is.
    pub(super) has_error: bool,
}

/// A header that makes a request conditional, and its value.
pub(in crate::session::rest) type ConditionHeader = (HeaderName, String);

impl HttpAnswer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status) && !self.has_error
    }
}

/// The entity tag in headers or trailers.
pub(super) fn entity_tag(headers: &HeaderMap) -> Option<String> {
    let tag = headers.get(ETAG)?;
    tag.to_str().ok().map(str::to_owned)
}
