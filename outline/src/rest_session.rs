//! The sessions of a platform with REST.

/// How sessions begin and end, and how devices refuse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestSession {
    /// Path of the login for a token.
    pub login: Option<String>,
    /// The fields around the token in the answer to the login, outermost first.
    pub token: Vec<String>,
    /// Name of the cookie with the token.
    pub cookie: Option<String>,
    /// The beginnings of the requests that log off or save the configuration: `DELETE /tokens/`.
    pub accepted: Vec<String>,
    /// The fields around the message of an error, outermost first.
    pub message: Vec<String>,
}
