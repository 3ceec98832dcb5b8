//! A run as one HTML page, printed when all devices are finished.

use std::sync::Arc;

use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;
use tokio::time::Instant;

use super::plan::future_logs;
use super::progress::DeviceProgress;
use super::summary::totals;
use super::{DeviceSummary, FinishedDevice, View, operations};
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
use crate::report::NOT_RUN;
use crate::report::page::{Page, PageDevice, PageUndo, render};
use crate::report::stored::StoredReport;
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
                let facts = finished.result.as_ref().ok().map(|result| &result.facts);
                let made = offline_catalog(directory, device, registry, facts, None);
                made.map_err(|error| chain(&error))?.source
            }
        };
        catalog_graph::complete_svg(&source, registry)
    }
}

impl View for Html {
    fn event(&mut self, _: &DeviceName, _: &DeviceEvent) {}

    fn device(&mut self, finished: &FinishedDevice) {
        let counts = finished.result.as_ref().map(|result| result.counts);
        let status = counts.as_ref().map_or(NOT_RUN, |counts| counts.status());
        self.progress.advance(status);
        let Some(report) = &finished.report else {
            return;
        };
        let graph = self.graph(finished);
        let graph = match graph {
            Ok(svg) => Ok(finished.mask.apply(&svg)),
            Err(reason) => Err(finished.mask.apply(&reason)),
        };
        let mut report = StoredReport::of(report);
        if self.request.kind.is_noop() {
            future_logs(&mut report);
        }
        let mut device = PageDevice::new(finished.device.as_str(), &report)
            .of_run(status, finished.platform.as_str(), finished.took)
            .with_graph(graph);
        let predicted = finished.result.as_ref().ok();
        if let Some(planned) = predicted.and_then(|result| result.undo.as_ref()) {
            let undo = planned.resources.iter().map(|(reference, undo)| PageUndo {
                reference: reference.to_string(),
                lines: operations::lines(&undo.operations),
                not_restored: undo.not_restored.clone(),
            });
            device = device.with_undo(undo.collect(), &planned.not_restored);
        }
        if let Some(predicted) = predicted.and_then(|result| result.predicted.as_ref()) {
            device = device.without_difference(&predicted.without_diff);
        }
        self.devices.push((finished.device.clone(), device));
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
        let statuses: Vec<&str> = all.iter().map(DeviceSummary::status).collect();
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
