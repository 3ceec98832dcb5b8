//! One device's HTTP client: requests out, answers in, with limits and retries.

mod answer;
mod lifetime;
mod login;
mod message;
mod session_log;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret;
use serde::de::IgnoredAny;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio::time::sleep;

use super::certificate_check::{CertificateCheck, trust, with_colons};
use super::credential::{Account, Credential};
use super::request_error::{RequestContext, classify};
use super::route::route;
use crate::clock;
use crate::dialogue::rest_rules::{PageRules, RestRules};
use crate::error_chain::chain;
use crate::http::{self, ClientSettings, HttpClient, HttpError, RequestBuilder, Trust, header};
use crate::operation::{Method, Request};
use crate::session::Access;
use crate::session::connect_params::{ConnectParams, TlsPolicy};
use crate::session::deadline::{Deadline, WaitEnd};
use crate::session::error::SessionErrorKind;
use crate::session::fence::Fence;
use crate::session::mask::Mask;
use crate::session::ssh::tunnel::Tunnel;
use crate::session::transcript::Transcript;
pub(super) use answer::{ConditionHeader, HttpAnswer};
use answer::{body_text, cookies, entity_tag, next_page};
use message::is_html;
use session_log::SessionLog;

/// Longest answer to a request in bytes.
const BODY_LIMIT: usize = 256 << 20;
/// Longest answer to login and logout, and longest error message, in bytes.
const SHORT_BODY_LIMIT: usize = 1 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Requests to a busy device are repeated for at most this time.
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// The HTTP client of one device.
pub(super) struct RestClient {
    http: HttpClient,
    base: String,
    address: String,
    rules: Arc<RestRules>,
    account: Account,
    access: Access,
    certificate_check: CertificateCheck,
    connect_timeout: Duration,
    command_timeout: Duration,
    tunnel: Option<Tunnel>,
    credential: AsyncMutex<Option<Credential>>,
    permits: Semaphore,
    /// Limit of one request with its repetitions.
    command_limit: Duration,
    deadline: Deadline,
    fence: Arc<dyn Fence>,
    round_trips: AtomicU64,
    log: Mutex<SessionLog>,
}

/// What a request is for, whatever its method is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Write,
}

impl RestClient {
    fn new(
        target: &ConnectParams,
        rules: &Arc<RestRules>,
        access: Access,
        tunnel: Option<Tunnel>,
    ) -> Result<Self, SessionErrorKind> {
        let port = target.port.unwrap_or(rules.port);
        // A URL has an IPv6 address in brackets.
        let host = if target.host.contains(':') {
            format!("[{}]", target.host.trim_matches(['[', ']']))
        } else {
            target.host.clone()
        };
        let address = match &target.rest.socket {
            Some(socket) => socket.display().to_string(),
            None => format!("{host}:{port}"),
        };
        let unusable = |reason: String| SessionErrorKind::Unreachable {
            address: address.clone(),
            reason,
        };
        let socket = tunnel.as_ref().map(|tunnel| tunnel.socket().to_owned());
        let route = route(target, socket).map_err(|error| unusable(error.to_string()))?;
        let is_local = target.rest.socket.is_some();
        let is_plain = is_local || target.rest.tls == TlsPolicy::Disabled;
        let (trust, certificate_check) = trust(&target.rest.tls)?;
        let settings = ClientSettings {
            // The CA certificates of the system are not read in vain.
            trust: if is_plain { Trust::Any } else { trust },
            route,
            connect_timeout: Some(target.connect_timeout),
            unacknowledged_limit: Some(target.fence.unacknowledged_limit()),
            read_timeout: Some(target.command_timeout),
            ..ClientSettings::default()
        };
        let http = (settings.client()).map_err(|error| unusable(chain(&error)))?;
        let mut mask = Mask::new(&rules.secrets, &target.mask);
        for secret in &target.secrets() {
            mask.add(secret.expose_secret());
        }
        let mut notes = tunnel.as_ref().map(Tunnel::notes).unwrap_or_default();
        // The kernel checks the permissions of a local socket.
        if is_plain && !is_local {
            notes.push(format!(
                "the connection to {address} is not encrypted (`tls = \"disabled\"`)"
            ));
        } else if !is_plain && !certificate_check.is_enabled {
            notes.push("the certificate is not verified; set `fingerprint`".to_owned());
        }
        Ok(Self {
            http,
            base: match (is_local, is_plain) {
                (true, _) => "http://localhost".to_owned(),
                (false, true) => format!("http://{address}"),
                (false, false) => format!("https://{address}"),
            },
            address,
            rules: Arc::clone(rules),
            account: Account::new(target),
            access,
            certificate_check,
            connect_timeout: target.connect_timeout,
            command_timeout: target.command_timeout,
            tunnel,
            credential: AsyncMutex::new(None),
            permits: Semaphore::new(rules.parallel),
            command_limit: target.limits.command.unwrap_or(rules.limits.command),
            deadline: target.deadline.clone(),
            fence: Arc::clone(&target.fence),
            round_trips: AtomicU64::new(0),
            log: Mutex::new(SessionLog {
                mask,
                transcript: Transcript::create(target.transcript.as_deref(), &target.mask)?,
                notes,
            }),
        })
    }

