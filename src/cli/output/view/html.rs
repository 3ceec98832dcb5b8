//! A run as one HTML page, printed when all devices are finished.

use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;
use tokio::time::Instant;

use super::progress::DeviceProgress;
use super::summary::totals;
use super::{DeviceSummary, FinishedDevice, View, status};
use crate::cli::exit::{CommandError, print_document};
use crate::clock;
use crate::fleet::device_run::DeviceEvent;
use crate::report::page::{Page, PageDevice, render};
use crate::report::{RunRecord, RunStatus};
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
}

impl Html {
    pub(crate) fn new(kind: RunKind, devices: usize) -> Self {
        Self {
            kind,
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
        self.progress.advance(status(finished.record.as_ref()));
        let Some(record) = &finished.record else {
            return;
        };
        let graph = if self.has_graphs {
            record.graph.clone()
        } else {
            Some(Err(format!("the run has more than {MAX_GRAPHS} devices")))
        };
        let page = PageDevice {
            name: finished.device.to_string(),
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
