//! Authentication: basic credentials, tokens with an expiry time, and their limit per user.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::clock;

use super::refusal::Refusal;

/// Default lifetime of a token.
pub(super) const LIFETIME: Duration = Duration::from_secs(1200);
/// Maximum lifetime of a token.
const LONGEST: u64 = 36_000;
/// Maximum number of tokens per user.
const LIMIT: usize = 100;

/// Accounts and tokens.
#[derive(Debug)]
pub(super) struct Sessions {
    user: String,
    password: String,
    lifetime: Duration,
    tokens: BTreeMap<String, Instant>,
    count: u64,
}

impl Sessions {
    /// One account, no tokens.
    pub(super) fn new(user: &str, password: &str, lifetime: Duration) -> Self {
        Sessions {
            user: user.to_owned(),
            password: password.to_owned(),
            lifetime,
            tokens: BTreeMap::new(),
            count: 0,
        }
    }

    /// Checks the credentials in the headers.
    pub(super) fn authorize(
        &self,
        basic: Option<&str>,
        token: Option<&str>,
        now: Instant,
    ) -> Result<(), Refusal> {
        if let Some(token) = token {
            return match self.tokens.get(token) {
                Some(end) if *end > now => Ok(()),
                _ => Err(Refusal::unauthorized("X-F5-Auth-Token does not exist.")),
            };
        }
        let Some(basic) = basic else {
            return Err(Refusal::unauthorized(
                "Authorization failed: no user authentication header or token detected.",
            ));
        };
        if self.is_right(basic) {
            Ok(())
        } else {
            Err(Refusal::unauthorized("Authentication required!"))
        }
    }

    /// Whether a `Basic` header has the correct user and password.
    fn is_right(&self, header: &str) -> bool {
        let decoded = header
            .strip_prefix("Basic ")
            .and_then(|text| STANDARD.decode(text.trim()).ok());
        decoded.is_some_and(|bytes| bytes == format!("{}:{}", self.user, self.password).as_bytes())
    }

    /// `POST /mgmt/shared/authn/login`
    pub(super) fn login(&mut self, body: &Value, now: Instant) -> Result<Value, Refusal> {
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("username") != self.user || text("password") != self.password {
            return Err(Refusal::unauthorized("Authentication failed."));
        }
        self.tokens.retain(|_, end| *end > now);
        if self.user != "admin" && self.tokens.len() >= LIMIT {
            return Err(Refusal::without_code(
                400,
                format!("user {} has reached maximum active login tokens", self.user),
            ));
        }
        self.count += 1;
        let token = format!("MOCK{:022}", self.count);
        self.tokens.insert(token.clone(), now + self.lifetime);
        let rendered = self.show(&token, now);
        Ok(json!({
            "username": self.user,
            "loginProviderName": "tmos",
            "token": rendered,
            "generation": 0,
            "lastUpdateMicros": 0,
        }))
    }

    fn show(&self, token: &str, now: Instant) -> Value {
        let left = self
            .tokens
            .get(token)
            .map_or(Duration::ZERO, |end| end.saturating_duration_since(now));
        let end = clock::system_time()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            + left;
        json!({
            "token": token,
            "name": token,
            "userName": self.user,
            "authProviderName": "tmos",
            "timeout": left.as_secs_f64().round(),
            "expirationMicros": u64::try_from(end.as_micros()).unwrap_or(u64::MAX),
            "partition": "[All]",
            "kind": "shared:authz:tokens:authtokenitemstate",
            "selfLink": format!("https://localhost/mgmt/shared/authz/tokens/{token}"),
        })
    }

    /// `GET`, `PATCH` and `DELETE /mgmt/shared/authz/tokens/{token}`
    pub(super) fn token(
        &mut self,
        method: &str,
        token: &str,
        body: &Value,
        now: Instant,
    ) -> Result<Value, Refusal> {
        let alive = self.tokens.get(token).is_some_and(|end| *end > now);
        if !alive {
            return Err(Refusal::without_code(
                404,
                format!("/authz/tokens/{token} does not exist."),
            ));
        }
        match method {
            "GET" => Ok(self.show(token, now)),
            "DELETE" => {
                let rendered = self.show(token, now);
                self.tokens.remove(token);
                Ok(rendered)
            }
            "PATCH" => {
                let timeout = body
                    .get("timeout")
                    .and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
                match timeout.filter(|seconds| (1..=LONGEST).contains(seconds)) {
                    Some(seconds) => {
                        self.tokens
                            .insert(token.to_owned(), now + Duration::from_secs(seconds));
                        Ok(self.show(token, now))
                    }
                    None => Err(Refusal::without_code(
                        400,
                        format!("Timeout must be between 1 and {LONGEST} seconds."),
                    )),
                }
            }
            other => Err(Refusal::method(other, "/mgmt/shared/authz/tokens")),
        }
    }

    /// Number of valid tokens.
    pub(super) fn count(&self, now: Instant) -> usize {
        self.tokens.values().filter(|end| **end > now).count()
    }
}
