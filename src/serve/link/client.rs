//! The worker's end of the link: calls to one of the hubs, and to another one if it does not answer.
//!
//! The link has a runtime of its own: callers can be within another one, or on threads that block.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use switchtender_devices::http::{
    Authorities, ClientRoute, ClientSettings, ClientSettingsError, HttpClient, HttpError, Method,
    Trust,
};
use switchtender_devices::regular_file;
use tokio::runtime::Runtime;

use super::protocol::{CALLS, LARGEST, LinkCall, PROTOCOL, PROTOCOL_HEADER, WORK, Work};
use super::settings::JoinSettings;
use crate::error_chain::chain;
use crate::inventory::Secrets;
use crate::inventory::secrets::LookupError;
use crate::serve::live_watch::LivePart;
use crate::serve::run_store::DELIVERY_LIMIT;

/// Limit for a call with its answer, for one about leases, and for a connection. Leases must be renewed at another hub
/// before they expire.
const CALL_LIMIT: Duration = Duration::from_secs(30);
const EXCHANGE_LIMIT: Duration = Duration::from_secs(8);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Limit for a request that waits for work: more than the time that a hub waits.
const WORK_LIMIT: Duration = Duration::from_secs(40);

/// The longest text of a refusal.
const LONGEST_TEXT: usize = 64 << 10;

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
    #[error("cannot start the link")]
    Runtime(#[source] std::io::Error),
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkError {
    /// No hub answers. What the call asked for can have happened.
    #[error("no hub answers: {0}")]
    Unreachable(String),
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
    client: HttpClient,
    hubs: Vec<String>,
    /// The sites of the worker.
    sites: Vec<String>,
    token: SecretString,
    /// The hub that answered last.
    current: AtomicUsize,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl std::fmt::Debug for HubLink {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "HubLink({:?})", self.state.hubs)
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
        let token = Secrets::new(false).of_source(&settings.token).await;
        let client = ClientSettings {
            trust: trust(settings)?,
            route: ClientRoute::ProxyOfEnvironment,
            user_agent: Some(concat!("switchtender/", env!("CARGO_PKG_VERSION"))),
            connect_timeout: Some(CONNECT_LIMIT),
            ..ClientSettings::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("link")
            .enable_all()
            .build()
            .map_err(LinkSetupError::Runtime)?;
        let state = LinkState {
            client: client.client()?,
            hubs: settings.hubs.clone(),
            sites: sites.to_vec(),
            token: token.map_err(LinkSetupError::Token)?,
            current: AtomicUsize::new(0),
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
        let hubs = &self.state.hubs;
        &hubs[self.state.current.load(Ordering::Relaxed) % hubs.len()]
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
        let ended = task.await;
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
        let ended = task.await;
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
                LinkCall::Exchange(_) => EXCHANGE_LIMIT,
                LinkCall::Finish(_) => DELIVERY_LIMIT,
                _ => CALL_LIMIT,
            },
        };
        let (first, count) = (
            self.state.current.load(Ordering::Relaxed),
            self.state.hubs.len(),
        );
        let mut last = LinkError::Unreachable("there is no hub".to_owned());
        for index in first..first + count {
            match self.send_to(index % count, &request).await {
                Err(error @ LinkError::Unreachable(_)) => last = error,
                answered => {
                    self.state.current.store(index % count, Ordering::Relaxed);
                    return answered;
                }
            }
        }
        Err(last)
    }

    async fn send_to<T: DeserializeOwned>(
        &self,
        index: usize,
        request: &LinkRequest<'_>,
    ) -> Result<T, LinkError> {
        let state = &self.state;
        let hub = &state.hubs[index % state.hubs.len()];
        let url = format!("{hub}{}", request.path);
        let method = if request.body.is_some() {
            Method::POST
        } else {
            Method::GET
        };
        let mut builder = state
            .client
            .request(method, &url)
            .bearer_auth(state.token.expose_secret())
            .header(PROTOCOL_HEADER, PROTOCOL)
            .timeout(request.limit);
        if let Some(body) = &request.body {
            builder = builder
                .header("content-type", "application/json")
                .body(body.clone());
        }
        let failed = |error: HttpError| LinkError::Unreachable(format!("{hub}: {}", chain(&error)));
        let mut answer = state.client.send(builder).await.map_err(failed)?;
        if answer.is_success() {
            let body = answer.receive(LARGEST).await.map_err(failed)?;
            return serde_json::from_slice(&body).map_err(|error| {
                LinkError::Refused(format!("{hub}: its answer is not that of a hub: {error}"))
            });
        }
        let body = answer.receive(LONGEST_TEXT).await.unwrap_or_default();
        let text = refusal(answer.status, &body);
        // Others are about the hub, or about a proxy before it: another hub, or a later program, can take the call.
        if [400, 403, 413, 422].contains(&answer.status) {
            Err(LinkError::Refused(text))
        } else {
            Err(LinkError::Unreachable(format!("{hub}: {text}")))
        }
    }
}

/// A request to a hub.
struct LinkRequest<'a> {
    path: &'a str,
    body: Option<Vec<u8>>,
    limit: Duration,
}

/// The text of an error of a hub.
fn refusal(status: u16, body: &[u8]) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let error = parsed.as_ref().and_then(|body| body.get("error")?.as_str());
    let text = error.map_or_else(|| format!("status {status}"), str::to_owned);
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
