//! Requests to a Puppet Server: the one place of this room that knows the HTTP library.
//!
//! A [`Client`] has one TLS identity, so there is one per device; it keeps its connections for
//! every server it talks to. What the protocol wants of every request is done here: headers,
//! limits, `Retry-After`, redirects that keep method and body. What went wrong is told with server
//! and remedy ([`RequestError`]).

mod failure;
mod message;

use std::sync::Arc;
use std::time::Duration;

pub use self::failure::{RequestError, RequestErrorKind};
use self::failure::{kind_of, tls_kind};
pub use self::message::{Answer, Method, Request};
use super::refusal;
use super::retry_after;
use super::settings::{HttpSettings, Server};
use super::tls::{Identity, TlsError, Trust};
use super::{PROTOCOL_VERSION, USER_AGENT};

/// Larger answers are refused: no catalog is that large, and a run must not eat the machine.
const LARGEST_ANSWER: usize = 256 << 20;
const REDIRECTS: usize = 10;

/// A connection pool with one identity.
#[derive(Clone, Debug)]
pub struct Client {
    inner: reqwest::Client,
    /// How a device that has a certificate presents it.
    presents: Option<Arc<rustls::ClientConfig>>,
    settings: HttpSettings,
    /// Longest obedience to a `Retry-After`.
    longest_wait: Duration,
    share: f64,
}

impl Client {
    /// `name` is the device's; it decides by how much its waits differ from those of others.
    pub fn new(
        name: &str,
        settings: &HttpSettings,
        longest_wait: Duration,
        trust: &Trust,
        identity: Option<&Identity>,
    ) -> Result<Self, TlsError> {
        let tls = super::tls::config(trust, identity)?;
        let presents = identity.map(|_| Arc::new(tls.clone()));
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
            inner: builder.build().expect("the configuration was made here"),
            presents,
            settings: settings.clone(),
            longest_wait,
            share: retry_after::share(name),
        })
    }

    /// Sends a request, again if the server says when, elsewhere if it says where.
    ///
    /// # Cancellation
    /// May be dropped at any time; whether the server has seen the request is then unknown.
    pub async fn send(&self, server: &Server, request: &Request) -> Result<Answer, RequestError> {
        let failed = |kind| RequestError {
            request: request.shown(server),
            kind,
        };
        let mut url = format!("https://{}{}", authority(server), request.target);
        let (mut attempt, mut redirects) = (0, 0);
        loop {
            let limit = request.limit.unwrap_or(self.settings.read_timeout);
            let exchange = tokio::time::timeout(limit, self.exchange(&url, request)).await;
            let (answer, headers) = match exchange {
                Err(_) => return Err(failed(RequestErrorKind::Timeout(limit))),
                Ok(Err(Failure::Own(kind))) => return Err(failed(kind)),
                Ok(Err(Failure::Library(error))) => {
                    return Err(failed(kind_of(&error, self.settings.connect_timeout)));
                }
                Ok(Ok(answered)) => answered,
            };
            let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            if matches!(answer.status, 301 | 302 | 307) && redirects < REDIRECTS {
                let next = header("location").and_then(|to| resolve(&url, to));
                url = next.ok_or_else(|| {
                    failed(RequestErrorKind::Unexpected(
                        "a redirect to nowhere".to_owned(),
                    ))
                })?;
                redirects += 1;
                continue;
            }
            let now = crate::clock::timestamp();
            let again = retry_after::wait(
                answer.status,
                header("retry-after"),
                attempt,
                now,
                self.longest_wait,
                self.share,
            );
            let Some(wait) = again else {
                return Ok(Answer {
                    request: request.shown(server),
                    ..answer
                });
            };
            tracing::info!(
                request = request.shown(server),
                status = answer.status,
                seconds = wait.as_secs_f64(),
                "the server is busy, asking again later"
            );
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn exchange(
        &self,
        url: &str,
        request: &Request,
    ) -> Result<(Answer, reqwest::header::HeaderMap), Failure> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Put => reqwest::Method::PUT,
            Method::Post => reqwest::Method::POST,
        };
        let mut building = self.inner.request(method, url);
        for (name, value) in &self.settings.extra_headers {
            building = building.header(name, value);
        }
        building = building
            .header("X-Puppet-Version", PROTOCOL_VERSION)
            .header("Accept", request.accept);
        if self.settings.profile {
            building = building.header("X-Puppet-Profiling", "true");
        }
        if let Some(content_type) = request.content_type {
            building = building
                .header("Content-Type", content_type)
                .body(request.body.clone());
        }
        if let Some(since) = &request.if_modified_since {
            building = building.header("If-Modified-Since", since);
        }
        let mut response = match building.send().await {
            Ok(response) => response,
            Err(error) => return Err(self.refusal(url, &error).await.unwrap_or(error.into())),
        };
        let headers = response.headers().clone();
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err(Failure::Own(RequestErrorKind::Unexpected(
                    "it is larger than 256 MiB".to_owned(),
                )));
            }
            body.extend_from_slice(&chunk);
        }
        let content_type = headers
            .get("content-type")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let answer = Answer {
            status,
            content_type,
            body,
            request: String::new(),
        };
        Ok((answer, headers))
    }

    /// What is behind a connection that ended before an answer began, if it is a refusal of the
    /// device's certificate.
    async fn refusal(&self, url: &str, error: &reqwest::Error) -> Option<Failure> {
        let config = self.presents.clone()?;
        if !matches!(
            kind_of(error, self.settings.connect_timeout),
            RequestErrorKind::Cut(_)
        ) {
            return None;
        }
        let url = reqwest::Url::parse(url).ok()?;
        let place = refusal::Place {
            host: url.host_str()?.trim_matches(['[', ']']),
            port: url.port_or_known_default()?,
            proxy: self.settings.proxy.as_deref(),
        };
        match tls_kind(&refusal::heard(&place, config).await?) {
            refused @ RequestErrorKind::DeviceCertificate(_) => Some(Failure::Own(refused)),
            _ => None,
        }
    }
}

enum Failure {
    Library(reqwest::Error),
    Own(RequestErrorKind),
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        Self::Library(error)
    }
}

fn authority(server: &Server) -> String {
    if server.host.contains(':') {
        format!("[{}]:{}", server.host, server.port)
    } else {
        server.to_string()
    }
}

/// The target of a redirect: a whole URL, or a path on the same server. Never without TLS.
fn resolve(url: &str, location: &str) -> Option<String> {
    let next = reqwest::Url::parse(url).ok()?.join(location).ok()?;
    (next.scheme() == "https").then(|| next.to_string())
}
