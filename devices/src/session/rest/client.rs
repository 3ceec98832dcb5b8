//! One device's HTTP client: requests out, answers in, with limits and retries.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use secrecy::ExposeSecret;
use serde::de::IgnoredAny;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio::time::{Instant, sleep};

use super::credential::{Account, Credential, find_token};
use super::http_options::HttpOptions;
use super::request_error::{RequestContext, classify};
use super::tls::{self, CertificateCheck};
use crate::dialogue::rest_rules::{RestRules, TokenRules};
use crate::operation::{Method, Request};
use crate::session::Access;
use crate::session::connect_params::{ConnectParams, RestLogin};
use crate::session::error::SessionErrorKind;
use crate::session::mask::Mask;
use crate::session::ssh::tunnel::Tunnel;
use crate::session::transcript::Transcript;

/// Longest part of a device's words in a message.
const MESSAGE_LIMIT: usize = 2048;
/// An answer longer than this is none.
const BODY_LIMIT: usize = 256 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A busy device is asked again for no longer than this.
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// An answer that came back whole.
#[derive(Clone, Debug)]
pub(super) struct HttpAnswer {
    pub status: u16,
    pub body: String,
}

impl HttpAnswer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

pub(super) struct RestClient {
    http: Client,
    base: String,
    address: String,
    rules: Arc<RestRules>,
    account: Account,
    access: Access,
    trust: CertificateCheck,
    options: HttpOptions,
    tunnel: Option<Tunnel>,
    credential: AsyncMutex<Option<Credential>>,
    permits: Semaphore,
    round_trips: AtomicU64,
    log: Mutex<SessionLog>,
}

/// What people may see of the session.
struct SessionLog {
    mask: Mask,
    transcript: Transcript,
    notes: Vec<String>,
}

impl RestClient {
    pub fn new(
        target: &ConnectParams,
        rules: &Arc<RestRules>,
        access: Access,
        tunnel: Option<Tunnel>,
    ) -> Result<Self, SessionErrorKind> {
        let port = target.port.unwrap_or(rules.port);
        // An IPv6 address stands in brackets within a URL.
        let host = match target.host.contains(':') {
            true => format!("[{}]", target.host.trim_matches(['[', ']'])),
            false => target.host.clone(),
        };
        let address = format!("{host}:{port}");
        let unusable = |why: String| SessionErrorKind::Unreachable {
            address: address.clone(),
            why,
        };
        let socket = tunnel.as_ref().map(|tunnel| tunnel.socket().to_owned());
        let way = HttpOptions::new(target, socket).map_err(unusable)?;
        let (builder, trust) = tls::configure(way.builder(), &target.rest.tls)?;
        let http = builder
            .build()
            .map_err(|error| unusable(super::request_error::chain(&error)))?;
        let mut mask = Mask::new(&rules.secrets);
        for secret in target.secrets() {
            mask.add(secret.expose_secret());
            mask.add(&json_escape(secret.expose_secret()));
        }
        let mut notes = tunnel.as_ref().map(Tunnel::notes).unwrap_or_default();
        if !trust.is_enabled {
            notes.push(format!(
                "the certificate of {address} is not checked; pin it by `fingerprint`"
            ));
        }
        Ok(Self {
            http,
            base: format!("https://{address}"),
            address,
            rules: Arc::clone(rules),
            account: Account::new(target),
            access,
            trust,
            options: way,
            tunnel,
            credential: AsyncMutex::new(None),
            permits: Semaphore::new(rules.parallel),
            round_trips: AtomicU64::new(0),
            log: Mutex::new(SessionLog {
                mask,
                transcript: Transcript::create(target.transcript.as_deref())?,
                notes,
            }),
        })
    }

    pub fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    pub fn notes(&self) -> Vec<String> {
        self.log().notes.clone()
    }

    /// Makes ready to send: a token, or nothing to do.
    pub async fn log_in(&self) -> Result<(), SessionErrorKind> {
        let mut credential = self.credential.lock().await;
        *credential = Some(self.new_credential().await?);
        Ok(())
    }

    /// Gives the token back.
    pub async fn log_off(&self) -> Result<(), SessionErrorKind> {
        let credential = self.credential.lock().await.take();
        let (
            Some(Credential::Token {
                token,
                revoke_on_close: true,
                ..
            }),
            Some(rules),
        ) = (&credential, &self.rules.token)
        else {
            return Ok(());
        };
        let path = rules.logout.replace("{token}", token.expose_secret());
        let request = self.http.delete(format!("{}{path}", self.base));
        let request = self
            .account
            .authenticate(request, credential.as_ref().expect("just matched"));
        let shown = format!("DELETE {}", rules.logout);
        let answer = self.send_logged(request, &shown).await?;
        if answer.is_success() {
            return Ok(());
        }
        Err(SessionErrorKind::HttpStatus {
            method: Method::Delete,
            path: rules.logout.clone(),
            status: answer.status,
            said: self.render_message(&answer),
        })
    }