    /// How the device divides long lists.
    pub(crate) fn pages(&self) -> Option<&PageRules> {
        self.rules.pages.as_ref()
    }

    pub(crate) fn user(&self) -> &str {
        &self.account.user
    }

    pub(crate) fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    /// The fingerprint of the device's certificate.
    pub(crate) fn certificate(&self) -> Option<String> {
        let presented = self.http.presented().fingerprint();
        presented.map(|fingerprint| with_colons(&fingerprint))
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.log().notes.clone()
    }

    /// Sends a request that only reads and returns the answer with any status.
    ///
    /// # Errors
    /// There is no complete answer, or the login was refused.
    pub(crate) async fn read(&self, request: &Request) -> Result<HttpAnswer, SessionErrorKind> {
        self.exchange(request, Purpose::Read, None).await
    }

    /// Sends a request that writes and returns the answer with any status.
    ///
    /// # Errors
    /// There is no complete answer, the login was refused, or the session is read-only.
    pub(crate) async fn send(
        &self,
        request: &Request,
        condition: Option<&ConditionHeader>,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        if self.access == Access::ReadOnly {
            let command = format!("{} {}", request.method, request.path);
            return Err(SessionErrorKind::ReadOnly { command });
        }
        self.exchange(request, Purpose::Write, condition).await
    }

