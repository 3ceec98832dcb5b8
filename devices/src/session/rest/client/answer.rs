//! A complete answer to a request.

use crate::dialogue::rest_rules::next_link;
use crate::http::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LINK, SET_COOKIE};
use crate::read::xml::{self, Namespaces};

/// A complete answer.
#[derive(Clone, Debug)]
pub(in crate::session::rest) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// The entity tag of the object.
    pub(crate) etag: Option<String>,
    /// The link to the next page of a list.
    pub(crate) next: Option<String>,
    /// The body contains an error, whatever the status is.
    pub(super) has_error: bool,
    /// The cookies that the device sets, with attributes.
    pub(super) cookies: Vec<String>,
}

/// A header that makes a request conditional, and its value.
pub(in crate::session::rest) type ConditionHeader = (HeaderName, String);

impl HttpAnswer {
    /// The value of a cookie that the device sets.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.iter().find_map(|cookie| {
            let pair = cookie.split(';').next()?;
            let (found, value) = pair.split_once('=')?;
            let value = value.trim().trim_matches('"');
            (found.trim() == name && !value.is_empty()).then_some(value)
        })
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status) && !self.has_error
    }

    /// Whether a write with this answer may be applied: a server can redirect, give up or fail after it
    /// has applied a change, or has passed it on. Only other statuses 4xx refuse it.
    pub(crate) fn is_unclear_after_write(&self) -> bool {
        const REQUEST_TIMEOUT: u16 = 408;
        matches!(self.status, 100..200 | 300..400 | REQUEST_TIMEOUT | 500..)
    }
}

/// The text of a body. XML becomes JSON, in the form of a NETCONF answer.
pub(super) fn body_text(headers: &HeaderMap, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let media_type = headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|value| value.split(';').next());
    let is_xml = media_type.is_some_and(|name| {
        let name = name.trim().to_ascii_lowercase();
        name.ends_with("/xml") || name.ends_with("+xml") && !name.contains("html")
    });
    match is_xml.then(|| xml::parse(&text, &Namespaces::default())) {
        Some(Ok(tree)) => tree.to_string(),
        Some(Err(_)) | None => text.into_owned(),
    }
}

/// The cookies in headers.
pub(super) fn cookies(headers: &HeaderMap) -> Vec<String> {
    let cookies = headers.get_all(SET_COOKIE).iter();
    let texts = cookies.filter_map(|cookie| cookie.to_str().ok());
    texts.map(str::to_owned).collect()
}

/// The link to the next page in headers.
pub(super) fn next_page(headers: &HeaderMap) -> Option<String> {
    let mut links = headers.get_all(LINK).iter();
    let next = links.find_map(|link| next_link(link.to_str().ok()?));
    next.map(str::to_owned)
}

/// The entity tag in headers or trailers.
pub(super) fn entity_tag(headers: &HeaderMap) -> Option<String> {
    let tag = headers.get(ETAG)?;
    tag.to_str().ok().map(str::to_owned)
}
