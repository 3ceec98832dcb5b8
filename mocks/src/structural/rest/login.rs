//! Authentication of requests: by user and password, or by a token.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue, SET_COOKIE};
use serde_json::Value;
use switchtender_outline::{JsonPath, RestSession, TokenCarrier};

use super::{RequestRefusal, UNAUTHORIZED, refuse};
use crate::http_server::HttpRequest;
use crate::json_path::{Locate as _, scalar};
use crate::rest_request::{CompiledRequest, RestRequest};
use crate::shape_pattern::InvalidShape;

/// The account of a device, and its tokens.
#[derive(Debug)]
pub(super) struct Login {
    session: RestSession,
    request: Option<CompiledRequest>,
    user: String,
    password: String,
    tokens: BTreeSet<String>,
}

/// The answer to a login.
pub(super) struct IssuedToken {
    pub(super) body: Value,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Login {
    pub(super) fn new(
        session: &RestSession,
        (user, password): (&str, &str),
    ) -> Result<Self, InvalidShape> {
        let login = session.login.as_ref();
        let request = login.map(|login| CompiledRequest::new(&login.request));
        let mut own = Self {
            request: request.transpose()?,
            session: session.clone(),
            user: user.to_owned(),
            password: password.to_owned(),
            tokens: BTreeSet::new(),
        };
        own.tokens.extend(own.supplied_token());
        Ok(own)
    }

    /// The token that is a credential of the user.
    pub(super) fn supplied_token(&self) -> Option<String> {
        let is_credential = self.session.token.is_some() && self.session.login.is_none();
        is_credential.then(|| self.password.clone())
    }

    /// The parameter with the token.
    pub(super) fn parameter(&self) -> Option<&str> {
        match &self.session.token {
            Some(TokenCarrier::Parameter(name, _)) => Some(name),
            _ => None,
        }
    }

    /// Whether a request asks for a token.
    pub(super) fn is_login(&self, request: &RestRequest, common: &[String]) -> bool {
        let shape = self.request.as_ref();
        shape.is_some_and(|shape| shape.names(request, common).is_some())
    }

    /// Whether a request has user and password.
    pub(super) fn has_password(&self, request: &HttpRequest) -> bool {
        let header = request.header(AUTHORIZATION.as_str());
        header.is_some_and(|header| header.starts_with("Basic "))
    }

    /// Issues a token.
    pub(super) fn issue(
        &mut self,
        http: &HttpRequest,
        done: &Value,
    ) -> Result<IssuedToken, RequestRefusal> {
        let login = self.session.login.as_ref();
        let login = login.expect("a request is a login only if there is one");
        let is_right = match &login.credentials {
            None => self.has_right_password(http),
            Some((user, password)) => {
                let body = if login.is_form {
                    let fields = form_urlencoded::parse(&http.body).into_owned();
                    fields
                        .map(|(name, text)| (name, Value::from(text)))
                        .collect()
                } else {
                    serde_json::from_slice(&http.body).unwrap_or_default()
                };
                let field = |path: &JsonPath| scalar(path.get(&body)?);
                field(user).as_ref() == Some(&self.user)
                    && field(password).as_ref() == Some(&self.password)
            }
        };
        if !is_right {
            return refuse(UNAUTHORIZED, "user or password is wrong");
        }
        let token = format!("mock-token-{}", self.tokens.len() + 1);
        let mut body = done.clone();
        if let Some(path) = &login.token {
            *path.get_or_insert(&mut body) = token.clone().into();
        }
        let carried = match &self.session.token {
            Some(TokenCarrier::Cookie(name)) => Some(name),
            _ => None,
        };
        let second = login.second.iter().map(|(cookie, _)| cookie);
        let cookies = carried.into_iter().chain(second);
        let cookies =
            cookies.filter_map(|name| HeaderValue::try_from(format!("{name}={token}")).ok());
        let headers = cookies.map(|cookie| (SET_COOKIE, cookie)).collect();
        self.tokens.insert(token);
        Ok(IssuedToken { body, headers })
    }

    fn has_right_password(&self, request: &HttpRequest) -> bool {
        let header = request.header(AUTHORIZATION.as_str());
        let encoded = header.and_then(|header| header.strip_prefix("Basic "));
        let decoded = encoded.and_then(|text| STANDARD.decode(text.trim()).ok());
        decoded.is_some_and(|bytes| bytes == format!("{}:{}", self.user, self.password).as_bytes())
    }

    /// Checks the credentials of a request.
    pub(super) fn authorize(
        &self,
        http: &HttpRequest,
        request: &RestRequest,
    ) -> Result<(), RequestRefusal> {
        let Some(carrier) = &self.session.token else {
            return if self.has_right_password(http) {
                Ok(())
            } else {
                refuse(UNAUTHORIZED, "user or password is wrong")
            };
        };
        let token = match carrier {
            TokenCarrier::Header(name, prefix) => http
                .header(name)
                .and_then(|value| value.strip_prefix(prefix.as_str())),
            TokenCarrier::Parameter(name, prefix) => {
                let value = request.parameter(name);
                value.and_then(|value| value.strip_prefix(prefix.as_str()))
            }
            TokenCarrier::Cookie(name) => {
                let cookies = http.header(COOKIE.as_str()).unwrap_or_default().split(';');
                let mut pairs = cookies.filter_map(|cookie| cookie.trim().split_once('='));
                pairs.find(|(own, _)| own == name).map(|(_, token)| token)
            }
        };
        let second = self
            .session
            .login
            .as_ref()
            .and_then(|login| login.second.as_ref());
        let has_second = second.is_none_or(|(_, header)| http.header(header) == token);
        if token.is_some_and(|token| self.tokens.contains(token)) && has_second {
            Ok(())
        } else {
            refuse(UNAUTHORIZED, "the token is not valid")
        }
    }
}
