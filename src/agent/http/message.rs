//! Requests to a server and its responses.

use std::time::Duration;

use super::error::{RequestError, RequestErrorKind};
use crate::agent::http::error_body;
use crate::agent::puppet_conf::Server;

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) method: Method,
    /// Path with query, encoded.
    pub(crate) target: String,
    pub(crate) accept: &'static str,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) body: Vec<u8>,
    pub(crate) if_modified_since: Option<String>,
    /// Timeout of the complete exchange; `None`: the read timeout.
    pub(crate) limit: Option<Duration>,
    /// Maximum size of the body of the response in bytes.
    pub(super) response_limit: usize,
}

/// Maximum size of a response without a limit of its own: a certificate, a status, an error.
const SMALL_RESPONSE: usize = 1 << 20;
/// Maximum size of the CRLs. A revoked certificate has about 40 bytes.
pub(crate) const CRL_LIMIT: usize = 16 << 20;
/// Maximum size of a node. It has the facts of the node.
pub(crate) const NODE_LIMIT: usize = 16 << 20;
/// Maximum size of the metadata of all plugin files. A file has about 500 bytes.
pub(crate) const FILE_METADATA_LIMIT: usize = 32 << 20;
/// Maximum size of a plugin file.
pub(crate) const PLUGIN_FILE_LIMIT: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Put,
    Post,
}

impl Request {
    /// A GET request for an encoded path with query; `accept` is the Accept header.
    pub fn get(target: impl Into<String>, accept: &'static str) -> Self {
        Self {
            method: Method::Get,
            target: target.into(),
            accept,
            content_type: None,
            body: Vec::new(),
            if_modified_since: None,
            limit: None,
            response_limit: SMALL_RESPONSE,
        }
    }

    /// Sets the maximum size of the response in bytes.
    pub(crate) fn response_limit(self, response_limit: usize) -> Self {
        Self {
            response_limit,
            ..self
        }
    }

    /// A PUT request with a body; `content_type` is the Content-Type header.
    pub fn put(
        target: impl Into<String>,
        accept: &'static str,
        content_type: &'static str,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            method: Method::Put,
            content_type: Some(content_type),
            body: body.into(),
            ..Self::get(target, accept)
        }
    }

    pub(crate) fn post(
        target: impl Into<String>,
        accept: &'static str,
        content_type: &'static str,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            method: Method::Post,
            ..Self::put(target, accept, content_type, body)
        }
    }

    /// Method and URL for messages, without the query.
    pub(super) fn render(&self, server: &Server) -> String {
        let method = match self.method {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
        };
        let path = self.target.split('?').next().unwrap_or_default();
        format!("{method} https://{server}{path}")
    }
}

/// A response with any status.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub(crate) body: Vec<u8>,
    /// Method and URL of the request.
    pub(crate) request: String,
}

impl Response {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The response if its status is a success; otherwise an error with the server's message.
    pub fn expect_success(self) -> Result<Self, RequestError> {
        if self.is_success() {
            Ok(self)
        } else {
            Err(self.to_error())
        }
    }

    /// The response as an error.
    pub(crate) fn to_error(&self) -> RequestError {
        RequestError {
            request: self.request.clone(),
            kind: RequestErrorKind::Status {
                status: self.status,
                message: error_body::message(&self.body),
            },
        }
    }

    /// An error about an unusable response.
    pub(crate) fn to_unexpected(&self, why: impl Into<String>) -> RequestError {
        RequestError {
            request: self.request.clone(),
            kind: RequestErrorKind::Unexpected(why.into()),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}
