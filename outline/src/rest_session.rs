//! The sessions of a platform with REST.

use super::{JsonPath, RequestShape};

/// How sessions begin and end, and how devices refuse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestSession {
    /// Where requests have a token; `None`: each has user and password.
    pub token: Option<TokenCarrier>,
    /// The request for a token; without it the token is a credential of the user.
    pub login: Option<TokenLogin>,
    /// The requests that log off or save the configuration.
    pub accepted: Vec<RequestShape>,
    /// The message of an error.
    pub message: JsonPath,
}

/// The part of a request with the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenCarrier {
    /// A header, with the text before the token.
    Header(String, String),
    /// A parameter, with the text before the token.
    Parameter(String, String),
    /// A cookie.
    Cookie(String),
}

/// The request for a token.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenLogin {
    /// The request.
    pub request: RequestShape,
    /// The fields with user and password; without them the request has a header with both.
    pub credentials: Option<(JsonPath, JsonPath)>,
    /// The body is an HTML form instead of JSON.
    pub is_form: bool,
    /// The token in the answer; `None`: it is in the cookie.
    pub token: Option<JsonPath>,
    /// A second token: the cookie of the answer, and the header of requests.
    pub second: Option<(String, String)>,
}
