//! The worker's end of the link: calls to one of the hubs, and to another one if it does not answer.
//!
//! The link has a runtime of its own: callers can be within another one, or on threads that block.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rustls::CertificateError;
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use switchtender_devices::http::{
    Authorities, ClientRoute, ClientSettings, ClientSettingsError, HttpClient, HttpError, Method,
    Trust,
};
use switchtender_devices::regular_file;
use tokio::runtime::Runtime;
use tokio_util::task::AbortOnDropHandle;

use super::protocol::{CALLS, LARGEST, LinkCall, PROTOCOL_HEADER, WORK, Work};
use super::settings::{JoinSettings, WorkerCredential};
use crate::clock;
use crate::error_chain::chain;
use crate::inventory::Secrets;
use crate::inventory::secrets::LookupError;
use crate::serve::access::WorkerIdentity;
use crate::serve::lease::protocol::PROTOCOL;
use crate::serve::live_watch::LivePart;
use crate::serve::run_store::{DELIVERY_LIMIT, RunStoreError};
use crate::serve::tls_files::TlsFilesError;
use crate::serve::watched_files::WatchedFiles;

/// Limit for a call with its answer, and for a connection.
const CALL_LIMIT: Duration = Duration::from_secs(30);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Limits for a call about leases: a hub under load has its time.
const SHORTEST_EXCHANGE: Duration = Duration::from_secs(1);
const LONGEST_EXCHANGE: Duration = Duration::from_secs(8);

/// Limit for a request that waits for work: more than the time that a hub waits.
const WORK_LIMIT: Duration = Duration::from_secs(40);

/// The longest text of a refusal.
const LONGEST_TEXT: usize = 64 << 10;

/// Limit for a call about leases of this length: they are renewed at another hub before they expire.
fn exchange_limit(lease_ms: u64) -> Duration {
    let part = Duration::from_millis(lease_ms / 4);
    part.clamp(SHORTEST_EXCHANGE, LONGEST_EXCHANGE)
}

/// A link that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkSetupError {
    #[error("cannot read {path}")]
    CaFile {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Client(#[from] ClientSettingsError),
    #[error("cannot read the token of the worker")]
    Token(#[source] LookupError),
    #[error("cannot use the certificate of the worker")]
    Certificate(#[source] TlsFilesError),
    #[error("cannot start the link")]
    Runtime(#[source] std::io::Error),
}

impl LinkSetupError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Certificate(error) => error.hint(),
            Self::Token(LookupError::Readable { path, .. }) => {
                Some(format!("run `chmod 600 {path}`"))
            }
            _ => None,
        }
    }
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkError {
    /// No hub answers. What the call asked for can have happened.
    #[error("no hub answers: {0}")]
    Unreachable(String),
    /// The hubs that answer do not know the worker, or are of another version. This can change.
    #[error("no hub accepts this worker: {0}")]
    NotAccepted(String),
    /// It is about what the worker has no right to. This can change, also for a result that waits.
    #[error("the hub refuses a call: {0}")]
    Foreign(String),
    /// A hub refuses it.
    #[error("the hub refuses a call: {0}")]
    Refused(String),
}

/// The link. Clones share it.
#[derive(Clone)]
pub(crate) struct HubLink {
    state: Arc<LinkState>,
}

struct LinkState {
    settings: JoinSettings,
    client: Mutex<LinkClient>,
    /// The sites of the worker.
    sites: Vec<String>,
    /// `None`: the worker has a certificate.
    token: Option<SecretString>,
    /// The hub that answered last.
    current: AtomicUsize,
    /// Whether a hub answered the last call.
    is_reachable: AtomicBool,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

/// The client, with the files that it was made of.
struct LinkClient {
    client: HttpClient,
    files: WatchedFiles,
}

impl std::fmt::Debug for HubLink {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "HubLink({:?})", self.state.settings.hubs)
    }
}

impl Drop for LinkState {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A plain drop waits, which a task must not.
            runtime.shutdown_background();
        }
    }
}

