//! The agent of one device run: from certificates to a catalog, and the report
//! (`docs/reference/agent-protocol.md`, section 5).
//!
//! The steps are methods that the caller calls in order. The caller also connects to the device,
//! collects facts and applies the catalog. Devices share only a [`Proxy`], which has no state of a
//! device. Each step can fail. A report can always be delivered: it is sent, or spooled until the
//! server is available.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use switchtender_devices::driver::Registry;
use switchtender_devices::map::IndexMap;
use switchtender_devices::names::Certname;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::ca::authority::CertificateAuthority;
use super::ca::bootstrap::{Bootstrap, BootstrapError, TlsCredentials};
use super::client::catalog_cache::{self, CatalogHeader, CatalogHeaderError};
use super::client::endpoint::Endpoint;
use super::client::environment::{AgentEnvironment, CatalogDecision, EnvironmentError};
use super::client::facts::Facts;
use super::client::pluginsync::{self, Definitions, Downloads, PluginError};
use super::client::report_spool::{Delivery, ReportSpool};
use super::client::server_list::{self, ServerSelectionError};
use super::http::{Client, RequestError};
use super::layout::Layout;
use super::puppet_conf::{Server, Settings};
use super::run_log::RunLog;
use crate::agent::device_file::FileError;
use crate::catalog::CachedStatus;
use crate::clock;
use switchtender_devices::http::ClientSettingsError;

/// State that all devices of the proxy share.
#[derive(Debug)]
pub struct Proxy {
    pub(crate) settings: Arc<Settings>,
    pub(crate) authority: CertificateAuthority,
    pub(crate) definitions: Definitions,
    downloads: Downloads,
    /// Limit of concurrent catalog requests: a server compiles one catalog per worker.
    catalogs: Semaphore,
}

impl Proxy {
    /// Creates the state; at most `catalog_concurrency` (at least 1) catalog requests run at once.
    pub fn new(settings: Settings, catalog_concurrency: usize) -> Self {
        let settings = Arc::new(settings);
        Self {
            authority: CertificateAuthority::new(&settings),
            definitions: Definitions::default(),
            downloads: Downloads::default(),
            catalogs: Semaphore::new(catalog_concurrency.max(1)),
            settings,
        }
    }
}

/// A catalog with the expected certname and environment.
#[derive(Clone, Debug)]
pub struct RetrievedCatalog {
    /// The catalog as JSON text.
    pub text: String,
    /// Name and environment from the catalog.
    pub head: CatalogHeader,
    /// Whether the catalog came from the cache, and why.
    pub cached: CachedStatus,
}

/// The result of a catalog request.
#[derive(Clone, Debug)]
pub enum CatalogResponse {
    /// The catalog and the definitions of its environment.
    Catalog(RetrievedCatalog, Arc<Registry>),
    /// The server names another environment, whose definitions are now synchronized. Facts can
    /// depend on definitions: read them again and repeat the request.
    Restart(Arc<Registry>),
}

/// The run has no catalog.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The device has no usable certificate.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// The TLS configuration of the device cannot be built from its local files.
    #[error("cannot use the local certificates")]
    Tls(#[from] ClientSettingsError),
    /// No server of `server_list` is available.
    #[error(transparent)]
    NoServer(#[from] ServerSelectionError),
    /// The environment is missing on the server, changes repeatedly or violates the strict mode.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The definitions of the environment cannot be downloaded, read or validated.
    #[error(transparent)]
    Plugins(#[from] PluginError),
    /// The catalog request failed, or the response is not a catalog.
    #[error("Could not retrieve catalog from remote server: {0}")]
    Catalog(RequestError),
    /// The server sent a catalog for another certname.
    #[error("{request}")]
    WrongName {
        /// Method and URL of the catalog request.
        request: String,
        /// Expected and found certname.
        source: CatalogHeaderError,
    },
    /// A local catalog has an invalid header or another certname.
    #[error(transparent)]
    Header(CatalogHeaderError),
    /// A file of the device cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl RunError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            RunError::Bootstrap(error) => error.hint(),
            RunError::Catalog(error) | RunError::Plugins(PluginError::Request(error)) => {
                error.hint()
            }
            RunError::WrongName { .. }
            | RunError::Header(CatalogHeaderError::WrongName { .. }) => Some(
                "use one name for the section in device.conf, the certname and the node on the server"
                    .to_owned(),
            ),
            RunError::NoServer(_) => {
                Some("check each server with `switchtender doctor`".to_owned())
            }
            RunError::Plugins(PluginError::Check(_)) => {
                Some("fix the definitions in the module of the device's environment".to_owned())
            }
            RunError::Environment(EnvironmentError::Unstable(_)) => {
                Some("check the node classifier: it assigns another environment each time".to_owned())
            }
            _ => None,
        }
    }
}

