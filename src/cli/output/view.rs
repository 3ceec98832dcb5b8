//! The output of a run: text for people, a page for browsers, and lines for machines from the same events.

mod common_reason;
pub(crate) mod device_groups;
mod device_names;
mod device_outputs;
pub(crate) mod difference;
mod group_record;
mod html;
mod human;
mod json;
mod message;
pub(crate) mod plan;
mod progress;
pub(crate) mod puppet_code;
pub(crate) mod resource_text;
pub(crate) mod summary;
pub(crate) mod table;
mod task;

use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;
use switchtender_devices::names::{DeviceName, PlatformName};
use switchtender_devices::secret_mask::SecretMask;

use crate::catalog::Level;
use crate::cli::exit::CommandError;
use crate::cli::options::global::Global;
use crate::cli::options::output_format::RunOutput;
use crate::cli::options::view_arguments::ViewArgs;
use crate::error_chain::chain;
use crate::fleet::device_run::{DeviceEvent, DeviceRunError};
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::rollout::Batch;
use crate::fleet::rollout::check::CheckEnd;
use crate::fleet::run_request::RunRequest;
use crate::fleet::runner::TaskError;
use crate::report::{RunCounts, RunRecord, RunStatus};
use device_outputs::DeviceOutputs;

pub(crate) use device_names::{wrapped, wrapped_text};
pub(crate) use task::{ViewSender, ViewTask};

/// A view of a run over devices.
pub(crate) trait View: Send {
    /// Something happened on a device. Events of several devices are mixed.
    fn event(&mut self, device: &DeviceName, event: &DeviceEvent);

    /// A batch of devices starts.
    fn batch(&mut self, _: &Batch) {}

    /// The command after a batch has ended.
    fn check(&mut self, _: &CheckEnd) {}

    /// Plans of so many devices follow, before the user is asked.
    fn begin_plan(&mut self, _: usize) {}

    /// The plans are complete, and the user is asked.
    fn end_plan(&mut self, _: &[DeviceSummary]) {}

    /// The user has answered. The run of so many devices follows.
    fn begin_run(&mut self, _: usize) {}

    /// The run of a device is over.
    fn device(&mut self, device: &FinishedDevice);

    /// The progress bar on standard error, if there is one.
    fn progress_bar(&self) -> Option<ProgressBar> {
        None
    }

    /// Writes collected lines.
    fn flush(&mut self) {}

    /// All devices are finished.
    ///
    /// # Errors
    /// The output is incomplete.
    fn end(&mut self, all: &[DeviceSummary]) -> Result<(), CommandError>;
}

/// A device whose run is over.
#[derive(Debug)]
pub(crate) struct FinishedDevice {
    pub(crate) device: DeviceName,
    pub(crate) platform: PlatformName,
    /// `None`: the task of the device failed.
    pub(crate) record: Option<RunRecord>,
    pub(crate) result: Result<(), DeviceFailure>,
    /// The secrets of the device and its catalog.
    pub(crate) mask: SecretMask,
    pub(crate) took: Duration,
}

/// Why a device has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeviceFailure {
    #[error(transparent)]
    Run(#[from] DeviceRunError),
    #[error(transparent)]
    Task(#[from] TaskError),
}

/// The part of a device's run that the end of the view needs.
#[derive(Clone, Debug)]
pub(crate) struct DeviceSummary {
    pub(crate) device: DeviceName,
    /// Without its resources. `None`: the task of the device failed.
    pub(crate) record: Option<RunRecord>,
    pub(crate) took: Duration,
}

impl DeviceSummary {
    /// The status of the run.
    pub(crate) fn status(&self) -> RunStatus {
        status(self.record.as_ref())
    }

    /// The status for people.
    pub(crate) fn status_word(&self) -> &'static str {
        status_word(self.record.as_ref())
    }

    /// `None`: the device could not run.
    pub(crate) fn counts(&self) -> Option<RunCounts> {
        let record = self.record.as_ref();
        record
            .filter(|record| !record.is_not_run)
            .map(|record| record.counts)
    }

    /// Whether the device was not changed for a reason that is no resource's.
    pub(crate) fn is_not_run(&self) -> bool {
        self.status() == RunStatus::NotRun
    }
}

impl From<&FinishedDevice> for DeviceSummary {
    fn from(finished: &FinishedDevice) -> Self {
        Self {
            device: finished.device.clone(),
            record: finished.record.as_ref().map(RunRecord::summary),
            took: finished.took,
        }
    }
}

fn status(record: Option<&RunRecord>) -> RunStatus {
    record.map_or(RunStatus::NotRun, RunRecord::status)
}

fn status_word(record: Option<&RunRecord>) -> &'static str {
    record.map_or(RunStatus::NotRun.word(), RunRecord::status_word)
}

/// An error of a device in one line, which begins with the device as errors of sessions do.
pub(crate) fn of_device(device: &str, error: &dyn std::error::Error) -> String {
    let why = chain(error);
    if why.starts_with(&format!("{device}: ")) {
        why
    } else {
        format!("{device}: {why}")
    }
}

/// Messages below this level are left out.
fn level(global: &Global) -> Level {
    match global.verbose {
        0 => Level::Notice,
        1 => Level::Info,
        _ => Level::Debug,
    }
}

/// What a view knows of its run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunScope {
    /// The number of devices.
    pub(crate) devices: usize,
    /// The reports and changes of the run are in the state directory.
    pub(crate) is_stored: bool,
}

/// The view of a run.
pub(crate) fn new(
    output: RunOutput,
    fleet: &Arc<InventoryFleet>,
    request: &Arc<RunRequest>,
    global: &Global,
    arguments: &ViewArgs,
    scope: RunScope,
) -> Box<dyn View> {
    let outputs = |extension| {
        let directory = arguments.output_dir.clone();
        directory.map(|directory| DeviceOutputs::new(directory, extension))
    };
    match output {
        RunOutput::Json => Box::new(json::Json::new(request.kind, global, outputs("json"))),
        RunOutput::Html => {
            let inventory = &fleet.connector.inventory;
            Box::new(html::Html::new(request, inventory, scope.devices))
        }
        RunOutput::Human => Box::new(human::Human::new(
            request,
            &fleet.connector.inventory,
            global,
            arguments.filter.clone(),
            outputs("txt"),
            scope,
        )),
    }
}
