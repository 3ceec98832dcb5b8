//! A run as one HTML page, printed when all devices are finished.

use std::sync::Arc;

use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;
use tokio::time::Instant;

use super::progress::DeviceProgress;
use super::summary::totals;
use super::{DeviceSummary, FinishedDevice, View, status};
use crate::cli::exit::{CommandError, print_document};
use crate::cli::options::offline_state::offline_catalog;
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::catalog_files::InventoryCatalogs;
use crate::fleet::catalog_graph;
use crate::fleet::connector::Connector;
use crate::fleet::device_run::DeviceEvent;
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::run_request::RunRequest;
use crate::report::RunStatus;
use crate::report::page::{Page, PageDevice, render};
use crate::run_kind::RunKind;

/// Maximum number of devices with a graph: each is an image of many kilobytes.
const MAX_GRAPHS: usize = 20;

pub(crate) struct Html {
    fleet: Arc<InventoryFleet>,
    request: Arc<RunRequest>,
    /// All devices of the run are drawn.
    has_graphs: bool,
    progress: DeviceProgress,
    began: Instant,
    devices: Vec<(DeviceName, PageDevice)>,
}

impl Html {
    pub(crate) fn new(
        fleet: Arc<InventoryFleet>,
        request: Arc<RunRequest>,
        devices: usize,
    ) -> Self {
        Self {
            has_graphs: devices <= MAX_GRAPHS,
            progress: DeviceProgress::new(devices, request.kind == RunKind::Plan),
            began: clock::instant(),
            devices: Vec::with_capacity(devices),
            fleet,
            request,
        }
    }

    /// The graph of the device's catalog.
    fn graph(&self, finished: &FinishedDevice) -> Result<String, String> {
        if !self.has_graphs {
            return Err(format!("the run has more than {MAX_GRAPHS} devices"));
        }
        let Connector {
            inventory,
            registry,
            ..
        } = &*self.fleet.connector;
        let device = &inventory.devices[&finished.device];
        let source = match &self.fleet.catalogs {
            InventoryCatalogs::Files(files) => files.read(device).map_err(|error| chain(&error))?,
            InventoryCatalogs::Undo(run) => {
                run.records[&device.name].catalog(&device.name, &device.certname)
            }
            InventoryCatalogs::Manifest(_) => {
                return Err("the catalog was compiled for the run only".to_owned());
            }
            InventoryCatalogs::State(directory) => {
                let facts = finished.record.as_ref();
                let facts = facts.and_then(|record| record.facts.clone());
                let facts = facts.map(|facts| facts.into_iter().collect());
                let made = offline_catalog(directory, device, registry, facts.as_ref(), None);
                made.map_err(|error| chain(&error))?.source
            }
        };
        catalog_graph::complete_svg(&source, registry)
    }
}

impl View for Html {
    fn event(&mut self, _: &DeviceName, _: &DeviceEvent) {}

    fn device(&mut self, finished: &FinishedDevice) {
        self.progress.advance(status(finished.record.as_ref()));
        let Some(record) = &finished.record else {
            return;
        };
        let graph = match self.graph(finished) {
            Ok(svg) => Ok(finished.mask.apply(&svg)),
            Err(reason) => Err(finished.mask.apply(&reason)),
        };
        let page = PageDevice {
            name: finished.device.to_string(),
            platform: Some(finished.platform.to_string()),
            took: Some(finished.took),
            record: record.clone(),
            graph: Some(graph),
        };
        self.devices.push((finished.device.clone(), page));
    }

    fn progress_bar(&self) -> Option<ProgressBar> {
        self.progress.bar()
    }

    fn end(&mut self, all: &[DeviceSummary]) -> Result<(), CommandError> {
        self.progress.finish();
        let mut devices = std::mem::take(&mut self.devices);
        devices.sort_by_key(|(name, _)| all.iter().position(|ended| ended.device == *name));
        let kind = match self.request.kind {
            RunKind::Plan => "Plan",
            RunKind::Noop => "Run without changes (noop)",
            RunKind::Apply => "Run",
        };
        let statuses: Vec<RunStatus> = all.iter().map(DeviceSummary::status).collect();
        let took = self.began.elapsed().as_secs_f64();
        let page = Page {
            title: format!("{kind}, {}", clock::timestamp().strftime("%F %T UTC")),
            totals: Some(format!("{} in {took:.1}s", totals(&statuses))),
            has_durations: true,
            devices: devices.into_iter().map(|(_, device)| device).collect(),
        };
        print_document(&render(&page));
        Ok(())
    }
}
