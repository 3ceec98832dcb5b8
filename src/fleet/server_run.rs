//! Runs of the devices of `device.conf` against a Puppet Server: `device`.
//!
//! The order of the requests is that of `docs/reference/agent-protocol.md`, section 5.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use switchtender_devices::driver::{Driver, Facts, Platform, Registry};
use switchtender_devices::session::Access;
use switchtender_devices::value::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::catalog_source::{CatalogSource, CatalogText, DeviceSettings, ReportError, ReportSink};
use super::connector::DeviceConnector;
use super::device_run::{self, DeviceRun, DeviceRunError, Observer};
use super::run_request::RunRequest;
use crate::agent::client::catalog_cache::CatalogHeader;
use crate::agent::client::facts;
use crate::agent::client::report_spool::Delivery;
use crate::agent::run::{AgentRun, CatalogResponse, Proxy, RetrievedCatalog, RunError};
use crate::agent::run_log::RunLog;
use crate::agent::{PROTOCOL_VERSION, disabled, hook};
use crate::catalog::{self, CachedStatus, Level, LoadError, Loading};
use crate::clock;
use crate::device_conf::{ConnectionSettings, CredentialsReaders, DeviceSection, ResolveContext};
use crate::inventory::{Secrets, StandbyPolicy};
use crate::manifest::ManifestCompiler;
use crate::report;
use crate::run_kind::RunKind;
use crate::store::{self, DeviceStore, LockSubject, Store};
use crate::validate::CatalogTarget;

/// The file of `--apply`.
pub(crate) enum AppliedFile {
    /// A catalog in JSON.
    Catalog(String),
    Manifest(ManifestCompiler),
}

/// What the runs of a proxy share.
pub(crate) struct ServerFleet {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) secrets: Secrets,
    pub(crate) readers: CredentialsReaders,
    /// Devices that may run at once; a device that waits for its certificate does not count.
    pub(crate) active: Semaphore,
    /// Messages below this level are left out of reports.
    pub(crate) log_level: Level,
    /// Apply this catalog instead of requesting one; nothing is sent to the server then.
    pub(crate) catalog: Option<AppliedFile>,
}

impl ServerFleet {
    /// Runs one device.
    ///
    /// # Cancellation
    /// As [`device_run::run`].
    pub(crate) async fn run(
        &self,
        entry: &DeviceSection,
        request: &RunRequest,
        observer: &Observer,
    ) -> DeviceRun {
        let store = Store::at(&self.proxy.settings.vardir).device(&entry.name);
        let mut peer = ServerDevice {
            fleet: self,
            kind: request.kind,
            entry,
            store: &store,
            agent: AgentRun::new(&self.proxy, &entry.certname),
            connection: None,
            platform: None,
            facts: None,
            obtained: None,
            permit: None,
        };
        device_run::run(&entry.name, &store, &mut peer, request, observer).await
    }

    /// Connects to a device without a catalog; with the definitions that are on this host.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn connector(
        &self,
        entry: &DeviceSection,
    ) -> Result<(DeviceConnector, Arc<Registry>), DeviceRunError> {
        let agent = AgentRun::new(&self.proxy, &entry.certname);
        let connection = self.connection(&agent, entry).await?;
        let registry = self.definitions(&agent)?;
        let platform = platform(&registry, &connection, entry)?;
        let connector = device_connector(&connection, &platform, Access::ReadOnly);
        Ok((connector, registry))
    }

    /// The facts of a device in the form that is sent to the server.
    pub(crate) fn agent_facts(
        &self,
        entry: &DeviceSection,
        device: &Facts,
        kind: RunKind,
    ) -> facts::Facts {
        let lifetime = self.proxy.settings.runinterval;
        facts::Facts::of_driver(&entry.certname, device, kind.is_noop(), lifetime)
    }

    async fn connection(
        &self,
        agent: &AgentRun,
        entry: &DeviceSection,
    ) -> Result<ConnectionSettings, DeviceRunError> {
        // Definitions that cannot be read are reported after the plugins are synchronized.
        let definitions = self.definitions(agent).ok();
        let context = ResolveContext {
            secrets: &self.secrets,
            device_dir: &agent.layout.var,
            readers: self.readers,
            definitions: definitions.as_deref(),
        };
        let connection = entry.connection(context).await;
        connection.map_err(|findings| DeviceRunError::Connection {
            kind: entry.kind.clone(),
            device: entry.name.clone(),
            findings,
        })
    }

    fn definitions(&self, agent: &AgentRun) -> Result<Arc<Registry>, RunError> {
        Ok(self.proxy.definitions.of(&agent.layout)?)
    }
}

/// One device of a Puppet Server.
struct ServerDevice<'a> {
    fleet: &'a ServerFleet,
    kind: RunKind,
    entry: &'a DeviceSection,
    store: &'a DeviceStore,
    agent: AgentRun,
    connection: Option<ConnectionSettings>,
    platform: Option<Arc<Platform>>,
    /// Read from the device.
    facts: Option<facts::Facts>,
    obtained: Option<RetrievedCatalog>,
    permit: Option<SemaphorePermit<'a>>,
}