/// The agent of one device in one run.
#[derive(Debug)]
pub struct AgentRun {
    proxy: Arc<Proxy>,
    /// Paths of the device's certificates, caches and state.
    pub layout: Layout,
    /// Random UUID of the run, sent with the node and catalog requests and in the report.
    pub transaction_uuid: String,
    /// Durations in seconds, by their names in reports.
    pub(crate) times: IndexMap<&'static str, f64>,
    environment: AgentEnvironment,
    client: Option<Client>,
    /// The selected server.
    server: Option<Server>,
    /// No server is reachable: only the cached catalog can be used.
    server_unreachable: bool,
    /// The server named the environment of the node in this run.
    has_environment: bool,
    forced_cached_catalog: Option<RetrievedCatalog>,
}

impl AgentRun {
    /// Prepares the run of a device without any network or file access.
    pub fn new(proxy: &Arc<Proxy>, certname: &Certname) -> Self {
        Self {
            layout: Layout::new(&proxy.settings, certname),
            environment: AgentEnvironment::new(&proxy.settings.environment),
            proxy: Arc::clone(proxy),
            transaction_uuid: uuid::Uuid::new_v4().to_string(),
            times: IndexMap::default(),
            client: None,
            server: None,
            server_unreachable: false,
            has_environment: false,
            forced_cached_catalog: None,
        }
    }

    /// The current environment of the run.
    pub fn environment(&self) -> &str {
        self.environment.current()
    }

    /// For `server_used` in the report: set only for a server from `server_list`.
    pub fn server_used(&self) -> Option<String> {
        let listed = !self.proxy.settings.server_list.is_empty();
        self.server
            .as_ref()
            .filter(|_| listed)
            .map(Server::to_string)
    }

