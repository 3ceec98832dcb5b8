//! Runs of the devices of `device.conf` against a Puppet Server: `device`.
//!
//! The order of the requests is that of `docs/reference/agent-protocol.md`, section 5.

use std::path::PathBuf;
use std::sync::Arc;

use secrecy::ExposeSecret as _;
use switchtender_devices::driver::{Driver, Facts, ParameterValues, Platform, Registry};
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::Access;
use switchtender_devices::value::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::catalog_source::{
    CatalogSource, CatalogText, DeviceSettings, Preparation, PreparedSource,
};
use super::connector::DeviceConnector;
use super::coverage::LinePolicy;
use super::device_run::{self, DeviceRun, DeviceRunError, Observer, RunSubject};
use super::report_sink::{FinishedReport, ReportError, ReportSink};
use super::run_request::RunRequest;
use crate::agent::client::catalog_cache::CatalogHeader;
use crate::agent::client::facts;
use crate::agent::client::report_spool::Delivery;
use crate::agent::run::{AgentRun, CatalogResponse, Proxy, RetrievedCatalog, RunError};
use crate::agent::run_log::RunLog;
use crate::agent::{PROTOCOL_VERSION, disabled, hook};
use crate::catalog::{self, CachedStatus, Level, Loading};
use crate::clock;
use crate::device_conf::{ConnectionSettings, CredentialsReaders, DeviceSection, ResolveContext};
use crate::inventory::{Secrets, StandbyPolicy};
use crate::manifest::ManifestCompiler;
use crate::report;
use crate::run_kind::RunKind;
use crate::store::{self, LockSubject, Store};
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
    /// The state of devices, in the directory of Puppet's `vardir`.
    pub(crate) store: Store,
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
        let store = request.device_store(&self.store, &entry.name);
        let mut agent = AgentRun::new(&self.proxy, &entry.certname);
        let subject = RunSubject {
            device: &entry.name,
            store: &store,
            request,
            observer,
        };
        let context = report::Context {
            host: entry.certname.to_string(),
            time: clock::timestamp(),
            transaction_uuid: Some(agent.transaction_uuid.clone()),
            puppet_version: PROTOCOL_VERSION.to_owned(),
            noop: request.kind.is_noop(),
            environment: None,
            server_used: None,
            job_id: None,
            cached_catalog_status: CachedStatus::NotUsed,
            log_level: self.log_level,
        };
        let source = ServerSource {
            fleet: self,
            kind: request.kind,
            entry,
            graphs: store.dir().join("state/graphs"),
            agent: &mut agent,
        };
        let ended = device_run::run(subject, context, source).await;
        let sink = ServerReports {
            agent,
            is_sent: self.catalog.is_none(),
            excludes_unchanged: self.proxy.settings.exclude_unchanged_resources,
        };
        ended.report_to(sink).await
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

/// A device of a Puppet Server before its run.
struct ServerSource<'a> {
    fleet: &'a ServerFleet,
    kind: RunKind,
    entry: &'a DeviceSection,
    /// The directory of the graphs, unless the settings name one.
    graphs: PathBuf,
    agent: &'a mut AgentRun,
}

impl<'a> CatalogSource for ServerSource<'a> {
    type Prepared = ServerDevice<'a>;

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

    fn graph_dir(&self) -> Option<PathBuf> {
        let settings = &self.fleet.proxy.settings;
        settings.graph.then(|| match &settings.graphdir {
            Some(dir) => dir.join(store::directory_name(&self.entry.name)),
            None => self.graphs.clone(),
        })
    }

    async fn wait_for_start(&self, stop: &CancellationToken) -> Result<(), DeviceRunError> {
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
    }

    async fn prepare(
        self,
        mask: &SecretMask,
        log: &mut dyn RunLog,
    ) -> Result<Preparation<ServerDevice<'a>>, DeviceRunError> {
        let Self {
            fleet,
            kind,
            entry,
            agent,
            graphs: _,
        } = self;
        if fleet.catalog.is_none() {
            agent.set_up(log).await?;
        }
        let permit = fleet.active.acquire().await;
        let permit = permit.expect("the semaphore is never closed");
        let connection = fleet.connection(agent, entry).await?;
        for secret in connection.target.secrets() {
            mask.add(secret.expose_secret());
        }
        for warning in &connection.warnings.of_section {
            log.warning(warning.message.clone());
        }
        let registry = match &fleet.catalog {
            None => agent.begin(log).await?,
            Some(_) => fleet.definitions(agent)?,
        };
        let platform = platform(&registry, &connection, entry)?;
        log.info(format!(
            "starting applying configuration to {} at {}",
            entry.name, connection.redacted_url
        ));
        Ok(Preparation {
            settings: DeviceSettings {
                save: connection.save,
                // `puppet device` changes such units.
                standby: StandbyPolicy::Warn,
                ..DeviceSettings::default()
            },
            catalog: None,
            revision: None,
            source: ServerDevice {
                fleet,
                kind,
                entry,
                agent,
                connection,
                platform,
                _permit: permit,
            },
        })
    }
}

