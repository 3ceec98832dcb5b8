//! Logs in and off: tokens or basic authentication.

use percent_encoding::utf8_percent_encode;
use secrecy::{ExposeSecret as _, SecretString};

use super::{JSON, PARAMETER, RestClient, SessionLog, UNAUTHORIZED};
use crate::dialogue::rest_rules::{TokenCarrier, TokenLogin};
use crate::http::header;
use crate::operation::Method;
use crate::session::connect_params::RestLogin;
use crate::session::error::{SessionErrorKind, TOKEN};
use crate::session::rest::credential::{Credential, find_token};

const FORM: &str = "application/x-www-form-urlencoded";

/// The body of an HTML form.
fn form<'f>(fields: impl Iterator<Item = (&'f String, &'f str)>) -> String {
    let encode = |text: &str| utf8_percent_encode(text, PARAMETER).to_string();
    let pairs = fields.map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

impl RestClient {
    /// Obtains a token, if the device has tokens.
    pub(crate) async fn log_in(&self) -> Result<(), SessionErrorKind> {
        let mut credential = self.credential.lock().await;
        *credential = Some(self.new_credential().await?);
        Ok(())
    }

    /// Revokes the token.
    pub(crate) async fn log_off(&self) -> Result<(), SessionErrorKind> {
        let credential = self.credential.lock().await.take();
        let (
            Some(Credential::Token {
                token,
                revoke_on_close: true,
                ..
            }),
            Some(rules),
        ) = (&credential, self.token_login())
        else {
            return Ok(());
        };
        let Some(logout) = &rules.logout else {
            return Ok(());
        };
        let path = logout.replace("{token}", token.expose_secret());
        let request = self.request(rules.logout_method, &path, credential.as_ref());
        let request = self
            .account
            .authenticate(request, credential.as_ref().expect("just matched"));
        let command = format!("{} {logout}", rules.logout_method);
        let answer = self.send_logged(request, &command).await?;
        if answer.is_success() {
            return Ok(());
        }
        Err(SessionErrorKind::HttpStatus {
            method: rules.logout_method,
            path: logout.clone(),
            status: answer.status,
            message: self.render_message(&answer),
        })
    }

    pub(super) fn login_refused(&self) -> SessionErrorKind {
        SessionErrorKind::LoginRefused {
            user: self.account.user.clone(),
            methods: Vec::new(),
        }
    }

    pub(super) async fn credential(&self) -> Result<Credential, SessionErrorKind> {
        let credential = self.credential.lock().await;
        credential.clone().ok_or_else(|| self.login_refused())
    }

    /// Logs in again after a token expired; false if that is impossible. Concurrent requests that
    /// fail cause only one login.
    pub(super) async fn renew_credential(
        &self,
        stale: &Credential,
    ) -> Result<bool, SessionErrorKind> {
        let Credential::Token {
            token: stale,
            revoke_on_close: true,
            ..
        } = stale
        else {
            return Ok(false);
        };
        let mut credential = self.credential.lock().await;
        match &*credential {
            Some(Credential::Token { token, .. })
                if token.expose_secret() != stale.expose_secret() => {}
            Some(_) => {
                // A refused login is never repeated with the same password.
                *credential = None;
                *credential = Some(self.new_credential().await?);
            }
            None => return Ok(false),
        }
        Ok(true)
    }

    async fn new_credential(&self) -> Result<Credential, SessionErrorKind> {
        let rules = match (&self.rules.token, self.account.login) {
            (Some(rules), RestLogin::Auto | RestLogin::Token) => rules,
            _ => return Ok(Credential::Basic),
        };
        if let Some(token) = &self.account.configured_token {
            return Ok(Credential::Token {
                carrier: rules.carrier.clone(),
                token: token.clone(),
                csrf: None,
                revoke_on_close: false,
            });
        }
        match &rules.login {
            Some(login) => self.request_token(&rules.carrier, login).await,
            None => Err(SessionErrorKind::NoCredentials {
                methods: vec![TOKEN.to_owned()],
            }),
        }
    }

    /// The login for a token, if the device has one.
    fn token_login(&self) -> Option<&TokenLogin> {
        self.rules.token.as_ref()?.login.as_ref()
    }

    async fn request_token(
        &self,
        carrier: &TokenCarrier,
        rules: &TokenLogin,
    ) -> Result<Credential, SessionErrorKind> {
        let body = self.account.login_body(rules);
        let request = self.request(Method::Post, &rules.path, None);
        let mut request = if rules.is_form {
            let fields = body.as_object().into_iter().flatten();
            let fields = fields.map(|(name, value)| (name, value.as_str().unwrap_or_default()));
            request
                .header(header::CONTENT_TYPE, FORM)
                .body(form(fields))
        } else {
            request
                .header(header::CONTENT_TYPE, JSON)
                .body(body.to_string())
        };
        if rules.with_basic {
            request = self.account.add_basic_auth(request);
        }
        let command = format!("POST {}", rules.path);
        let answer = self.send_logged(request, &command).await?;
        let unknown = rules.unsupported_status.contains(&answer.status);
        if unknown && self.account.login == RestLogin::Auto {
            return Ok(Credential::Basic);
        }
        if answer.status == UNAUTHORIZED {
            return Err(self.login_refused());
        }
        if !answer.is_success() {
            return Err(SessionErrorKind::HttpStatus {
                method: Method::Post,
                path: rules.path.clone(),
                status: answer.status,
                message: self.render_message(&answer),
            });
        }
        let missing = |what: String| SessionErrorKind::InvalidAnswer {
            command: command.clone(),
            reason: format!("the answer has no {what}"),
        };
        let token = find_token(&answer, rules.token.as_ref(), &carrier.name);
        let token = token.ok_or_else(|| match &rules.token {
            Some(path) => missing(format!("`{path}`")),
            None => missing(format!("cookie `{}`", carrier.name)),
        })?;
        let csrf = match &rules.csrf {
            None => None,
            Some((cookie, header)) => {
                let value = answer.cookie(cookie).map(SecretString::from);
                let value = value.ok_or_else(|| missing(format!("cookie `{cookie}`")))?;
                Some((header.clone(), value))
            }
        };
        let mut record = self.log();
        for secret in csrf.iter().map(|(_, value)| value).chain([&token]) {
            record.mask.add(secret.expose_secret());
        }
        // The transcript is written only now, because the mask needs the token.
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        transcript.received(
            format!("{} {}\n", answer.status, answer.body).as_bytes(),
            mask,
        );
        Ok(Credential::Token {
            carrier: carrier.clone(),
            token,
            csrf,
            revoke_on_close: true,
        })
    }
}