    /// Step 1: keys, certificates, bundles. May wait for a signature.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn set_up(&mut self, log: &mut dyn RunLog) -> Result<(), RunError> {
        let setup = Bootstrap {
            settings: &self.proxy.settings,
            layout: &self.layout,
            authority: &self.proxy.authority,
        };
        let TlsCredentials {
            trust, identity, ..
        } = setup.run(log).await?;
        self.client = Some(Client::new(
            &self.proxy.settings.http,
            self.proxy.settings.runinterval,
            &trust,
            Some(&identity),
        )?);
        Ok(())
    }

    /// Steps 4 to 7: server, environment, definitions. An unreachable server is not an error if a
    /// cached catalog may be used.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn begin(&mut self, log: &mut dyn RunLog) -> Result<Arc<Registry>, RunError> {
        let settings = Arc::clone(&self.proxy.settings);
        self.select(&settings, log).await?;
        if settings.use_cached_catalog
            && let Some((text, head)) = catalog_cache::load(&self.layout)?
        {
            self.environment.adopt(&head.environment);
            log.info(format!(
                "Using cached catalog from environment '{}'",
                head.environment
            ));
            self.forced_cached_catalog = Some(RetrievedCatalog {
                text,
                head,
                cached: CachedStatus::ExplicitlyRequested,
            });
            return Ok(self.proxy.definitions.of(&self.layout)?);
        }
        if !self.server_unreachable && self.environment.has_node_request() {
            let began = clock::instant();
            let answer = {
                let (current, configured) =
                    (self.environment.current(), self.environment.configured());
                self.endpoint().node(current, configured).await
            };
            self.server_unreachable |= answer
                .as_ref()
                .is_err_and(RequestError::is_without_response);
            self.has_environment = answer.is_ok();
            self.environment.node(answer, log);
            self.took("node_retrieval", began);
        }
        self.environment.begin(log);
        self.plugins(log).await
    }

    async fn select(&mut self, settings: &Settings, log: &mut dyn RunLog) -> Result<(), RunError> {
        let client = self.client.as_ref().expect("set_up comes first");
        let selected = server_list::select(settings, client, log).await;
        match selected {
            Ok(server) => self.server = Some(server),
            Err(error) if settings.usecacheonfailure || settings.use_cached_catalog => {
                log.error(error.to_string());
                self.server_unreachable = true;
                self.server = settings.server_list.first().cloned();
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Step 7: downloads the drivers of the environment to the directory of the device.
    async fn plugins(&mut self, log: &mut dyn RunLog) -> Result<Arc<Registry>, RunError> {
        if self.proxy.settings.pluginsync && !self.server_unreachable {
            let began = clock::instant();
            match self.sync_plugins(log).await {
                Err(RunError::Plugins(PluginError::Request(error)))
                    if error.is_without_response() || error.status().is_some() =>
                {
                    // The definitions of an earlier run remain in use.
                    self.server_unreachable |= error.is_without_response();
                    log.warning(format!("Could not retrieve definitions: {error}"));
                }
                other => other?,
            }
            self.took("plugin_sync", began);
        }
        Ok(self.proxy.definitions.of(&self.layout)?)
    }

    async fn sync_plugins(&mut self, log: &mut dyn RunLog) -> Result<(), RunError> {
        let environment = self.environment.current().to_owned();
        let listed = self
            .endpoint()
            .plugins(&environment)
            .await
            .map_err(PluginError::Request)?;
        self.environment.listed(listed.is_some(), log)?;
        if let Some(listed) = listed {
            let downloads = &self.proxy.downloads;
            let endpoint = self.endpoint();
            pluginsync::sync(
                &endpoint,
                downloads,
                &environment,
                listed,
                &self.layout,
                log,
            )
            .await?;
        }
        Ok(())
    }

    /// Steps 8 and 9: sends facts and receives a catalog. To be repeated with new facts until the
    /// environments agree.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn catalog(
        &mut self,
        facts: &Facts,
        log: &mut dyn RunLog,
    ) -> Result<CatalogResponse, RunError> {
        let registry = self.proxy.definitions.of(&self.layout)?;
        if let Some(obtained) = self.forced_cached_catalog.take() {
            return Ok(CatalogResponse::Catalog(obtained, registry));
        }
        facts.check(&self.proxy.settings.fact_limits, log);
        let began = clock::instant();
        let response = self.request(facts).await;
        self.took("config_retrieval", began);
        match response {
            Ok((text, head)) => match self.environment.catalog(&head.environment, log)? {
                CatalogDecision::Use => {
                    let obtained = RetrievedCatalog {
                        text,
                        head,
                        cached: CachedStatus::NotUsed,
                    };
                    Ok(CatalogResponse::Catalog(obtained, registry))
                }
                CatalogDecision::Restart => {
                    self.has_environment = true;
                    Ok(CatalogResponse::Restart(self.plugins(log).await?))
                }
            },
            Err(error @ RunError::Catalog(_)) => {
                let obtained = self.cached(error, log)?;
                Ok(CatalogResponse::Catalog(obtained, registry))
            }
            Err(error) => Err(error),
        }
    }

    async fn request(&self, facts: &Facts) -> Result<(String, CatalogHeader), RunError> {
        let endpoint = self.endpoint();
        let _permit = self.proxy.catalogs.acquire().await.expect("never closed");
        endpoint
            .catalog(
                facts,
                self.environment.current(),
                self.environment.configured(),
                self.proxy.settings.http.catalog_timeout,
            )
            .await
    }

    /// Returns the cached catalog after a failed request.
    fn cached(
        &mut self,
        error: RunError,
        log: &mut dyn RunLog,
    ) -> Result<RetrievedCatalog, RunError> {
        if !self.proxy.settings.usecacheonfailure {
            return Err(error);
        }
        let Some((text, head)) = catalog_cache::load(&self.layout)? else {
            return Err(error);
        };
        log.error_chain(&error, error.hint().as_deref());
        // Without a server, the environment of the last run is the best that is known.
        if !self.has_environment && self.environment.has_node_request() {
            self.environment.adopt(&head.environment);
        }
        let current = self.environment.current();
        if head.environment != current {
            log.error(format!(
                "Not using cached catalog because its environment '{}' does not match '{current}'",
                head.environment
            ));
            return Err(error);
        }
        log.notice(format!(
            "Using cached catalog from environment '{}'",
            head.environment
        ));
        Ok(RetrievedCatalog {
            text,
            head,
            cached: CachedStatus::OnFailure,
        })
    }

    /// Step 11: stores a catalog that passed the checks in the cache, except in a noop run.
    pub async fn store_catalog(
        &mut self,
        obtained: &RetrievedCatalog,
        noop: bool,
        log: &mut dyn RunLog,
    ) -> Result<(), FileError> {
        if noop || obtained.cached != CachedStatus::NotUsed {
            return Ok(());
        }
        log.info(format!("Caching catalog for {}", self.layout.certname));
        catalog_cache::store(&self.layout, &obtained.text).await
    }

    /// Step 15: submits the facts again after the run. An error is only logged.
    pub(crate) async fn resubmit(&mut self, facts: &Facts, log: &mut dyn RunLog) {
        if !self.proxy.settings.resubmit_facts || self.client.is_none() || self.server_unreachable {
            return;
        }
        let environment = self.environment.current();
        if let Err(error) = self.endpoint().facts(facts, environment).await {
            log.error(format!("Could not submit facts: {error}"));
        }
    }

    /// Step 16: sends the report after the spooled ones, or adds it to the spool.
    ///
    /// # Cancellation
    /// May be dropped at any time; the report is then in the spool.
    pub async fn deliver(
        &mut self,
        report: &RawValue,
        log: &mut dyn RunLog,
    ) -> Result<Option<Delivery>, FileError> {
        if !self.proxy.settings.report {
            return Ok(None);
        }
        let spool = ReportSpool::new(&self.layout);
        let environment = self.environment.current().to_owned();
        if self.client.is_none() {
            // Without a certificate the server rejects all requests.
            spool.put(report, &environment).await?;
            return Ok(None);
        }
        let report_server = self.proxy.settings.report_server.as_ref();
        let endpoint = Endpoint {
            server: report_server.unwrap_or(self.chosen()),
            ..self.endpoint()
        };
        let delivery = spool.deliver(&endpoint, report, &environment, log).await;
        delivery.map(Some)
    }

    /// Maximum duration of hooks.
    pub(crate) fn hook_limit(&self) -> Duration {
        self.proxy
            .settings
            .runtimeout
            .unwrap_or(Duration::from_secs(3600))
    }

    fn endpoint(&self) -> Endpoint<'_> {
        Endpoint {
            client: self.client.as_ref().expect("set_up comes first"),
            server: self.chosen(),
            certname: &self.layout.certname,
            transaction_uuid: &self.transaction_uuid,
        }
    }

    fn chosen(&self) -> &Server {
        self.server.as_ref().unwrap_or(&self.proxy.settings.server)
    }

    fn took(&mut self, name: &'static str, began: Instant) {
        *self.times.entry(name).or_default() += began.elapsed().as_secs_f64();
    }
}
