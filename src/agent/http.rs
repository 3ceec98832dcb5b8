//! Requests to a Puppet Server: the one file of this room that knows the HTTP library.
//!
//! A [`Client`] has one TLS identity, so there is one per device; it keeps its connections for
//! every server it talks to. What the protocol wants of every request is done here: headers,
//! limits, `Retry-After`, redirects that keep method and body. What went wrong is told with server
//! and remedy ([`RequestError`]).

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use super::refusal;
use super::retry_after;
use super::settings::{HttpSettings, Server};
use super::tls::{Identity, NameMismatch, TlsError, Trust};
use super::{PROTOCOL_VERSION, USER_AGENT};

/// Larger answers are refused: no catalog is that large, and a run must not eat the machine.
const LARGEST_ANSWER: usize = 256 << 20;
const REDIRECTS: usize = 10;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    /// Path with query, encoded.
    pub target: String,
    pub accept: &'static str,
    pub content_type: Option<&'static str>,
    pub body: Vec<u8>,
    pub if_modified_since: Option<String>,
    /// Limit for the whole exchange; `None`: the read timeout.
    pub limit: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Put,
    Post,
}

impl Request {
    pub fn get(target: impl Into<String>, accept: &'static str) -> Self {
        Self {
            method: Method::Get,
            target: target.into(),
            accept,
            content_type: None,
            body: Vec::new(),
            if_modified_since: None,
            limit: None,
        }
    }

    pub fn put(
        target: impl Into<String>,
        accept: &'static str,
        content_type: &'static str,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            method: Method::Put,
            content_type: Some(content_type),
            body: body.into(),
            ..Self::get(target, accept)
        }
    }

    pub fn post(
        target: impl Into<String>,
        accept: &'static str,
        content_type: &'static str,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            method: Method::Post,
            ..Self::put(target, accept, content_type, body)
        }
    }

    /// What people see of the request.
    fn shown(&self, server: &Server) -> String {
        let method = match self.method {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
        };
        // The query repeats what the run knows anyway.
        let path = self.target.split('?').next().unwrap_or_default();
        format!("{method} https://{server}{path}")
    }
}

/// An answer, whatever its status.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub body: Vec<u8>,
    pub request: String,
}

impl Answer {
    pub fn success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The answer if it is a success, else what the server said.
    pub fn expect_success(self) -> Result<Self, RequestError> {
        if self.success() {
            Ok(self)
        } else {
            Err(self.refused())
        }
    }

    /// The answer as an error.
    pub fn refused(&self) -> RequestError {
        RequestError {
            request: self.request.clone(),
            kind: RequestErrorKind::Status {
                status: self.status,
                said: super::answer::message(&self.body),
            },
        }
    }

