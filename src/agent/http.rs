//! Requests to a Puppet Server; only this module uses the HTTP library.
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

use secrecy::ExposeSecret as _;

pub(crate) use self::error::RequestError;
pub use self::error::RequestErrorKind;
pub(crate) use self::message::Method;
pub use self::message::Request;
pub(crate) use self::message::Response;
pub(crate) use self::message::{CRL_LIMIT, FILE_METADATA_LIMIT, NODE_LIMIT, PLUGIN_FILE_LIMIT};
use self::tls::{Identity, TlsError, Trust};
use super::puppet_conf::{HttpSettings, Server};
use super::{PROTOCOL_VERSION, USER_AGENT};

const MAX_REDIRECTS: usize = 10;

/// A connection pool with one identity.
#[derive(Clone, Debug)]
pub struct Client {
    inner: reqwest::Client,
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
    ) -> Result<Self, TlsError> {
        let tls = tls::config(trust, identity)?;
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(USER_AGENT)
            .redirect(reqwest::redirect::Policy::none())
            .http1_only()
            .connect_timeout(settings.connect_timeout)
            .pool_idle_timeout(Duration::from_secs(4))
            .no_proxy();
        let proxy = settings.proxy.as_ref();
        if let Some(proxy) =
            proxy.and_then(|proxy| reqwest::Proxy::all(format!("http://{proxy}")).ok())
        {
            builder = builder.proxy(proxy);
        }
        Ok(Self {
            inner: builder.build().expect("the configuration is valid"),
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
    ) -> Result<(Response, reqwest::header::HeaderMap), RequestErrorKind> {
        let connect_timeout = self.settings.connect_timeout;
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Put => reqwest::Method::PUT,
            Method::Post => reqwest::Method::POST,
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
        let classify = RequestErrorKind::classify;
        let mut response = builder
            .send()
            .await
            .map_err(|error| classify(&error, connect_timeout, RequestErrorKind::Disconnected))?;
        let headers = response.headers().clone();
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| classify(&error, connect_timeout, RequestErrorKind::Incomplete))?
        {
            if body.len() + chunk.len() > request.response_limit {
                return Err(RequestErrorKind::Unexpected(format!(
                    "it is larger than {} MiB",
                    request.response_limit >> 20
                )));
            }
            body.extend_from_slice(&chunk);
        }
        let answer = Response {
            status,
            body,
            request: String::new(),
        };
        Ok((answer, headers))
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
    let next = reqwest::Url::parse(url).ok()?.join(location).ok()?;
    (next.scheme() == "https").then(|| next.to_string())
}
