//! One device's HTTP client: requests out, answers in, with limits and retries.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use secrecy::ExposeSecret;
use serde::de::IgnoredAny;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio::time::sleep;

use super::NOT_FOUND;
use super::credential::{Account, Credential, find_token};
use super::http_options::HttpOptions;
use super::request_error::{RequestContext, classify};
use super::tls::{self, CertificateCheck};
use crate::clock;
use crate::dialogue::rest_rules::{RestRules, TokenRules};
use crate::error_chain::chain;
use crate::operation::{Method, Request};
use crate::session::Access;
use crate::session::connect_params::{ConnectParams, RestLogin};
use crate::session::deadline::{Deadline, WaitEnd};
use crate::session::error::SessionErrorKind;
use crate::session::mask::Mask;
use crate::session::ssh::tunnel::Tunnel;
use crate::session::transcript::Transcript;

/// Longest message of a device in bytes.
const MESSAGE_LIMIT: usize = 2048;
/// Longest answer in bytes.
const BODY_LIMIT: usize = 256 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Requests to a busy device are repeated for at most this time.
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// A complete answer.
#[derive(Clone, Debug)]
pub(super) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl HttpAnswer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The HTTP client of one device.
pub(super) struct RestClient {
    http: Client,
    base: String,
    address: String,
    rules: Arc<RestRules>,
    account: Account,
    access: Access,
    certificate_check: CertificateCheck,
    options: HttpOptions,
    tunnel: Option<Tunnel>,
    credential: AsyncMutex<Option<Credential>>,
    permits: Semaphore,
    /// Limit of one request with its repetitions.
    command_limit: Duration,
    deadline: Deadline,
    round_trips: AtomicU64,
    log: Mutex<SessionLog>,
}

/// Transcript and notes of the session.
struct SessionLog {
    mask: Mask,
    transcript: Transcript,
    notes: Vec<String>,
}

impl RestClient {
    pub(crate) fn new(
        target: &ConnectParams,
        rules: &Arc<RestRules>,
        access: Access,
        tunnel: Option<Tunnel>,
    ) -> Result<Self, SessionErrorKind> {
        let port = target.port.unwrap_or(rules.port);
        // A URL has an IPv6 address in brackets.
        let host = match target.host.contains(':') {
            true => format!("[{}]", target.host.trim_matches(['[', ']'])),
            false => target.host.clone(),
        };
        let address = format!("{host}:{port}");
        let unusable = |reason: String| SessionErrorKind::Unreachable {
            address: address.clone(),
            reason,
        };
        let socket = tunnel.as_ref().map(|tunnel| tunnel.socket().to_owned());
        let options = HttpOptions::new(target, socket).map_err(|error| unusable(chain(&error)))?;
        let (builder, certificate_check) = tls::configure(options.builder(), &target.rest.tls)?;
        let http = builder.build().map_err(|error| unusable(chain(&error)))?;
        let mut mask = Mask::new(&rules.secrets, &target.mask);
        for secret in &target.secrets() {
            mask.add(secret.expose_secret());
        }
        let mut notes = tunnel.as_ref().map(Tunnel::notes).unwrap_or_default();
        if !certificate_check.is_enabled {
            notes.push(format!(
                "the certificate of {address} is not verified; set `fingerprint`"
            ));
        }
        Ok(Self {
            http,
            base: format!("https://{address}"),
            address,
            rules: Arc::clone(rules),
            account: Account::new(target),
            access,
            certificate_check,
            options,
            tunnel,
            credential: AsyncMutex::new(None),
            permits: Semaphore::new(rules.parallel),
            command_limit: target.limits.command.unwrap_or(rules.limits.command),
            deadline: target.deadline.clone(),
            round_trips: AtomicU64::new(0),
            log: Mutex::new(SessionLog {
                mask,
                transcript: Transcript::create(target.transcript.as_deref(), &target.mask)?,
                notes,
            }),
        })
    }

