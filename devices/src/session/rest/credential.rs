//! Authentication of requests: a token, or user and password.

use reqwest::RequestBuilder;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use crate::dialogue::rest_rules::{TokenCarrier, TokenLogin};
use crate::read::field_path::FieldPath;
use crate::session::connect_params::{ConnectParams, RestLogin};

/// Authentication of a request.
#[derive(Clone)]
pub(super) enum Credential {
    Basic,
    Token {
        carrier: TokenCarrier,
        token: SecretString,
        /// The session requested the token, so it revokes it.
        revoke_on_close: bool,
    },
}

impl Credential {
    /// The token, if it is a parameter of the URL.
    pub(crate) fn query_parameter(&self) -> Option<(&str, String)> {
        match self {
            Credential::Token { carrier, token, .. } if carrier.is_query => {
                let value = format!("{}{}", carrier.prefix, token.expose_secret());
                Some((&carrier.name, value))
            }
            Credential::Token { .. } | Credential::Basic => None,
        }
    }
}

/// User and password of a session.
pub(super) struct Account {
    pub(crate) user: String,
    password: Option<SecretString>,
    provider: Option<String>,
    pub(crate) login: RestLogin,
    /// The configured token.
    pub(crate) configured_token: Option<SecretString>,
}

impl Account {
    pub(crate) fn new(target: &ConnectParams) -> Self {
        Self {
            user: target.user.clone(),
            password: target.password.clone(),
            provider: target.rest.login_provider.clone(),
            login: target.rest.login,
            configured_token: target.rest.token.clone(),
        }
    }

    /// Adds user and password to a request.
    pub(crate) fn add_basic_auth(&self, request: RequestBuilder) -> RequestBuilder {
        let password = self.password.as_ref().map(|text| text.expose_secret());
        request.basic_auth(&self.user, password)
    }

    /// Adds a credential to a request.
    pub(crate) fn authenticate(
        &self,
        request: RequestBuilder,
        credential: &Credential,
    ) -> RequestBuilder {
        match credential {
            Credential::Basic => self.add_basic_auth(request),
            Credential::Token { carrier, .. } if carrier.is_query => request,
            Credential::Token { carrier, token, .. } => {
                let value = format!("{}{}", carrier.prefix, token.expose_secret());
                match reqwest::header::HeaderValue::from_str(&value) {
                    Ok(mut value) => {
                        value.set_sensitive(true);
                        request.header(&carrier.name, value)
                    }
                    // The device answers with status 401.
                    Err(_) => request,
                }
            }
        }
    }

    /// The body of a login request.
    pub(crate) fn login_body(&self, rules: &TokenLogin) -> Value {
        let password = self.password.as_ref();
        let password = password.map_or("", |text| text.expose_secret());
        let provider = self.provider.as_deref().unwrap_or(&rules.login_provider);
        let fields = rules.body.iter().map(|(key, template)| {
            let value = match template.as_str() {
                "{user}" => &self.user,
                "{password}" => password,
                "{login_provider}" => provider,
                text => text,
            };
            (key.clone(), Value::from(value))
        });
        Value::Object(fields.collect::<Map<_, _>>())
    }
}

/// Finds the token in the answer to a login.
pub(super) fn find_token(answer: &str, path: &FieldPath) -> Option<SecretString> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    path.get(&answer)?.as_str().map(SecretString::from)
}
