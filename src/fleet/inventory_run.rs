//! Runs of inventory devices with catalogs in files: `apply` and `plan`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::{Facts, Platform};
use switchtender_devices::names::DeviceName;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::Access;

use super::catalog_files::{CatalogError, InventoryCatalogs};
use super::catalog_source::{
    CatalogSource, CatalogText, DeviceSettings, Preparation, PreparedSource,
};
use super::change_limits::ChangeLimits;
use super::connector::{Connector, DeviceConnector};
use super::coverage::LinePolicy;
use super::device_run::{self, DeviceRun, DeviceRunError, Observer, RunSubject};
use super::report_sink::{FinishedReport, ReportError, ReportSink};
use super::run_request::RunRequest;
use crate::agent::client::facts::Facts as AgentFacts;
use crate::agent::run_log::RunLog;
use crate::catalog::{self, CachedStatus, Level, Loading};
use crate::clock;
use crate::desired_state::{SecretValues, StateCatalog, StateDirectory, StateError};
use crate::error_chain::chain;
use crate::git::{GitDirectory, GitRevision};
use crate::inventory::Device;
use crate::manifest::ManifestCompiler;
use crate::report;
use crate::run_kind::RunKind;
use crate::store::{self, LockSubject, blocking_io};
use crate::validate::CatalogTarget;

/// The devices of an inventory, and the files of their runs.
pub(crate) struct InventoryFleet {
    pub(crate) connector: Arc<Connector>,
    pub(crate) catalogs: InventoryCatalogs,
    /// The directory of the graphs, with a directory for each device.
    pub(crate) graphs: Option<PathBuf>,
}

impl InventoryFleet {
    /// Runs one device and writes its report to a directory.
    ///
    /// # Cancellation
    /// As [`device_run::run`].
    pub(crate) async fn run(
        &self,
        name: &DeviceName,
        request: &RunRequest,
        reports: Option<&Path>,
        observer: &Observer,
    ) -> DeviceRun {
        let device = &self.connector.inventory.devices[name];
        let notes = self.connector.mocks.as_ref();
        let source = InventoryDevice {
            fleet: self,
            kind: request.kind,
            device,
            notes: notes.map_or_else(Vec::new, |mocks| mocks.take_notes(name)),
        };
        let subject = RunSubject {
            device: name,
            store: &request.device_store(&self.connector.store, name),
            request,
            observer,
        };
        let ended = device_run::run(subject, report_context(device, request.kind), source).await;
        ended.report_to(ReportFile { device, reports }).await
    }

    /// Checks one device as far as it needs no connection, as [`device_run::check_offline`].
    pub(crate) async fn check_offline(
        &self,
        name: &DeviceName,
        request: &RunRequest,
    ) -> Option<DeviceRun> {
        let device = &self.connector.inventory.devices[name];
        let source = InventoryDevice {
            fleet: self,
            kind: request.kind,
            device,
            notes: Vec::new(),
        };
        let nobody: Observer = Arc::new(|_, _| {});
        let subject = RunSubject {
            device: name,
            store: &self.connector.store.device(name),
            request,
            observer: &nobody,
        };
        let context = report_context(device, request.kind);
        device_run::check_offline(subject, context, source).await
    }
}

/// The message of a finding with its file and line.
fn placed(found: &Diagnostic) -> String {
    let location = found.labels.first().map(|label| {
        let line = label.source.position(label.span.start).0;
        format!("{}:{line}: ", label.source.name)
    });
    let help = found.help.as_ref().map(|help| format!("; {help}"));
    format!(
        "{}{}{}",
        location.unwrap_or_default(),
        found.message,
        help.unwrap_or_default()
    )
}

fn report_context(device: &Device, kind: RunKind) -> report::Context {
    report::Context {
        host: device.certname.to_string(),
        time: clock::timestamp(),
        transaction_uuid: Some(uuid::Uuid::new_v4().to_string()),
        puppet_version: env!("CARGO_PKG_VERSION").to_owned(),
        noop: kind.is_noop(),
        environment: None,
        server_used: None,
        job_id: None,
        cached_catalog_status: CachedStatus::NotUsed,
        log_level: Level::Notice,
    }
}

/// One device of an inventory.
struct InventoryDevice<'a> {
    fleet: &'a InventoryFleet,
    kind: RunKind,
    device: &'a Device,
    /// What differs between the mock and its configuration file.
    notes: Vec<String>,
}