impl ServerDevice<'_> {
    fn connection(&self) -> &ConnectionSettings {
        self.connection.as_ref().expect("prepare comes first")
    }

    /// The environment, its definitions, and the platform of the device.
    async fn begin(&mut self, log: &mut dyn RunLog) -> Result<(), DeviceRunError> {
        // The session reports these two itself.
        let is_of_session = |code: &str| ["host-key-ignored", "tls-ignored"].contains(&code);
        let warnings = self.connection().warnings.iter();
        for warning in warnings.filter(|warning| !is_of_session(warning.code)) {
            log.warning(warning.message.clone());
        }
        let registry = match &self.fleet.catalog {
            None => self.agent.begin(log).await?,
            Some(_) => self.fleet.definitions(&self.agent)?,
        };
        self.platform = Some(platform(&registry, self.connection(), self.entry)?);
        log.info(format!(
            "starting applying configuration to {} at {}",
            self.entry.name,
            self.connection().redacted_url
        ));
        Ok(())
    }

    async fn obtain(
        &mut self,
        facts: &facts::Facts,
        log: &mut dyn RunLog,
    ) -> Result<CatalogResponse, DeviceRunError> {
        let text = match &self.fleet.catalog {
            None => return Ok(self.agent.catalog(facts, log).await?),
            Some(AppliedFile::Catalog(text)) => text.clone(),
            Some(AppliedFile::Manifest(compiler)) => {
                let compiled = compiler.compile(facts).await?;
                for warning in compiled.warnings {
                    log.warning(warning);
                }
                compiled.text
            }
        };
        let head = CatalogHeader::read(&text, &self.entry.certname).map_err(RunError::Header)?;
        let obtained = RetrievedCatalog {
            text,
            head,
            cached: CachedStatus::NotUsed,
        };
        let registry = self.fleet.definitions(&self.agent)?;
        Ok(CatalogResponse::Catalog(obtained, registry))
    }

    async fn hook(
        &self,
        setting: &'static str,
        command: Option<&String>,
        log: &mut dyn RunLog,
    ) -> Result<(), DeviceRunError> {
        if let Some(command) = command {
            let limit = self.agent.hook_limit();
            hook::run(setting, command, &self.entry.name, limit, log).await?;
        }
        Ok(())
    }
}

impl CatalogSource for ServerDevice<'_> {
    /// Its certificates belong to the name.
    fn directory_lock(&self) -> LockSubject {
        LockSubject::Name
    }

    fn inventory(&self) -> String {
        let settings = &self.fleet.proxy.settings;
        settings.deviceconfig.display().to_string()
    }

    fn origin(&self) -> Option<String> {
        Some("Puppet Server".to_owned())
    }

    fn wait_for_start<'a>(
        &'a mut self,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), DeviceRunError>> {
        Box::pin(async move {
            if let Some(limit) = self.fleet.proxy.settings.splay {
                let wait = limit.mul_f64(rand::random());
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
            match disabled::reason(&self.agent.layout)? {
                None => Ok(()),
                Some(reason) => Err(DeviceRunError::Disabled {
                    device: self.entry.name.clone(),
                    reason,
                }),
            }
        })
    }

    fn prepare<'a>(
        &'a mut self,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<DeviceSettings, DeviceRunError>> {
        Box::pin(async move {
            let ServerFleet { proxy, active, .. } = self.fleet;
            if self.fleet.catalog.is_none() {
                self.agent.set_up(log).await?;
            }
            let permit = active.acquire().await;
            self.permit = Some(permit.expect("the semaphore is never closed"));
            let connection = self.fleet.connection(&self.agent, self.entry).await?;
            let secrets = connection.target.secrets();
            let save = connection.save;
            self.connection = Some(connection);
            let graph_dir = proxy
                .settings
                .graph
                .then(|| match &proxy.settings.graphdir {
                    Some(dir) => dir.join(store::directory_name(&self.entry.name)),
                    None => self.store.dir().join("state/graphs"),
                });
            Ok(DeviceSettings {
                save,
                secrets,
                graph_dir,
                // `puppet device` changes such units.
                standby: StandbyPolicy::Warn,
                ..DeviceSettings::default()
            })
        })
    }

    fn catalog<'a>(
        &'a mut self,
        facts: Option<&'a Facts>,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<Option<CatalogText>, DeviceRunError>> {
        Box::pin(async move {
            let Some(facts) = facts else {
                self.begin(log).await?;
                return Ok(None);
            };
            let facts = self.fleet.agent_facts(self.entry, facts, self.kind);
            self.facts = Some(facts.clone());
            let (obtained, registry) = match self.obtain(&facts, log).await? {
                CatalogResponse::Catalog(obtained, registry) => (obtained, registry),
                CatalogResponse::Restart(registry) => {
                    self.platform = Some(platform(&registry, self.connection(), self.entry)?);
                    log.info("reading the facts again: the environment changed");
                    return Ok(None);
                }
            };
            let text = obtained.text.clone().into_bytes();
            self.obtained = Some(obtained);
            let platform = platform(&registry, self.connection(), self.entry)?;
            self.platform = Some(Arc::clone(&platform));
            let refused = |error: LoadError| DeviceRunError::refused(error.diagnostics);
            let source = catalog::source(format!("catalog of {}", self.entry.name), text);
            let values = facts.values.iter().filter_map(|(name, value)| {
                Some((name.clone(), Value::String(value.as_str()?.to_owned())))
            });
            // As for a catalog in a file: the facts of the device do not count yet, so that the same
            // catalog is admitted by either.
            let options = self.connection().options.iter();
            let options: Facts = options
                .map(|(name, value)| (format!("option.{name}"), value.clone()))
                .collect();
            Ok(Some(CatalogText {
                source: source.map_err(refused)?,
                loading: Loading {
                    facts: values.collect(),
                },
                origins: None,
                target: CatalogTarget::Device {
                    certname: Some(self.entry.certname.clone()),
                    driver: Some(Driver::new(&platform, &options)),
                    running: None,
                    max_shutdown: None,
                },
                registry,
                platform,
                undo: None,
            }))
        })
    }

    fn connector(
        &mut self,
        access: Access,
    ) -> BoxFuture<'_, Result<DeviceConnector, DeviceRunError>> {
        Box::pin(async move {
            let platform = self.platform.as_ref().expect("the catalog comes first");
            Ok(device_connector(self.connection(), platform, access))
        })
    }

    fn before_transaction<'a>(
        &'a mut self,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<(), DeviceRunError>> {
        Box::pin(async move {
            if let (None, Some(obtained)) = (&self.fleet.catalog, &self.obtained) {
                let noop = self.kind.is_noop();
                self.agent.store_catalog(obtained, noop, log).await?;
            }
            let command = self.fleet.proxy.settings.prerun_command.as_ref();
            self.hook("prerun_command", command, log).await
        })
    }

    fn after_run<'a>(
        &'a mut self,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<(), DeviceRunError>> {
        Box::pin(async move {
            let Some(facts) = &self.facts else {
                return Ok(());
            };
            if self.obtained.is_some() {
                self.agent.resubmit(facts, log).await;
            }
            let command = self.fleet.proxy.settings.postrun_command.as_ref();
            self.hook("postrun_command", command, log).await
        })
    }
}

