//! A run as one HTML page, printed when all devices are finished.

use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;
use tokio::time::Instant;

use super::common_reason::DeviceWords;
use super::progress::DeviceProgress;
use super::summary::{run_totals, totals};
use super::{DeviceSummary, FinishedDevice, View, status};
use crate::cli::exit::{CommandError, print_document};
use crate::cli::user_name::author;
use crate::clock;
use crate::fleet::device_run::DeviceEvent;
use crate::fleet::run_request::RunRequest;
use crate::inventory::Inventory;
use crate::report::RunRecord;
use crate::report::page::{Page, PageDevice, render};
use crate::run_kind::RunKind;

/// Maximum number of devices with a graph: each is an image of many kilobytes.
const MAX_GRAPHS: usize = 20;

pub(crate) struct Html {
    kind: RunKind,
    /// All devices of the run are drawn.
    has_graphs: bool,
    progress: DeviceProgress,
    began: Instant,
    devices: Vec<(DeviceName, PageDevice)>,
    device_words: DeviceWords,
    /// What names the run.
    facts: Vec<(&'static str, String)>,
}

impl Html {
    pub(crate) fn new(request: &RunRequest, inventory: &Inventory, devices: usize) -> Self {
        let kind = request.kind;
        let mut facts = vec![("Author", author())];
        if let Some(plan) = request.plan.id() {
            facts.push(("Plan", plan.to_owned()));
        }
        Self {
            kind,
            facts,
            device_words: DeviceWords::of(inventory),
            has_graphs: devices <= MAX_GRAPHS,
            progress: DeviceProgress::new(devices, kind == RunKind::Plan),
            began: clock::instant(),
            devices: Vec::with_capacity(devices),
        }
    }
}

impl View for Html {
    fn event(&mut self, _: &DeviceName, _: &DeviceEvent) {}

    fn device(&mut self, finished: &FinishedDevice) {
        let status = status(finished.record.as_ref());
        self.progress.advance(&finished.device, status);
        let Some(record) = &finished.record else {
            return;
        };
        let graph = record.graph.clone().filter(|_| self.has_graphs);
        let page = PageDevice {
            name: finished.device.to_string(),
            own: self.device_words.of_device(&finished.device),
            platform: Some(finished.platform.to_string()),
            took: Some(finished.took),
            record: RunRecord {
                graph,
                ..record.clone()
            },
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
        let kind = match self.kind {
            RunKind::Plan => "Plan",
            RunKind::Noop => "Run without changes (noop)",
            RunKind::Apply => "Run",
        };
        let statuses: Vec<&str> = all.iter().map(DeviceSummary::status_word).collect();
        let took = self.began.elapsed().as_secs_f64();
        let mut facts = std::mem::take(&mut self.facts);
        let counts = all.iter().filter_map(DeviceSummary::counts);
        let [changes, commands] = run_totals(counts, self.kind.is_noop());
        facts.push(("Changes", changes.to_string()));
        facts.push(("Commands", commands.to_string()));
        let page = Page {
            title: format!("{kind}, {}", clock::local_text(clock::timestamp())),
            facts,
            totals: Some(format!("{} in {took:.1}s", totals(&statuses))),
            devices: devices.into_iter().map(|(_, device)| device).collect(),
        };
        print_document(&render(&page));
        Ok(())
    }
}