    /// An answer that is not what was asked for.
    pub fn unexpected(&self, why: impl Into<String>) -> RequestError {
        RequestError {
            request: self.request.clone(),
            kind: RequestErrorKind::Unexpected(why.into()),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A request that did not get the answer it wanted.
#[derive(Debug, thiserror::Error)]
#[error("{request}: {kind}")]
pub struct RequestError {
    pub request: String,
    pub kind: RequestErrorKind,
}

#[derive(Debug, thiserror::Error)]
pub enum RequestErrorKind {
    #[error("cannot connect: {0}")]
    Unreachable(String),
    #[error("no answer within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("the answer broke off: {0}")]
    Cut(String),
    #[error("the server's certificate is not accepted: {0}")]
    ServerCertificate(String),
    #[error("{0}")]
    ServerName(NameMismatch),
    #[error("the server does not accept the device's certificate ({0})")]
    DeviceCertificate(String),
    #[error("the server answered {status}{}", if .said.is_empty() { String::new() } else { format!(": {}", .said) })]
    Status { status: u16, said: String },
    #[error("the answer cannot be used: {0}")]
    Unexpected(String),
    #[error("the request cannot be sent: {0}")]
    Invalid(String),
}

impl RequestError {
    /// The status that the server answered, if it did.
    pub fn status(&self) -> Option<u16> {
        match self.kind {
            RequestErrorKind::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Whether the server was not there, as opposed to having answered.
    pub fn no_answer(&self) -> bool {
        matches!(
            self.kind,
            RequestErrorKind::Unreachable(_)
                | RequestErrorKind::Timeout(_)
                | RequestErrorKind::Cut(_)
        )
    }

    /// Whether the same request could be taken later: the server has not seen it, or had no way
    /// to take it now.
    pub fn may_pass(&self) -> bool {
        self.status()
            .is_none_or(|status| matches!(status, 429 | 500..))
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match &self.kind {
            RequestErrorKind::Unreachable(_) => {
                "is the server running, and `server` and `serverport` right?".to_owned()
            }
            RequestErrorKind::Timeout(_) => {
                "raise http_read_timeout or catalog_timeout if the server needs longer".to_owned()
            }
            RequestErrorKind::ServerCertificate(why) if why.contains("UnknownIssuer") || why.contains("BadSignature") => {
                "the server's certificate is not below the stored CA bundle; if the CA was made anew, remove certs/ca.pem of the device and of the proxy".to_owned()
            }
            RequestErrorKind::ServerCertificate(why) if why.contains("UnknownRevocationStatus") => {
                "a CRL is missing; remove crl.pem of the device, or set certificate_revocation = leaf".to_owned()
            }
            RequestErrorKind::ServerCertificate(_) => {
                "give the server a sound certificate, or set the clock of this machine; then try again"
                    .to_owned()
            }
            RequestErrorKind::ServerName(mismatch) if mismatch.common_name_only => {
                "the certificate has only a common name, which does not count; make the server a certificate with alternative names (dns_alt_names)".to_owned()
            }
            RequestErrorKind::ServerName(_) => {
                "set `server` to one of these names, or make the server a certificate with this one (dns_alt_names)".to_owned()
            }
            RequestErrorKind::DeviceCertificate(_) => {
                "it is revoked, expired or of another CA: `switchtender cert show` tells; clean it on the server (`puppetserver ca clean --certname NAME`) and here (`switchtender cert clean NAME`)".to_owned()
            }
            RequestErrorKind::Status { status: 403, .. } => {
                "the device's certificate must have the name in the path, and the server's auth.conf must allow it".to_owned()
            }
            RequestErrorKind::Status { status: 400, .. } => {
                "is `environment` right? `switchtender doctor` looks at the settings".to_owned()
            }
            RequestErrorKind::Status { status: 404, .. } => {
                "is `environment` right, and is this a Puppet Server (`server`, `serverport`)?".to_owned()
            }
            RequestErrorKind::Status { status: 406 | 415, .. } => {
                "the server must speak JSON, as all do from Puppet 5 on".to_owned()
            }
            RequestErrorKind::Status { status: 429 | 503, .. } => {
                "the server has too much to do: lower --catalog-concurrency, or let the server say when to come back (Retry-After)".to_owned()
            }
            RequestErrorKind::Status { status: 500.., .. } => {
                "mend the manifest where the message says so; the server's puppetserver.log tells more".to_owned()
            }
            RequestErrorKind::Cut(_) => {
                "try again; if it stays so, look at the server's puppetserver.log and at what is in between".to_owned()
            }
            RequestErrorKind::Unexpected(_) => {
                "did a Puppet Server answer? Look at `server` and `serverport`, and whether a proxy is in between".to_owned()
            }
            _ => return None,
        })
    }
}

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

/// What an error of the library means.
fn kind_of(error: &reqwest::Error, connect_limit: Duration) -> RequestErrorKind {
    if let Some(tls) = find::<rustls::Error>(error) {
        return tls_kind(tls);
    }
    if error.is_timeout() {
        return RequestErrorKind::Unreachable(format!(
            "no connection within {} s",
            connect_limit.as_secs()
        ));
    }
    let why = innermost(error);
    if error.is_connect() {
        RequestErrorKind::Unreachable(why)
    } else if error.is_builder() {
        RequestErrorKind::Invalid(why)
    } else {
        RequestErrorKind::Cut(why)
    }
}

fn tls_kind(error: &rustls::Error) -> RequestErrorKind {
    use rustls::{AlertDescription, CertificateError, Error};
    match error {
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            match other.0.downcast_ref::<NameMismatch>() {
                Some(mismatch) => RequestErrorKind::ServerName(NameMismatch {
                    asked: mismatch.asked.clone(),
                    names: mismatch.names.clone(),
                    common_name_only: mismatch.common_name_only,
                }),
                None => RequestErrorKind::ServerCertificate(other.to_string()),
            }
        }
        Error::InvalidCertificate(why) => {
            RequestErrorKind::ServerCertificate(certificate_words(why))
        }
        Error::AlertReceived(
            alert @ (AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::DecryptError
            | AlertDescription::AccessDenied
            | AlertDescription::CertificateRequired),
        ) => RequestErrorKind::DeviceCertificate(format!("TLS alert {alert:?}")),
        other => RequestErrorKind::Unreachable(other.to_string()),
    }
}

fn certificate_words(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError as E;
    match why {
        E::Expired | E::ExpiredContext { .. } => "it has expired (Expired)".to_owned(),
        E::NotValidYet | E::NotValidYetContext { .. } => {
            "it is not valid yet, or the clock here is wrong (NotValidYet)".to_owned()
        }
        E::Revoked => "it was revoked (Revoked)".to_owned(),
        E::BadSignature => {
            "it is of a CA that only has the name of the one in the bundle (BadSignature)"
                .to_owned()
        }
        E::UnknownIssuer => "it is of a CA that is not in the bundle (UnknownIssuer)".to_owned(),
        E::UnknownRevocationStatus => {
            "no CRL says whether it was revoked (UnknownRevocationStatus)".to_owned()
        }
        other => format!("{other:?}"),
    }
}

/// An error of this type among the causes, also where it travels inside an I/O error.
fn find<T: std::error::Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let inner = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .map(|inner| inner as &(dyn std::error::Error + 'static));
        if let Some(found) = inner.and_then(|inner| inner.downcast_ref::<T>()) {
            return Some(found);
        }
        cause = inner.or_else(|| error.source());
    }
    None
}

fn innermost(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}
