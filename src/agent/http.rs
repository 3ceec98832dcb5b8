//! Requests to a Puppet Server.
//!
//! A [`Client`] has one TLS identity and a connection pool, so each device has its own. It adds the
//! headers of the protocol, applies timeouts, obeys `Retry-After` and follows redirects with method
//! and body. A [`RequestError`] names the request and has a hint.

mod error;
pub(crate) mod error_body;
mod message;
mod retry_after;
pub(crate) mod target;
pub mod tls;

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use switchtender_devices::http::{
    self, ClientRoute, ClientSettings, ClientSettingsError, HttpClient, HttpError, Identity, header,
};

pub(crate) use self::error::RequestError;
pub use self::error::RequestErrorKind;
pub(crate) use self::message::Method;
pub use self::message::Request;
pub(crate) use self::message::Response;
pub(crate) use self::message::{CRL_LIMIT, FILE_METADATA_LIMIT, NODE_LIMIT, PLUGIN_FILE_LIMIT};
use self::tls::Trust;
use super::puppet_conf::{HttpSettings, Server};
use super::{PROTOCOL_VERSION, USER_AGENT};

const MAX_REDIRECTS: usize = 10;
/// Puppet Server closes unused connections, too.
const IDLE_LIMIT: Duration = Duration::from_secs(4);

/// A connection pool with one identity.
#[derive(Clone, Debug)]
pub struct Client {
    inner: HttpClient,
    trust: Trust,
    settings: HttpSettings,
    max_retry_delay: Duration,
}

impl Client {
    /// `max_retry_delay` limits the delay that a `Retry-After` header can request.
    pub fn new(
        settings: &HttpSettings,
        max_retry_delay: Duration,
        trust: &Trust,
        identity: Option<&Identity>,
    ) -> Result<Self, ClientSettingsError> {
        let proxy = settings.proxy.as_ref();
        let proxy = proxy.map(|proxy| SecretString::from(format!("http://{proxy}")));
        let inner = ClientSettings {
            trust: trust.of_client()?,
            identity: identity.cloned(),
            route: proxy.map_or(ClientRoute::Direct, |url| ClientRoute::Proxy(url.into())),
            user_agent: Some(USER_AGENT),
            connect_timeout: Some(settings.connect_timeout),
            idle_timeout: Some(IDLE_LIMIT),
            ..ClientSettings::default()
        };
        Ok(Self {
            inner: inner.client()?,
            trust: trust.clone(),
            settings: settings.clone(),
            max_retry_delay,
        })
    }

    /// Sends a request; obeys `Retry-After` and follows redirects.
    ///
    /// # Cancellation
    /// May be dropped at any time; the request may have reached the server.
    pub async fn send(&self, server: &Server, request: &Request) -> Result<Response, RequestError> {
        let failed = |kind| RequestError {
            request: request.render(server),
            kind,
        };
        let mut url = format!("https://{}{}", authority(server), request.target);
        let (mut attempt, mut redirects) = (0, 0);
        loop {
            let limit = request.limit.unwrap_or(self.settings.read_timeout);
            let exchange = tokio::time::timeout(limit, self.exchange(&url, request)).await;
            let (answer, headers) = match exchange {
                Err(_) => return Err(failed(RequestErrorKind::Timeout(limit))),
                Ok(Err(kind)) => return Err(failed(kind)),
                Ok(Ok(answered)) => answered,
            };
            let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            if matches!(answer.status, 301 | 302 | 307) && redirects < MAX_REDIRECTS {
                let next = header("location").and_then(|to| resolve(&url, to));
                url = next.ok_or_else(|| {
                    failed(RequestErrorKind::Unexpected(
                        "the redirect has no valid https URL".to_owned(),
                    ))
                })?;
                redirects += 1;
                continue;
            }
            let now = crate::clock::timestamp();
            let retry = retry_after::wait(
                answer.status,
                header("retry-after"),
                attempt,
                now,
                self.max_retry_delay,
                rand::random(),
            );
            let Some(wait) = retry else {
                return Ok(Response {
                    request: request.render(server),
                    ..answer
                });
            };
            tracing::info!(
                request = request.render(server),
                status = answer.status,
                seconds = wait.as_secs_f64(),
                "the server is overloaded, retrying later"
            );
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn exchange(
        &self,
        url: &str,
        request: &Request,
    ) -> Result<(Response, header::HeaderMap), RequestErrorKind> {
        let method = match request.method {
            Method::Get => http::Method::GET,
            Method::Put => http::Method::PUT,
            Method::Post => http::Method::POST,
        };
        let mut builder = self.inner.request(method, url);
        for (name, value) in &self.settings.extra_headers {
            builder = builder.header(name, value.expose_secret());
        }
        builder = builder
            .header("X-Puppet-Version", PROTOCOL_VERSION)
            .header("Accept", request.accept);
        if self.settings.profile {
            builder = builder.header("X-Puppet-Profiling", "true");
        }
        if let Some(content_type) = request.content_type {
            builder = builder
                .header("Content-Type", content_type)
                .body(request.body.clone());
        }
        if let Some(since) = &request.if_modified_since {
            builder = builder.header("If-Modified-Since", since);
        }
        let failed = |error: HttpError| self.error_kind(&error);
        let mut response = self.inner.send(builder).await.map_err(failed)?;
        let limit = request.response_limit;
        let answer = Response {
            status: response.status,
            body: response.receive(limit).await.map_err(failed)?,
            request: String::new(),
        };
        Ok((answer, response.headers))
    }

    /// The kind of an error, with the details of a certificate that is refused.
    fn error_kind(&self, error: &HttpError) -> RequestErrorKind {
        if let Some(rustls::Error::InvalidCertificate(refused)) = error.tls() {
            if let Some(mismatch) = tls::name_mismatch(refused, self.inner.presented()) {
                return RequestErrorKind::ServerName(mismatch);
            }
            if let Some(unknown) = self.trust.unknown_revocation(refused) {
                return RequestErrorKind::Revocation(unknown);
            }
        }
        RequestErrorKind::classify(error, self.settings.connect_timeout)
    }
}

fn authority(server: &Server) -> String {
    if server.host.contains(':') {
        format!("[{}]:{}", server.host, server.port)
    } else {
        server.to_string()
    }
}

/// The URL of a redirect, absolute or relative; `None` unless it uses https.
fn resolve(url: &str, location: &str) -> Option<String> {
    let next = http::Url::parse(url).ok()?.join(location).ok()?;
    (next.scheme() == "https").then(|| next.to_string())
}