impl InventoryDevice<'_> {
    fn settings(&self, platform: &Platform) -> DeviceSettings {
        let settings = &self.device.settings;
        DeviceSettings {
            save: self.device.save_policy(platform),
            limits: ChangeLimits {
                changes: settings.max_changes.as_ref().map(|limit| limit.value),
                removals: settings.max_removals.as_ref().map(|limit| limit.value),
            },
            protect: self.device.protect_policy(),
            allows_reload: self.device.allows_reload(),
            on_failure: self.device.failure_policy(),
            standby: self.device.standby_policy(),
            ends_sessions: self.device.ends_sessions(),
        }
    }

    /// The commit of the desired state. A Git that fails does not end the run.
    async fn revision(&self, log: &mut dyn RunLog) -> Option<GitRevision> {
        let path = PathBuf::from(self.fleet.catalogs.origin()?);
        let directory = if path.is_dir() { &path } else { path.parent()? };
        let found = GitDirectory::find(directory)?.revision().await;
        found.unwrap_or_else(|error| {
            let error = chain(&error);
            log.warning(format!(
                "the commit of {} is unknown: {error}",
                path.display()
            ));
            None
        })
    }

    /// The catalog. `None`: it needs facts.
    async fn catalog(
        &self,
        facts: Option<&Facts>,
        log: &mut dyn RunLog,
    ) -> Result<Option<CatalogText>, DeviceRunError> {
        let connector = &self.fleet.connector;
        let platform = connector.platform(self.device)?;
        let registry = Arc::clone(&connector.registry);
        let mut undo = None;
        let mut origins = None;
        let mut line_policy = LinePolicy::default();
        let source = match &self.fleet.catalogs {
            InventoryCatalogs::Files(files) => files.read(self.device)?,
            InventoryCatalogs::Undo(run) => {
                let record = &run.records[&self.device.name];
                undo = Some(Arc::clone(record));
                record.catalog(&self.device.name, &self.device.certname)
            }
            InventoryCatalogs::Manifest(compiler) => {
                let Some(facts) = facts else {
                    return Ok(None);
                };
                self.compiled(compiler, facts, log).await?
            }
            InventoryCatalogs::State(directory) => match self.stated(directory, facts, log).await {
                Ok(made) => {
                    for found in &made.warnings {
                        log.warning(placed(found));
                    }
                    origins = Some(made.origins);
                    line_policy = LinePolicy {
                        unmanaged: made.unmanaged,
                        strict: made.strict,
                    };
                    made.source
                }
                Err(DeviceRunError::DesiredState(StateError::NeedsFacts(_))) if facts.is_none() => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            },
        };
        Ok(Some(CatalogText {
            cached: CachedStatus::NotUsed,
            source,
            loading: Loading::default(),
            origins,
            line_policy,
            target: CatalogTarget::for_device(self.device, &registry, &Facts::default()),
            registry,
            platform,
            undo,
        }))
    }

    async fn compiled(
        &self,
        compiler: &ManifestCompiler,
        facts: &Facts,
        log: &mut dyn RunLog,
    ) -> Result<Arc<Source>, DeviceRunError> {
        let certname = &self.device.certname;
        let facts = AgentFacts::of_driver(certname, facts, self.kind.is_noop(), Duration::ZERO);
        let compiled = compiler.compile(&facts).await?;
        for warning in compiled.warnings {
            log.warning(warning);
        }
        let source = catalog::source(compiler.source_name(certname), compiled.text.into());
        Ok(source.map_err(CatalogError::from)?)
    }

    async fn stated(
        &self,
        directory: &Arc<StateDirectory>,
        facts: Option<&Facts>,
        log: &mut dyn RunLog,
    ) -> Result<StateCatalog, DeviceRunError> {
        let connector = &self.fleet.connector;
        let registry = &connector.registry;
        let merged = {
            let (directory, device) = (Arc::clone(directory), self.device.clone());
            let registry = Arc::clone(registry);
            blocking_io::run(move || directory.merged(&device, &registry)).await?
        };
        if !merged.errors.is_empty() {
            return Err(StateError::Invalid(merged.errors).into());
        }
        if facts.is_none()
            && let Some(finding) = merged.completion.needs_facts()
        {
            return Err(StateError::NeedsFacts(Box::new(finding)).into());
        }
        let secrets = SecretValues::read(&merged, &directory.path, &connector.secrets).await?;
        let warnings = secrets.warnings();
        let made = merged.catalog_in_background(
            self.device.clone(),
            facts.cloned(),
            Arc::clone(registry),
            secrets,
        );
        let made = made.await?;
        for warning in warnings {
            log.warning(warning);
        }
        Ok(made)
    }
}

impl CatalogSource for InventoryDevice<'_> {
    type Prepared = Self;

    fn directory_lock(&self) -> LockSubject {
        LockSubject::SharedName
    }

    fn inventory(&self) -> String {
        let name = &self.fleet.connector.inventory.source.name;
        let path = std::path::absolute(name);
        path.map_or_else(|_| name.clone(), |path| path.display().to_string())
    }

    fn origin(&self) -> Option<String> {
        self.fleet.catalogs.origin()
    }

    fn graph_dir(&self) -> Option<PathBuf> {
        let dir = self.fleet.graphs.as_ref()?;
        Some(dir.join(store::directory_name(&self.device.name)))
    }

    async fn prepare(
        self,
        _mask: &SecretMask,
        log: &mut dyn RunLog,
    ) -> Result<Preparation<Self>, DeviceRunError> {
        for note in &self.notes {
            log.warning(note.clone());
        }
        Ok(Preparation {
            settings: self.settings(&*self.fleet.connector.platform(self.device)?),
            revision: self.revision(log).await,
            catalog: self.catalog(None, log).await?,
            source: self,
        })
    }
}

impl PreparedSource for InventoryDevice<'_> {
    type Retrieved = ();

    async fn connector(&self, access: Access) -> Result<DeviceConnector, DeviceRunError> {
        self.fleet.connector.connector(self.device, access).await
    }

    async fn retrieve(
        &mut self,
        facts: &Facts,
        log: &mut dyn RunLog,
    ) -> Result<Option<(CatalogText, ())>, DeviceRunError> {
        let catalog = self.catalog(Some(facts), log).await?;
        Ok(catalog.map(|catalog| (catalog, ())))
    }
}

/// Writes the report to a directory, if one is given.
struct ReportFile<'a> {
    device: &'a Device,
    reports: Option<&'a Path>,
}

impl ReportSink for ReportFile<'_> {
    async fn deliver(
        self,
        report: FinishedReport<'_>,
        _error: Option<&DeviceRunError>,
        _log: &mut dyn RunLog,
    ) -> Result<(), ReportError> {
        let Some(dir) = self.reports else {
            return Ok(());
        };
        let path = dir.join(format!("{}.json", store::directory_name(&self.device.name)));
        let text = report.record.to_pretty_json();
        Ok(blocking_io::run(move || store::write_file(&path, &text)).await?)
    }
}