/// A device of a Puppet Server with its connection and its environment.
struct ServerDevice<'a> {
    fleet: &'a ServerFleet,
    kind: RunKind,
    entry: &'a DeviceSection,
    agent: &'a mut AgentRun,
    connection: ConnectionSettings,
    /// Of the current environment.
    platform: Arc<Platform>,
    _permit: SemaphorePermit<'a>,
}

impl ServerDevice<'_> {
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
        let registry = self.fleet.definitions(self.agent)?;
        Ok(CatalogResponse::Catalog(obtained, registry))
    }

    /// A catalog with everything that is needed to check it.
    fn catalog_text(
        &self,
        obtained: &RetrievedCatalog,
        facts: &facts::Facts,
        registry: Arc<Registry>,
    ) -> Result<CatalogText, DeviceRunError> {
        let text = obtained.text.clone().into_bytes();
        let source = catalog::source(format!("catalog of {}", self.entry.name), text);
        let values = facts.values.iter().filter_map(|(name, value)| {
            Some((name.clone(), Value::String(value.as_str()?.to_owned())))
        });
        // As for a catalog in a file: the facts of the device do not count yet, so that the same
        // catalog is admitted by either.
        let options = self.connection.options.iter();
        let options: Facts = options
            .map(|(name, value)| (format!("option.{name}"), value.clone()))
            .collect();
        Ok(CatalogText {
            cached: obtained.cached,
            source: source.map_err(|error| DeviceRunError::refused(error.diagnostics))?,
            loading: Loading {
                facts: values.collect(),
            },
            origins: None,
            line_policy: LinePolicy::default(),
            target: CatalogTarget::Device {
                certname: Some(self.entry.certname.clone()),
                driver: Some(Driver::new(&self.platform, &options)),
                running: None,
                max_shutdown: None,
            },
            registry,
            platform: Arc::clone(&self.platform),
            undo: None,
        })
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

impl PreparedSource for ServerDevice<'_> {
    type Retrieved = RetrievedCatalog;

    async fn connector(&self, access: Access) -> Result<DeviceConnector, DeviceRunError> {
        Ok(device_connector(&self.connection, &self.platform, access))
    }

    async fn retrieve(
        &mut self,
        facts: &Facts,
        log: &mut dyn RunLog,
    ) -> Result<Option<(CatalogText, RetrievedCatalog)>, DeviceRunError> {
        let facts = self.fleet.agent_facts(self.entry, facts, self.kind);
        let response = self.obtain(&facts, log).await?;
        let (CatalogResponse::Catalog(_, registry) | CatalogResponse::Restart(registry)) =
            &response;
        self.platform = platform(registry, &self.connection, self.entry)?;
        match response {
            CatalogResponse::Catalog(obtained, registry) => {
                let text = self.catalog_text(&obtained, &facts, registry)?;
                Ok(Some((text, obtained)))
            }
            CatalogResponse::Restart(_) => {
                log.info("reading the facts again: the environment changed");
                Ok(None)
            }
        }
    }

    async fn before_transaction(
        &mut self,
        retrieved: &RetrievedCatalog,
        log: &mut dyn RunLog,
    ) -> Result<(), DeviceRunError> {
        if self.fleet.catalog.is_none() {
            let noop = self.kind.is_noop();
            self.agent.store_catalog(retrieved, noop, log).await?;
        }
        let command = self.fleet.proxy.settings.prerun_command.as_ref();
        self.hook("prerun_command", command, log).await
    }

    async fn after_run(
        &mut self,
        facts: &Facts,
        retrieved: Option<&RetrievedCatalog>,
        log: &mut dyn RunLog,
    ) -> Result<(), DeviceRunError> {
        if retrieved.is_some() {
            let facts = self.fleet.agent_facts(self.entry, facts, self.kind);
            self.agent.resubmit(&facts, log).await;
        }
        let command = self.fleet.proxy.settings.postrun_command.as_ref();
        self.hook("postrun_command", command, log).await
    }
}

/// Sends the report to the server, or adds it to the spool.
struct ServerReports {
    agent: AgentRun,
    /// False for a catalog that is not the server's.
    is_sent: bool,
    excludes_unchanged: bool,
}

impl ReportSink for ServerReports {
    fn complete_report(&self, record: &mut report::RunRecord) {
        for (name, seconds) in &self.agent.times {
            record.measured(name, std::time::Duration::from_secs_f64(*seconds));
        }
        record.complete_context(|context| {
            context.environment = Some(self.agent.environment().to_owned());
            context.server_used = self.agent.server_used();
        });
    }

    fn excludes_unchanged_resources(&self) -> bool {
        self.excludes_unchanged
    }

    async fn deliver(
        mut self,
        report: FinishedReport<'_>,
        error: Option<&DeviceRunError>,
        log: &mut dyn RunLog,
    ) -> Result<(), ReportError> {
        if !self.is_sent || error.is_some_and(DeviceRunError::is_before_lock) {
            return Ok(());
        }
        match self.agent.deliver(report.json, log).await? {
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
    let platform = registry.platform_with(&connection.platform, &ParameterValues::new());
    platform.ok_or_else(|| {
        if registry.platform(&connection.platform).is_some() {
            return DeviceRunError::Platform {
                platform: entry.kind.as_str().into(),
                hint: "its parameters have no defaults: use an inventory with `parameters`"
                    .to_owned(),
            };
        }
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
