//! Requests and responses of the REST interface.

use serde_json::Value;

use super::refusal::Refusal;

/// A parsed request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ApiRequest {
    /// `GET` …
    pub method: String,
    /// From `/mgmt` on, without the query.
    pub path: String,
    /// After the question mark.
    pub query: String,
    /// The body; null when there was none.
    pub body: Value,
    /// Number of a transaction in the header.
    pub transaction: Option<String>,
}

/// A status and a body.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ApiResponse {
    /// HTTP status.
    pub status: u16,
    /// JSON body.
    pub body: Value,
}

impl From<Result<Value, Refusal>> for ApiResponse {
    fn from(result: Result<Value, Refusal>) -> Self {
        match result {
            Ok(body) => ApiResponse { status: 200, body },
            Err(refusal) => ApiResponse {
                status: refusal.status,
                body: refusal.body_json(),
            },
        }
    }
}