impl ReportSink for ServerDevice<'_> {
    fn report_context(&self) -> report::Context {
        report::Context {
            host: self.entry.certname.to_string(),
            time: clock::timestamp(),
            transaction_uuid: Some(self.agent.transaction_uuid.clone()),
            puppet_version: PROTOCOL_VERSION.to_owned(),
            noop: self.kind.is_noop(),
            environment: None,
            server_used: None,
            job_id: None,
            cached_catalog_status: CachedStatus::NotUsed,
            log_level: self.fleet.log_level,
        }
    }

    fn complete_report(&self, report: &mut report::Report) {
        for (name, seconds) in &self.agent.times {
            report.measured(name, std::time::Duration::from_secs_f64(*seconds));
        }
        report.complete_context(|context| {
            context.environment = Some(self.agent.environment().to_owned());
            context.server_used = self.agent.server_used();
            if let Some(obtained) = &self.obtained {
                context.cached_catalog_status = obtained.cached;
            }
        });
    }

    fn excludes_unchanged_resources(&self) -> bool {
        self.fleet.proxy.settings.exclude_unchanged_resources
    }

    fn deliver<'a>(
        &'a mut self,
        report: &'a RawValue,
        error: Option<&'a DeviceRunError>,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<(), ReportError>> {
        Box::pin(async move {
            if self.fleet.catalog.is_some() || error.is_some_and(DeviceRunError::is_before_lock) {
                return Ok(());
            }
            match self.agent.deliver(report, log).await? {
                Some(Delivery::Spooled(error)) => {
                    let hint = error.hint().map(|hint| format!("; {hint}"));
                    log.warning(format!(
                        "Could not send report, it is stored and sent later: {error}{}",
                        hint.unwrap_or_default()
                    ));
                }
                Some(Delivery::Refused(error, file)) => log.error(format!(
                    "The server refused the report; it is in {}: {error}",
                    file.display()
                )),
                Some(Delivery::Sent { earlier }) if earlier > 0 => {
                    log.notice(format!("Sent reports of earlier runs: {earlier}"));
                }
                _ => {}
            }
            Ok(())
        })
    }
}

fn device_connector(
    connection: &ConnectionSettings,
    platform: &Arc<Platform>,
    access: Access,
) -> DeviceConnector {
    let options = connection.options.iter().cloned();
    DeviceConnector::new(
        connection.target.clone(),
        Arc::clone(platform),
        access,
        options,
    )
}

fn platform(
    registry: &Registry,
    connection: &ConnectionSettings,
    entry: &DeviceSection,
) -> Result<Arc<Platform>, DeviceRunError> {
    let platform = registry.platform(&connection.platform).cloned();
    platform.ok_or_else(|| {
        let names = registry.platform_names().cloned();
        DeviceRunError::Platform {
            platform: entry.kind.as_str().into(),
            hint: format!(
                "known platforms: {}; a module of the device's environment may add one",
                names.collect::<Vec<_>>().join(", ")
            ),
        }
    })
}
