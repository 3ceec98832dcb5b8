//! Runs of inventory devices with catalogs in files: `apply` and `plan`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use switchtender_devices::driver::Facts;
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::Access;

use super::catalog_files::{CatalogError, InventoryCatalogs};
use super::catalog_source::{CatalogSource, CatalogText, DeviceSettings, ReportError, ReportSink};
use super::change_limits::ChangeLimits;
use super::connector::{Connector, DeviceConnector};
use super::device_run::{self, DeviceRun, DeviceRunError, Observer};
use super::run_request::RunRequest;
use crate::agent::client::facts::Facts as AgentFacts;
use crate::agent::run_log::RunLog;
use crate::catalog::{self, CachedStatus, Level, Loading};
use crate::clock;
use crate::desired_state::{SecretValues, StateCatalog, StateError};
use crate::inventory::Device;
use crate::report;
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
        let mut peer = InventoryDevice {
            fleet: self,
            request,
            device: &self.connector.inventory.devices[name],
            reports,
        };
        let store = self.connector.store.device(name);
        device_run::run(name, &store, &mut peer, request, observer).await
    }
}

/// One device of an inventory.
struct InventoryDevice<'a> {
    fleet: &'a InventoryFleet,
    request: &'a RunRequest,
    device: &'a Device,
    reports: Option<&'a Path>,
}

impl CatalogSource for InventoryDevice<'_> {
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

    fn prepare<'a>(
        &'a mut self,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<DeviceSettings, DeviceRunError>> {
        Box::pin(async move {
            let InventoryFleet {
                connector, graphs, ..
            } = self.fleet;
            let mocks = connector.mocks.iter();
            for note in mocks.flat_map(|mocks| mocks.take_notes(&self.device.name)) {
                log.warning(note);
            }
            let settings = &self.device.settings;
            Ok(DeviceSettings {
                save: self.device.save_policy(),
                limits: ChangeLimits {
                    changes: settings.max_changes.as_ref().map(|limit| limit.value),
                    removals: settings.max_removals.as_ref().map(|limit| limit.value),
                },
                protect: self.device.protect_policy(),
                allows_reload: self.device.allows_reload(),
                on_failure: self.device.failure_policy(),
                standby: self.device.standby_policy(),
                secrets: Vec::new(),
                graph_dir: graphs
                    .as_ref()
                    .map(|dir| dir.join(store::directory_name(&self.device.name))),
            })
        })
    }

    fn catalog<'a>(
        &'a mut self,
        facts: Option<&'a Facts>,
        log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<Option<CatalogText>, DeviceRunError>> {
        Box::pin(async move {
            let connector = &self.fleet.connector;
            let platform = connector.platform(self.device)?;
            let registry = Arc::clone(&connector.registry);
            let mut undo = None;
            let (source, origins) = match &self.fleet.catalogs {
                InventoryCatalogs::Files(files) => (files.read(self.device)?, None),
                InventoryCatalogs::Undo(run) => {
                    let record = &run.records[&self.device.name];
                    undo = Some(Arc::clone(record));
                    (
                        record.catalog(&self.device.name, &self.device.certname),
                        None,
                    )
                }
                InventoryCatalogs::Manifest(compiler) => {
                    let Some(facts) = facts else {
                        return Ok(None);
                    };
                    let (certname, noop) = (&self.device.certname, self.request.kind.is_noop());
                    let facts = AgentFacts::of_driver(certname, facts, noop, Duration::ZERO);
                    let compiled = compiler.compile(&facts).await?;
                    for warning in compiled.warnings {
                        log.warning(warning);
                    }
                    let source =
                        catalog::source(compiler.source_name(certname), compiled.text.into());
                    (source.map_err(CatalogError::from)?, None)
                }
                InventoryCatalogs::State(directory) => {
                    let merged = {
                        let (directory, device) = (Arc::clone(directory), self.device.clone());
                        let registry = Arc::clone(&registry);
                        blocking_io::run(move || directory.merged(&device, &registry)).await?
                    };
                    if !merged.errors.is_empty() {
                        return Err(StateError::Invalid(merged.errors).into());
                    }
                    let secrets =
                        SecretValues::read(&merged, &directory.path, &connector.secrets).await?;
                    let made = merged.catalog_in_background(
                        self.device.clone(),
                        facts.cloned(),
                        Arc::clone(&registry),
                        secrets,
                    );
                    match made.await {
                        Ok(StateCatalog {
                            source, origins, ..
                        }) => (source, Some(origins)),
                        Err(StateError::NeedsFacts(_)) if facts.is_none() => return Ok(None),
                        Err(error) => return Err(error.into()),
                    }
                }
            };
            Ok(Some(CatalogText {
                source,
                loading: Loading::default(),
                origins,
                target: CatalogTarget::for_device(self.device, &registry, &Facts::default()),
                registry,
                platform,
                undo,
            }))
        })
    }

    fn connector(
        &mut self,
        access: Access,
    ) -> BoxFuture<'_, Result<DeviceConnector, DeviceRunError>> {
        Box::pin(self.fleet.connector.connector(self.device, access))
    }
}

impl ReportSink for InventoryDevice<'_> {
    fn report_context(&self) -> report::Context {
        report::Context {
            host: self.device.certname.to_string(),
            time: clock::timestamp(),
            transaction_uuid: Some(uuid::Uuid::new_v4().to_string()),
            puppet_version: env!("CARGO_PKG_VERSION").to_owned(),
            noop: self.request.kind.is_noop(),
            environment: None,
            server_used: None,
            job_id: None,
            cached_catalog_status: CachedStatus::NotUsed,
            log_level: Level::Notice,
        }
    }

    fn deliver<'a>(
        &'a mut self,
        report: &'a RawValue,
        _error: Option<&'a DeviceRunError>,
        _log: &'a mut dyn RunLog,
    ) -> BoxFuture<'a, Result<(), ReportError>> {
        Box::pin(async move {
            let Some(dir) = self.reports else {
                return Ok(());
            };
            let path = dir.join(format!("{}.json", store::directory_name(&self.device.name)));
            let report: Json = serde_json::from_str(report.get()).expect("a report is JSON");
            let text = format!("{report:#}\n");
            Ok(blocking_io::run(move || store::write_file(&path, &text)).await?)
        })
    }
}