impl HubLink {
    /// Sets the link up. No hub needs to answer.
    ///
    /// # Errors
    /// A file or the token cannot be used.
    pub(crate) async fn new(
        settings: &JoinSettings,
        sites: &[String],
    ) -> Result<Self, LinkSetupError> {
        let token = match &settings.credential {
            WorkerCredential::Token(source) => {
                let read = Secrets::new(false).of_source(source).await;
                Some(read.map_err(LinkSetupError::Token)?)
            }
            WorkerCredential::Certificate(_) => None,
        };
        let client = LinkClient::new(settings)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("link")
            .enable_all()
            .build()
            .map_err(LinkSetupError::Runtime)?;
        let state = LinkState {
            settings: settings.clone(),
            client: Mutex::new(client),
            sites: sites.to_vec(),
            token,
            current: AtomicUsize::new(0),
            is_reachable: AtomicBool::new(false),
            runtime: Some(runtime),
        };
        Ok(Self {
            state: Arc::new(state),
        })
    }

    /// Whether the worker runs devices of a site.
    pub(super) fn has_site(&self, site: &str) -> bool {
        self.state.sites.iter().any(|own| own == site)
    }

    /// Sends events of a run to who watches it.
    pub(crate) async fn publish(&self, part: LivePart) -> Result<(), LinkError> {
        self.call(LinkCall::Publish(part)).await
    }

    /// The hub that answered last.
    pub(crate) fn hub(&self) -> &str {
        let hubs = &self.state.settings.hubs;
        &hubs[self.state.current.load(Ordering::Relaxed) % hubs.len()]
    }

    /// Whether a hub answered the last call.
    pub(crate) fn is_reachable(&self) -> bool {
        self.state.is_reachable.load(Ordering::Relaxed)
    }

    /// The name and the sites that the worker has at a hub.
    ///
    /// # Errors
    /// No hub accepts it.
    pub(crate) async fn identify(&self) -> Result<WorkerIdentity, RunStoreError> {
        Ok(self.call(LinkCall::Identify).await?)
    }

    /// As [`HubLink::identify`], at each hub once.
    pub(crate) async fn identify_at_each_hub(
        &self,
    ) -> Vec<(&str, Result<WorkerIdentity, RunStoreError>)> {
        let request = LinkRequest {
            path: CALLS,
            body: Some(serde_json::to_vec(&LinkCall::Identify).expect("a call is JSON")),
            limit: LONGEST_EXCHANGE,
        };
        let mut answers = Vec::new();
        for (index, hub) in self.state.settings.hubs.iter().enumerate() {
            let answer = self.send_to(index, &request).await;
            answers.push((hub.as_str(), answer.map_err(RunStoreError::from)));
        }
        answers
    }