    /// Sends a request and returns what the device answered, whatever its status.
    ///
    /// # Errors
    /// There is no whole answer, the login was refused, or this session may not send it.
    pub async fn send(&self, request: &Request) -> Result<HttpAnswer, SessionErrorKind> {
        let shown = format!("{} {}", request.method, request.path);
        if self.access == Access::ReadOnly && request.method != Method::Get {
            return Err(SessionErrorKind::ReadOnly { command: shown });
        }
        if let Some(body) = &request.body {
            let mut record = self.log();
            for secret in body.secrets() {
                record.mask.add(secret);
                record.mask.add(&json_unescape(secret));
            }
        }
        let _permit = self
            .permits
            .acquire()
            .await
            .expect("the semaphore is never closed");
        let repeatable = request.idempotent || request.method == Method::Get;
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut logged_in_again = false;
        loop {
            let credential = self.credential().await?;
            let result = self.attempt(request, &credential).await;
            if let Ok(answer) = &result
                && answer.status == UNAUTHORIZED
            {
                if logged_in_again || !self.renew_credential(&credential).await? {
                    return Err(self.login_refused());
                }
                logged_in_again = true;
                continue;
            }
            let again = repeatable && self.is_retryable(request, &result);
            if !again || began.elapsed() + pause > RETRY_TIMEOUT.min(self.options.command_timeout) {
                return self.final_result(request, result);
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The device's words about an answer, for people: its message, code behind, secrets masked,
    /// not too long.
    pub fn render_message(&self, answer: &HttpAnswer) -> String {
        let parsed: Option<serde_json::Value> = serde_json::from_str(&answer.body).ok();
        let message = parsed
            .as_ref()
            .and_then(|value| value.get(&self.rules.message))
            .and_then(|message| message.as_str());
        let words = match (message, &parsed) {
            (Some(message), _) => self.move_code_last(message),
            (None, _) if answer.is_success() => String::new(),
            (None, None) if is_html(&answer.body) => "an HTML page".to_owned(),
            (None, _) => answer.body.trim().to_owned(),
        };
        let mut masked = self.log().mask.apply(&words);
        if masked.len() > MESSAGE_LIMIT {
            let end = (0..=MESSAGE_LIMIT)
                .rev()
                .find(|end| masked.is_char_boundary(*end))
                .unwrap_or(0);
            masked.truncate(end);
            masked.push('…');
        }
        if masked.is_empty() && !answer.is_success() {
            return format!("status {}", answer.status);
        }
        masked
    }

    fn move_code_last(&self, message: &str) -> String {
        let found = self.rules.code.as_ref().and_then(|code| code.find(message));
        match found {
            Some(found) if found.start() == 0 && found.end() < message.len() => {
                let code = found.as_str().trim().trim_end_matches(':');
                format!("{} ({code})", message[found.end()..].trim())
            }
            _ => message.trim().to_owned(),
        }
    }

    fn log(&self) -> std::sync::MutexGuard<'_, SessionLog> {
        self.log.lock().expect("never held over a panic")
    }

    fn login_refused(&self) -> SessionErrorKind {
        SessionErrorKind::LoginRefused {
            user: self.account.user.clone(),
            methods: Vec::new(),
        }
    }

    async fn credential(&self) -> Result<Credential, SessionErrorKind> {
        let credential = self.credential.lock().await;
        credential.clone().ok_or_else(|| self.login_refused())
    }

    /// Logs in again after a token was not taken any more; false when there is no way to. Several
    /// requests that fail at once lead to one login.
    async fn renew_credential(&self, stale: &Credential) -> Result<bool, SessionErrorKind> {
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
                // A refused login is never tried again with the same password.
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
                header: rules.header.clone(),
                token: token.clone(),
                revoke_on_close: false,
            });
        }
        self.request_token(rules).await
    }

    async fn request_token(&self, rules: &TokenRules) -> Result<Credential, SessionErrorKind> {
        let body = self.account.login_body(rules).to_string();
        let mut request = self
            .http
            .post(format!("{}{}", self.base, rules.login))
            .header(reqwest::header::CONTENT_TYPE, JSON)
            .body(body);
        if rules.with_basic {
            request = self.account.add_basic_auth(request);
        }
        let shown = format!("POST {}", rules.login);
        let answer = self.send_logged(request, &shown).await?;
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
                path: rules.login.clone(),
                status: answer.status,
                said: self.render_message(&answer),
            });
        }
        let token = find_token(&answer.body, &rules.token).ok_or_else(|| {
            SessionErrorKind::InvalidAnswer {
                command: shown,
                why: format!("there is no `{}` in the answer", rules.token),
            }
        })?;
        let mut record = self.log();
        record.mask.add(token.expose_secret());
        // Only now, that the token is known, may what was received be written.
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        transcript.received(
            format!("{} {}\n", answer.status, answer.body).as_bytes(),
            mask,
        );
        Ok(Credential::Token {
            header: rules.header.clone(),
            token,
            revoke_on_close: true,
        })
    }

    async fn attempt(
        &self,
        request: &Request,
        credential: &Credential,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        let url = format!("{}{}", self.base, request.path);
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut http = self.http.request(method, url);
        if let Some(body) = &request.body {
            http = http
                .header(reqwest::header::CONTENT_TYPE, JSON)
                .body(body.reveal());
        }
        let http = self.account.authenticate(http, credential);
        let shown = format!("{} {}", request.method, request.path);
        self.log_sent(&request.to_string());
        let answer = self.send_unlogged(http, &shown).await;
        self.log_received(&answer);
        answer
    }

    /// A request that people may know of by its first line only.
    async fn send_logged(
        &self,
        request: RequestBuilder,
        shown: &str,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        self.log_sent(shown);
        self.send_unlogged(request, shown).await
    }

    async fn send_unlogged(
        &self,
        request: RequestBuilder,
        shown: &str,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        let circumstances = RequestContext {
            address: &self.address,
            command: shown,
            trust: &self.trust,
            connect_timeout: self.options.connect_timeout,
            command_timeout: self.options.command_timeout,
        };
        let failed = |error: reqwest::Error| classify(&error, &circumstances);
        let mut response = match request.send().await.map_err(failed) {
            Ok(response) => response,
            Err(kind) => return Err(self.with_details(kind).await),
        };
        self.store_fingerprint()?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&piece);
            if body.len() > BODY_LIMIT {
                return Err(SessionErrorKind::InvalidAnswer {
                    command: shown.to_owned(),
                    why: format!("an answer of more than {} MiB", BODY_LIMIT >> 20),
                });
            }
        }
        Ok(HttpAnswer {
            status,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    /// Adds what only a further look shows: what the jump host said, and of a certificate that is
    /// not trusted the fingerprint, so that people can pin it.
    async fn with_details(&self, kind: SessionErrorKind) -> SessionErrorKind {
        let refusal = self.tunnel.as_ref().and_then(Tunnel::refusal);
        match (kind, refusal) {
            (SessionErrorKind::CertificateUntrusted { address, why, .. }, _) => {
                SessionErrorKind::CertificateUntrusted {
                    address,
                    why,
                    found: tls::fetch_fingerprint(self.options.builder(), &self.base).await,
                }
            }
            (
                SessionErrorKind::Unreachable { .. } | SessionErrorKind::Disconnected { .. },
                Some(refusal),
            ) => SessionErrorKind::Unreachable {
                address: self.address.clone(),
                why: format!("the jump host says: {refusal}"),
            },
            (other, _) => other,
        }
    }

    /// Says goodbye to the jump host, if there is one.
    pub async fn close_tunnel(&mut self, limit: Duration) {
        if let Some(tunnel) = self.tunnel.take() {
            tunnel.close(limit).await;
        }
    }

    fn store_fingerprint(&self) -> Result<(), SessionErrorKind> {
        let note = self.trust.store_fingerprint(&self.address)?;
        self.log().notes.extend(note);
        Ok(())
    }

    fn log_sent(&self, shown: &str) {
        let mut record = self.log();
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        transcript.sent(shown, mask);
    }

    fn log_received(&self, answer: &Result<HttpAnswer, SessionErrorKind>) {
        let mut record = self.log();
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        match answer {
            Ok(answer) => {
                let text = format!("{} {}\n", answer.status, answer.body);
                transcript.received(text.as_bytes(), mask);
            }
            Err(kind) => transcript.note(&kind.to_string(), mask),
        }
    }

    /// Busy, broken, or still booting: what another try may mend.
    fn is_retryable(
        &self,
        request: &Request,
        result: &Result<HttpAnswer, SessionErrorKind>,
    ) -> bool {
        match result {
            Ok(answer) => {
                let busy = self.rules.busy_status.contains(&answer.status)
                    || !answer.is_success()
                        && self
                            .rules
                            .busy
                            .iter()
                            .any(|words| words.is_match(&answer.body));
                busy || is_malformed(request, answer)
            }
            Err(kind) => matches!(kind, SessionErrorKind::Disconnected { .. }),
        }
    }

    fn final_result(
        &self,
        request: &Request,
        result: Result<HttpAnswer, SessionErrorKind>,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        let answer = result?;
        if !is_malformed(request, &answer) {
            return Ok(answer);
        }
        let why = if answer.body.trim().is_empty() {
            "an empty answer".to_owned()
        } else if is_html(&answer.body) {
            "an HTML page instead of JSON".to_owned()
        } else {
            "the answer is not JSON".to_owned()
        };
        Err(SessionErrorKind::InvalidAnswer {
            command: format!("{} {}", request.method, request.path),
            why,
        })
    }
}

const UNAUTHORIZED: u16 = 401;
const JSON: &str = "application/json";

/// A successful answer to a read that is not JSON.
fn is_malformed(request: &Request, answer: &HttpAnswer) -> bool {
    let read = request.method == Method::Get && answer.is_success();
    read && serde_json::from_str::<IgnoredAny>(&answer.body).is_err()
}

fn is_html(body: &str) -> bool {
    body.trim_start().starts_with('<')
}

fn json_escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn json_unescape(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned())
}