    pub(crate) fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.log().notes.clone()
    }

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
        ) = (&credential, &self.rules.token)
        else {
            return Ok(());
        };
        let path = rules.logout.replace("{token}", token.expose_secret());
        let request = self.http.delete(format!("{}{path}", self.base));
        let request = self
            .account
            .authenticate(request, credential.as_ref().expect("just matched"));
        let command = format!("DELETE {}", rules.logout);
        let answer = self.send_logged(request, &command).await?;
        if answer.is_success() {
            return Ok(());
        }
        Err(SessionErrorKind::HttpStatus {
            method: Method::Delete,
            path: rules.logout.clone(),
            status: answer.status,
            message: self.render_message(&answer),
        })
    }

    /// Sends a request and returns the answer with any status.
    ///
    /// # Errors
    /// There is no complete answer, the login was refused, or the session is read-only.
    pub(crate) async fn send(&self, request: &Request) -> Result<HttpAnswer, SessionErrorKind> {
        let command = format!("{} {}", request.method, request.path);
        if self.access == Access::ReadOnly && request.method != Method::Get {
            return Err(SessionErrorKind::ReadOnly { command });
        }
        if let Some(body) = &request.body {
            let mut record = self.log();
            record.mask.add_all(body);
            for secret in body.secrets() {
                record.mask.add(&json_unescape(secret));
            }
        }
        let sending = self.send_repeatedly(request);
        let limit = clock::instant() + self.command_limit;
        let kind = match self.deadline.within(limit, sending).await {
            Ok(result) => return result,
            Err(WaitEnd::Limit) => SessionErrorKind::CommandLimit {
                command,
                limit: self.command_limit,
                last_output: String::new(),
            },
            Err(WaitEnd::Stopped(cause)) => SessionErrorKind::Stopped { command, cause },
        };
        self.log_note(&kind);
        Err(kind)
    }

    /// Whether the run has ended, so that nothing is waited for.
    pub(crate) fn is_stopped(&self) -> bool {
        self.deadline.passed_by().is_some()
    }

    /// Sends a request, and repeats it if that may help.
    async fn send_repeatedly(&self, request: &Request) -> Result<HttpAnswer, SessionErrorKind> {
        let _permit = self
            .permits
            .acquire()
            .await
            .expect("the semaphore is never closed");
        let repeatable = request.idempotent || request.method == Method::Get;
        let started = clock::instant();
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
            let retry = repeatable && self.is_retryable(request, &result);
            if !retry || started.elapsed() + pause > RETRY_TIMEOUT.min(self.options.command_timeout)
            {
                return self.final_result(request, result);
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The message in an answer, with its code at the end and secrets masked.
    pub(crate) fn render_message(&self, answer: &HttpAnswer) -> String {
        let parsed: Option<serde_json::Value> = serde_json::from_str(&answer.body).ok();
        let message = parsed.as_ref().and_then(|body| self.message_in(body));
        let text = match (message, &parsed) {
            (Some(message), _) => self.move_code_last(message),
            (None, _) if answer.is_success() => String::new(),
            (None, None) if is_html(&answer.body) => "an HTML page".to_owned(),
            (None, _) => answer.body.trim().to_owned(),
        };
        let mut masked = self.log().mask.apply(&text);
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

    /// Whether the answer states that the object of the request does not exist.
    pub(crate) fn is_absent(&self, answer: &HttpAnswer) -> bool {
        let body: Option<serde_json::Value> = serde_json::from_str(&answer.body).ok();
        let message = body.as_ref().and_then(|body| self.message_in(body));
        let is_match = |message| self.rules.absent.iter().any(|one| one.is_match(message));
        answer.status == NOT_FOUND && message.is_some_and(is_match)
    }

    fn message_in<'b>(&self, body: &'b serde_json::Value) -> Option<&'b str> {
        body.get(&self.rules.message)?.as_str()
    }

    /// A text with secrets masked.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.log().mask.apply(text)
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

    /// Logs in again after a token expired; false if that is impossible. Concurrent requests that
    /// fail cause only one login.
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
        let command = format!("POST {}", rules.login);
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
                path: rules.login.clone(),
                status: answer.status,
                message: self.render_message(&answer),
            });
        }
        let token = find_token(&answer.body, &rules.token).ok_or_else(|| {
            SessionErrorKind::InvalidAnswer {
                command,
                reason: format!("the answer has no `{}`", rules.token),
            }
        })?;
        let mut record = self.log();
        record.mask.add(token.expose_secret());
        // The transcript is written only now, because the mask needs the token.
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
        let command = format!("{} {}", request.method, request.path);
        self.log_sent(&request.to_string());
        let answer = self.send_unlogged(http, &command).await;
        self.log_received(&answer);
        answer
    }

    /// Sends a request; the transcript has only its first line.
    async fn send_logged(
        &self,
        request: RequestBuilder,
        command: &str,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        self.log_sent(command);
        self.send_unlogged(request, command).await
    }

    async fn send_unlogged(
        &self,
        request: RequestBuilder,
        command: &str,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        let context = RequestContext {
            address: &self.address,
            command,
            certificate_check: &self.certificate_check,
            connect_timeout: self.options.connect_timeout,
            command_timeout: self.options.command_timeout,
        };
        let failed = |error: reqwest::Error| classify(&error, &context);
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
                    command: command.to_owned(),
                    reason: format!("the answer is longer than {} MiB", BODY_LIMIT >> 20),
                });
            }
        }
        Ok(HttpAnswer {
            status,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    /// Adds details to an error: the refusal of the jump host, or the fingerprint of an untrusted
    /// certificate.
    async fn with_details(&self, kind: SessionErrorKind) -> SessionErrorKind {
        let refusal = self.tunnel.as_ref().and_then(Tunnel::refusal);
        match (kind, refusal) {
            (
                SessionErrorKind::CertificateUntrusted {
                    address, reason, ..
                },
                _,
            ) => SessionErrorKind::CertificateUntrusted {
                address,
                reason,
                found: tls::fetch_fingerprint(self.options.builder(), &self.base).await,
            },
            (
                SessionErrorKind::Unreachable { .. } | SessionErrorKind::Disconnected { .. },
                Some(refusal),
            ) => SessionErrorKind::Unreachable {
                address: self.address.clone(),
                reason: format!("jump host: {refusal}"),
            },
            (other, _) => other,
        }
    }

    /// Closes the tunnel, if there is one.
    pub(crate) async fn close_tunnel(&mut self, limit: Duration) {
        if let Some(tunnel) = self.tunnel.take() {
            tunnel.close(limit).await;
        }
    }

    fn store_fingerprint(&self) -> Result<(), SessionErrorKind> {
        let note = self.certificate_check.store_fingerprint(&self.address)?;
        self.log().notes.extend(note);
        Ok(())
    }

    fn log_sent(&self, command: &str) {
        let mut record = self.log();
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        transcript.sent(command, mask);
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

    fn log_note(&self, kind: &SessionErrorKind) {
        let mut record = self.log();
        let SessionLog {
            transcript, mask, ..
        } = &mut *record;
        transcript.note(&kind.to_string(), mask);
    }

    /// Whether a retry may succeed: the device is busy or booting, or the connection broke.
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
                            .any(|pattern| pattern.is_match(&answer.body));
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
        let reason = if answer.body.trim().is_empty() {
            "an empty answer".to_owned()
        } else if is_html(&answer.body) {
            "an HTML page instead of JSON".to_owned()
        } else {
            "the answer is not JSON".to_owned()
        };
        Err(SessionErrorKind::InvalidAnswer {
            command: format!("{} {}", request.method, request.path),
            reason,
        })
    }
}

const UNAUTHORIZED: u16 = 401;
const JSON: &str = "application/json";

/// Whether a successful answer to a read is not JSON.
fn is_malformed(request: &Request, answer: &HttpAnswer) -> bool {
    let read = request.method == Method::Get && answer.is_success();
    read && serde_json::from_str::<IgnoredAny>(&answer.body).is_err()
}

fn is_html(body: &str) -> bool {
    body.trim_start().starts_with('<')
}

fn json_unescape(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned())
}