    async fn exchange(
        &self,
        request: &Request,
        purpose: Purpose,
        condition: Option<&ConditionHeader>,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        let command = format!("{} {}", request.method, request.path);
        if let Some(body) = &request.body {
            let mut record = self.log();
            record.mask.add_all(body);
            for secret in body.secrets() {
                record.mask.add(&json_unescape(secret));
            }
        }
        let sending = self.send_repeatedly(request, purpose, condition);
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
    async fn send_repeatedly(
        &self,
        request: &Request,
        purpose: Purpose,
        condition: Option<&ConditionHeader>,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        let _permit = self
            .permits
            .acquire()
            .await
            .expect("the semaphore is never closed");
        let repeatable = request.idempotent || purpose == Purpose::Read;
        let started = clock::instant();
        let mut pause = FIRST_PAUSE;
        let mut logged_in_again = false;
        loop {
            let credential = self.credential().await?;
            if purpose == Purpose::Write
                && let Err(error) = self.fence.check()
            {
                let command = format!("{} {}", request.method, request.path);
                let reason = error.reason;
                return Err(SessionErrorKind::Fenced { command, reason });
            }
            let result = self.attempt(request, &credential, condition).await;
            if let Ok(answer) = &result
                && answer.status == UNAUTHORIZED
            {
                if logged_in_again || !self.renew_credential(&credential).await? {
                    return Err(self.login_refused());
                }
                logged_in_again = true;
                continue;
            }
            let retry = repeatable && self.is_retryable(purpose, &result);
            if !retry || started.elapsed() + pause > RETRY_TIMEOUT.min(self.command_timeout) {
                return self.final_result(request, purpose, result);
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn attempt(
        &self,
        request: &Request,
        credential: &Credential,
        condition: Option<&ConditionHeader>,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        let mut http = self.request(request.method, &request.path, Some(credential));
        if let Some(body) = &request.body {
            let content_type = if request.is_file {
                &self.rules.upload_type
            } else {
                &self.rules.content_type
            };
            http = http
                .header(header::CONTENT_TYPE, content_type)
                .body(body.reveal());
            let size = body.len();
            for (name, value) in self.rules.upload_headers.iter().filter(|_| request.is_file) {
                let value = value.replace("{size}", &size.to_string());
                let last = size.saturating_sub(1).to_string();
                http = http.header(name, value.replace("{last}", &last));
            }
        }
        if let Some((name, value)) = condition {
            http = http.header(name, value);
        }
        let http = self.account.authenticate(http, credential);
        let command = format!("{} {}", request.method, request.path);
        self.log_sent(&request.to_string());
        let answer = self.send_unlogged(http, &command, BODY_LIMIT).await;
        self.log_received(&answer);
        answer
    }

    /// A request with the headers and parameters of all requests to the platform, and the token, if
    /// it is a parameter.
    fn request(
        &self,
        method: Method,
        path: &str,
        credential: Option<&Credential>,
    ) -> RequestBuilder {
        let fixed = self.rules.query.iter();
        let fixed = fixed.map(|(name, value)| (name.as_str(), value.clone()));
        let token = credential.and_then(Credential::query_parameter);
        let mut url = format!("{}{path}", self.base);
        for (name, value) in fixed.chain(token) {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.extend(utf8_percent_encode(name, PARAMETER));
            url.push('=');
            url.extend(utf8_percent_encode(&value, PARAMETER));
        }
        let method = match method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Patch => http::Method::PATCH,
            Method::Delete => http::Method::DELETE,
        };
        let request = self.http.request(method, &url);
        let headers = self.rules.headers.iter();
        headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }

    /// Sends a request of login or logout; the transcript has only its first line.
    async fn send_logged(
        &self,
        request: RequestBuilder,
        command: &str,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        self.log_sent(command);
        self.send_unlogged(request, command, SHORT_BODY_LIMIT).await
    }

    async fn send_unlogged(
        &self,
        request: RequestBuilder,
        command: &str,
        limit: usize,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
        let context = RequestContext {
            address: &self.address,
            command,
            certificate_check: &self.certificate_check,
            presented: self.http.presented(),
            connect_timeout: self.connect_timeout,
            command_timeout: self.command_timeout,
        };
        // The URL may contain the token.
        let failed = |error: HttpError| classify(&error.without_url(), &context);
        let sent = self.http.send(request).await;
        let mut response = sent.map_err(|error| self.with_refusal(failed(error)))?;
        self.store_fingerprint()?;
        let limit = if response.is_success() {
            limit
        } else {
            SHORT_BODY_LIMIT
        };
        let body = response.receive(limit).await.map_err(failed)?;
        let headers = &response.headers;
        let body = body_text(headers, &body);
        let in_body = self.rules.in_body.as_ref();
        Ok(HttpAnswer {
            status: response.status,
            // A server that computes the tag from the body sends it after the body.
            etag: entity_tag(headers),
            next: next_page(headers),
            cookies: cookies(headers),
            has_error: in_body.is_some_and(|field| field.is_failure(&body)),
            body,
        })
    }

    /// Adds the refusal of the jump host to an error.
    fn with_refusal(&self, kind: SessionErrorKind) -> SessionErrorKind {
        let refusal = self.tunnel.as_ref().and_then(Tunnel::refusal);
        match (kind, refusal) {
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
        let note =
            (self.certificate_check).store_fingerprint(self.http.presented(), &self.address)?;
        self.log().notes.extend(note);
        Ok(())
    }

    /// Whether a retry may succeed: the device is busy or booting, or the connection broke.
    fn is_retryable(
        &self,
        purpose: Purpose,
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
                busy || is_malformed(purpose, answer)
            }
            Err(kind) => matches!(kind, SessionErrorKind::Disconnected { .. }),
        }
    }

    fn final_result(
        &self,
        request: &Request,
        purpose: Purpose,
        result: Result<HttpAnswer, SessionErrorKind>,
    ) -> Result<HttpAnswer, SessionErrorKind> {
        let answer = result?;
        if !is_malformed(purpose, &answer) {
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

/// Characters that are percent-encoded in a parameter: all that are not unreserved.
const PARAMETER: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
const UNAUTHORIZED: u16 = 401;
const JSON: &str = "application/json";

/// Whether a successful answer to a read is not JSON.
fn is_malformed(purpose: Purpose, answer: &HttpAnswer) -> bool {
    let read = purpose == Purpose::Read && answer.is_success();
    read && serde_json::from_str::<IgnoredAny>(&answer.body).is_err()
}

fn json_unescape(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_owned())
}
