//! Requests about a change: to begin, to check, to commit or to discard it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use switchtender_outline::RequestShape;

use crate::document::Table;
use crate::document::word;
use crate::operation::outline::{NameEncoding, PathPart, request_shape, with_body};
use crate::operation::{Method, Precondition, Request};
use crate::secret::Text;

/// Characters that are percent-encoded in a value: all that are not unreserved.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// `{ verb, path, body }`, with placeholders in the path.
#[derive(Clone, Debug)]
pub(super) struct ControlRequest {
    method: Method,
    path: String,
    body: Option<String>,
}

impl ControlRequest {
    /// Reads the request at a key; its path may have the placeholder.
    pub(super) fn read(table: &Table<'_>, key: &str, placeholder: &str) -> Option<Self> {
        let request = table.table(key)?;
        let verbs = [
            ("POST", Method::Post),
            ("PUT", Method::Put),
            ("PATCH", Method::Patch),
            ("DELETE", Method::Delete),
        ];
        let verb = request
            .required("verb")
            .and_then(|item| word(&item, &verbs));
        let path = request.required("path");
        let path = path.and_then(|item| item.string_with(&[placeholder]));
        let body = request.string("body");
        request.finish();
        Some(Self {
            method: verb?,
            path: path?,
            body,
        })
    }

    /// The requests with any value of the placeholder, for a mock.
    pub(super) fn outline(&self, placeholder: &str) -> RequestShape {
        let mut parts = Vec::new();
        for literal in self.path.split(&format!("{{{placeholder}}}")) {
            if !parts.is_empty() {
                parts.push(PathPart::Name(placeholder, NameEncoding::Segment));
            }
            parts.push(PathPart::Literal(literal));
        }
        with_body(request_shape(self.method, &parts), self.body.as_deref())
    }

    /// The same, if the key is missing an error.
    pub(super) fn required(table: &Table<'_>, key: &str, placeholder: &str) -> Option<Self> {
        table.required(key)?;
        Self::read(table, key, placeholder)
    }

    /// The request with the value of its placeholder, encoded for a URL.
    pub(super) fn with(&self, placeholder: &str, value: &str) -> Request {
        let value = utf8_percent_encode(value, VALUE).to_string();
        Request {
            method: self.method,
            path: self.path.replace(&format!("{{{placeholder}}}"), &value),
            body: self.body.as_ref().map(Text::plain),
            abridged: None,
            is_file: false,
            idempotent: false,
            precondition: Precondition::None,
        }
    }
}
