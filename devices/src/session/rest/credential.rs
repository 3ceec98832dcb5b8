//! Authentication of requests: a token, or user and password.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::client::HttpAnswer;
use crate::dialogue::rest_rules::{CarrierKind, TokenCarrier, TokenLogin};
use crate::http::RequestBuilder;
use crate::http::header::HeaderValue;
use crate::read::field_path::FieldPath;
use crate::session::connect_params::{ConnectParams, RestLogin};

/// Authentication of a request.
#[derive(Clone)]
pub(super) enum Credential {
    Basic,
    Token {
        carrier: TokenCarrier,
        token: SecretString,
        /// A further header of requests with its value.
        csrf: Option<(String, SecretString)>,
        /// The session requested the token, so it revokes it.
        revoke_on_close: bool,
    },
}

impl Credential {
    /// The token, if it is a parameter of the URL.
    pub(crate) fn query_parameter(&self) -> Option<(&str, String)> {
        match self {
            Credential::Token { carrier, token, .. } if carrier.kind == CarrierKind::Query => {
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
            Credential::Token {
                carrier,
                token,
                csrf,
                ..
            } => {
                let value = format!("{}{}", carrier.prefix, token.expose_secret());
                let request = match carrier.kind {
                    CarrierKind::Query => request,
                    CarrierKind::Header => with_secret(request, &carrier.name, &value),
                    CarrierKind::Cookie => {
                        with_secret(request, "Cookie", &format!("{}={value}", carrier.name))
                    }
                };
                match csrf {
                    Some((name, value)) => with_secret(request, name, value.expose_secret()),
                    None => request,
                }
            }
        }
    }

    /// The body of a login request.
    pub(crate) fn login_body(&self, rules: &TokenLogin) -> Value {
        let password = self.password.as_ref();
        let password = password.map_or("", |text| text.expose_secret());
        let provider = self.provider.as_deref().unwrap_or(&rules.login_provider);
        let mut body = json!({});
        for (field, template) in &rules.body {
            let value = match template.as_str() {
                "{user}" => &self.user,
                "{password}" => password,
                "{login_provider}" => provider,
                text => text,
            };
            field.put(&mut body, value.into());
        }
        body
    }
}

/// Adds a header whose value is not shown. The device answers with status 401 if the value is not
/// one of a header.
fn with_secret(request: RequestBuilder, name: &str, value: &str) -> RequestBuilder {
    match HeaderValue::from_str(value) {
        Ok(mut value) => {
            value.set_sensitive(true);
            request.header(name, value)
        }
        Err(_) => request,
    }
}

/// Finds the token in the answer to a login: in the body, or in the cookie of this name.
pub(super) fn find_token(
    answer: &HttpAnswer,
    path: Option<&FieldPath>,
    cookie: &str,
) -> Option<SecretString> {
    let Some(path) = path else {
        return answer.cookie(cookie).map(SecretString::from);
    };
    let body: Value = serde_json::from_str(&answer.body).ok()?;
    path.get(&body)?.as_str().map(SecretString::from)
}