    /// Calls a hub.
    ///
    /// # Cancellation
    /// May be dropped; what the call asks for can happen.
    pub(crate) async fn call<T: DeserializeOwned + Send + 'static>(
        &self,
        call: LinkCall,
    ) -> Result<T, LinkError> {
        let link = self.clone();
        let task = self.runtime().spawn(async move { link.send(&call).await });
        // A call that nobody waits for goes to no other hub.
        let ended = AbortOnDropHandle::new(task).await;
        ended.unwrap_or_else(|_| Err(LinkError::Unreachable("the process stops".to_owned())))
    }

    /// As [`HubLink::call`], on a thread that may wait.
    pub(super) fn call_and_wait<T: DeserializeOwned + Send + 'static>(
        &self,
        call: LinkCall,
    ) -> Result<T, LinkError> {
        let link = self.clone();
        let (sender, result) = mpsc::sync_channel(1);
        self.runtime()
            .spawn(async move { drop(sender.send(link.send(&call).await)) });
        let stopped = |_| LinkError::Unreachable("the process stops".to_owned());
        result.recv().map_err(stopped)?
    }

    /// Waits until there can be something to do.
    pub(super) async fn wait_for_work(&self, position: &str) -> Result<Work, LinkError> {
        let path = format!("{WORK}?position={position}");
        let link = self.clone();
        let task = self.runtime().spawn(async move {
            let index = link.state.current.load(Ordering::Relaxed);
            let request = LinkRequest {
                path: &path,
                body: None,
                limit: WORK_LIMIT,
            };
            link.send_to(index, &request).await
        });
        let ended = AbortOnDropHandle::new(task).await;
        ended.unwrap_or_else(|_| Err(LinkError::Unreachable("the process stops".to_owned())))
    }

    fn runtime(&self) -> &Runtime {
        let runtime = self.state.runtime.as_ref();
        runtime.expect("a link has a runtime until it is dropped")
    }

    /// Sends a call to the hub that answered last, and then to the others.
    async fn send<T: DeserializeOwned>(&self, call: &LinkCall) -> Result<T, LinkError> {
        let body = serde_json::to_vec(call).expect("a call is JSON");
        let request = LinkRequest {
            path: CALLS,
            body: Some(body),
            limit: match call {
                LinkCall::Exchange(request) => exchange_limit(request.node.lease_ms),
                LinkCall::Finish(_) => DELIVERY_LIMIT,
                _ => CALL_LIMIT,
            },
        };
        let (first, count) = (
            self.state.current.load(Ordering::Relaxed),
            self.state.settings.hubs.len(),
        );
        let (mut problems, mut is_answered) = (Vec::new(), false);
        for index in first..first + count {
            match self.send_to(index % count, &request).await {
                Err(LinkError::Unreachable(problem)) if matches!(call, LinkCall::Exchange(_)) => {
                    // It can have happened: the same beat again would be that of another process.
                    (self.state.current).store((index + 1) % count, Ordering::Relaxed);
                    self.state.is_reachable.store(false, Ordering::Relaxed);
                    return Err(LinkError::Unreachable(problem));
                }
                Err(LinkError::Unreachable(problem)) => problems.push(problem),
                Err(LinkError::NotAccepted(problem)) => {
                    is_answered = true;
                    problems.push(problem);
                }
                answered => {
                    self.state.current.store(index % count, Ordering::Relaxed);
                    self.state.is_reachable.store(true, Ordering::Relaxed);
                    return answered;
                }
            }
        }
        self.state.is_reachable.store(false, Ordering::Relaxed);
        let text = problems.join("; ");
        Err(if is_answered {
            LinkError::NotAccepted(text)
        } else {
            LinkError::Unreachable(text)
        })
    }

    async fn send_to<T: DeserializeOwned>(
        &self,
        index: usize,
        request: &LinkRequest<'_>,
    ) -> Result<T, LinkError> {
        let (state, client) = (&self.state, self.client());
        let hubs = &state.settings.hubs;
        let hub = &hubs[index % hubs.len()];
        let url = format!("{hub}{}", request.path);
        let method = if request.body.is_some() {
            Method::POST
        } else {
            Method::GET
        };
        let mut builder = client
            .request(method, &url)
            .header(PROTOCOL_HEADER, PROTOCOL)
            .timeout(request.limit);
        if let Some(token) = &state.token {
            builder = builder.bearer_auth(token.expose_secret());
        }
        if let Some(body) = &request.body {
            builder = builder
                .header("content-type", "application/json")
                .body(body.clone());
        }
        let unreachable = |text: String| LinkError::Unreachable(format!("{hub}: {text}"));
        let failed = |error: HttpError| unreachable(connection_problem(error));
        let mut answer = client.send(builder).await.map_err(failed)?;
        let is_of_hub = answer.headers.contains_key(PROTOCOL_HEADER);
        if answer.is_success() && is_of_hub {
            let body = answer.receive(LARGEST).await.map_err(failed)?;
            // A proxy can have cut or replaced it: what the call asked for can have happened.
            return serde_json::from_slice(&body)
                .map_err(|error| unreachable(format!("its answer cannot be read: {error}")));
        }
        let body = answer.receive(LONGEST_TEXT).await.unwrap_or_default();
        let text = refusal(answer.status, &body);
        Err(match answer.status {
            _ if !is_of_hub => unreachable(format!(
                "{text}, and not from a hub: check the address, and proxies on the way"
            )),
            401 | 409 | 421 => LinkError::NotAccepted(format!("{hub}: {text}")),
            403 => LinkError::Foreign(text),
            400 | 413 | 422 => LinkError::Refused(text),
            // Another hub, or this one later, can take the call.
            _ => unreachable(text),
        })
    }

    /// The client. Files that were replaced are read again: certificates are renewed while the process runs.
    fn client(&self) -> HttpClient {
        let current = self.state.client.lock();
        let mut current = current.unwrap_or_else(PoisonError::into_inner);
        let files = current.files.read_again();
        if files != current.files {
            match LinkClient::new(&self.state.settings) {
                Ok(new) => {
                    tracing::info!("the certificates of the link are read again");
                    current.client = new.client;
                }
                Err(error) => tracing::error!(
                    "{}; the previous certificates stay in effect",
                    chain(&error)
                ),
            }
            current.files = files;
        }
        current.client.clone()
    }
}

