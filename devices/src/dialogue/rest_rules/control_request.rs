//! Requests about a change: to begin, to check, to commit or to discard it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use switchtender_outline::RequestShape;

use crate::document::{At, Findings, Template, keys, word_values};
use crate::operation::outline::{NameEncoding, PathPart, request_shape, with_body};
use crate::operation::{Method, Precondition, Request};
use crate::secret::Text;

/// Characters that are percent-encoded in a value: all that are not unreserved.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

keys! {
    /// A request about a change, with a placeholder in its path.
    pub(crate) struct ControlRequest {
        /// Method of the request.
        verb: ControlVerb,
        /// Path of the request.
        path: At<Template>,
        /// Body of the request.
        body: Option<String>,
    }
}

/// The method of a request about a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlVerb(Method);

word_values!(ControlVerb {
    "POST" => ControlVerb(Method::Post),
    "PUT" => ControlVerb(Method::Put),
    "PATCH" => ControlVerb(Method::Patch),
    "DELETE" => ControlVerb(Method::Delete),
});

impl ControlRequest {
    /// Reports placeholders of the path besides this one.
    pub(super) fn check(&self, placeholder: &str, findings: &Findings) {
        let rest = self.text().replace(&format!("{{{placeholder}}}"), "");
        if rest.contains('{') {
            let message = format!(
                "`{}` has other placeholders than `{{{placeholder}}}`",
                self.text()
            );
            findings.error("unfilled", self.path.span.clone(), message);
        }
    }

    fn text(&self) -> &str {
        &self.path.value.0
    }

    /// The requests with any value of the placeholder, for a mock.
    pub(super) fn outline(&self, placeholder: &str) -> RequestShape {
        let mut parts = Vec::new();
        for literal in self.text().split(&format!("{{{placeholder}}}")) {
            if !parts.is_empty() {
                parts.push(PathPart::Name(placeholder, NameEncoding::Segment));
            }
            parts.push(PathPart::Literal(literal));
        }
        with_body(request_shape(self.verb.0, &parts), self.body.as_deref())
    }

    /// The request with the value of its placeholder, encoded for a URL.
    pub(super) fn with(&self, placeholder: &str, value: &str) -> Request {
        let value = utf8_percent_encode(value, VALUE).to_string();
        Request {
            method: self.verb.0,
            path: self.text().replace(&format!("{{{placeholder}}}"), &value),
            body: self.body.as_ref().map(Text::plain),
            abridged: None,
            is_file: false,
            idempotent: false,
            precondition: Precondition::None,
        }
    }
}