impl LinkClient {
    fn new(settings: &JoinSettings) -> Result<Self, LinkSetupError> {
        let mut files = WatchedFiles::default();
        if let Some(path) = &settings.ca_file {
            files.add(path);
        }
        let identity = match &settings.credential {
            WorkerCredential::Token(_) => None,
            WorkerCredential::Certificate(tls) => {
                files.add(&tls.certificate);
                files.add(&tls.key);
                Some(tls.identity().map_err(LinkSetupError::Certificate)?)
            }
        };
        let client = ClientSettings {
            trust: trust(settings)?,
            identity,
            route: ClientRoute::ProxyOfEnvironment,
            user_agent: Some(concat!("switchtender/", env!("CARGO_PKG_VERSION"))),
            connect_timeout: Some(CONNECT_LIMIT),
            ..ClientSettings::default()
        };
        let client = client.client()?;
        Ok(Self { client, files })
    }
}

/// A request to a hub.
struct LinkRequest<'a> {
    path: &'a str,
    body: Option<Vec<u8>>,
    limit: Duration,
}

/// Why there is no answer. A certificate of the hub that is not valid can be one of the clock of this host.
fn connection_problem(error: HttpError) -> String {
    let advice = match error.tls() {
        Some(rustls::Error::InvalidCertificate(problem)) => match problem {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => {
                let now = clock::timestamp();
                format!(": this host has {now:.0}, compare its clock with that of the hub")
            }
            CertificateError::UnknownIssuer => {
                ": set `ca_file` in [fleet] to the CA certificate of the hub".to_owned()
            }
            _ => String::new(),
        },
        _ => String::new(),
    };
    format!("{}{advice}", chain(&error.without_url()))
}

/// The text of an error of a hub.
fn refusal(status: u16, body: &[u8]) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let error = parsed.as_ref().and_then(|body| body.get("error")?.as_str());
    let hint = parsed.as_ref().and_then(|body| body.get("hint")?.as_str());
    let text = match (error, hint) {
        (Some(error), Some(hint)) => format!("{error} ({hint})"),
        (Some(error), None) => error.to_owned(),
        (None, _) => format!("the answer has status {status}"),
    };
    switchtender_devices::printable::escape(&text).into_owned()
}

fn trust(settings: &JoinSettings) -> Result<Trust, LinkSetupError> {
    let Some(path) = &settings.ca_file else {
        return Ok(Trust::default());
    };
    let pem = regular_file::read_text(path, regular_file::LARGEST);
    let pem = pem.map_err(|source| LinkSetupError::CaFile {
        path: path.display().to_string(),
        source,
    })?;
    Ok(Trust::Authorities(Authorities::of_pem(&pem)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::lease::times::LeaseTimes;

    #[test]
    fn leases_are_renewed_in_time_although_two_hubs_do_not_answer() {
        for seconds in [10, 30, 120, 3600] {
            let times = LeaseTimes {
                lease: Duration::from_secs(seconds),
            };
            let limit = exchange_limit(seconds * 1000);
            let renewed = (limit + times.beat()) * 2;
            assert!(renewed < times.stop(), "{seconds}: {renewed:?}");
        }
    }
}
