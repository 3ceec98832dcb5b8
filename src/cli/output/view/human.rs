//! Text for people: one line per message in Puppet's wording, a progress bar on a terminal, a table
//! at the end.

mod failure_reasons;

use std::collections::HashMap;
use std::sync::Arc;

use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::FIRST_CONNECTION;
use tokio::time::Instant;

use super::device_groups::{self, add_heading};
use super::device_names::wrapped;
use super::device_outputs::DeviceOutputs;
use super::group_record;
use super::message;
use super::plan::PlanText;
use super::progress::DeviceProgress;
use super::summary::Summary;
use super::{DeviceSummary, FinishedDevice, RunScope, View, level, status, status_word};
use crate::catalog::Level;
use crate::cli::exit::{CommandError, print};
use crate::cli::options::global::Global;
use crate::cli::options::view_arguments::ViewFilter;
use crate::clock;
use crate::fleet::device_run::DeviceEvent;
use crate::fleet::rollout::Batch;
use crate::fleet::rollout::check::CheckEnd;
use crate::fleet::run_request::RunRequest;
use crate::inventory::{Inventory, range};
use crate::report::alike::{AlikeDevice, AlikeDevices};
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::terminal_text::TerminalText;
use crate::transaction::{LogEntry, LogKind, RunEvent};
use failure_reasons::{FailureReasons, FailureStyle};

pub(crate) struct Human {
    kind: RunKind,
    /// The kind of the run; [`Human::kind`] is a plan until the user has agreed.
    run_kind: RunKind,
    /// Nothing is changed; the table counts pending changes.
    noop: bool,
    /// Messages below this level are left out.
    level: Level,
    /// Text about devices has colors.
    colored: bool,
    is_summary_colored: bool,
    progress: DeviceProgress,
    began: Instant,
    /// When the question was printed.
    question_time: Option<Instant>,
    /// The batches that have started, and all of them.
    batches: Option<(usize, usize)>,
    is_stored: bool,
    filter: ViewFilter,
    /// Files for the text about devices.
    outputs: Option<DeviceOutputs>,
    /// More than one device is shown on standard output: those with equal text together, below their names.
    is_fleet: bool,
    /// Messages of a device that are shown with it, or not at all.
    held: HashMap<DeviceName, Vec<TerminalText>>,
    /// Those of devices of a fleet.
    messages: HashMap<DeviceName, Vec<Arc<LogEntry>>>,
    groups: AlikeDevices,
    failures: FailureReasons,
    /// By device: refused commands and the answers, until the error that they explain is shown.
    refused: HashMap<DeviceName, TerminalText>,
    /// Devices whose host key or certificate was stored at the first connection.
    first_connections: Vec<DeviceName>,
}

impl Human {
    pub(crate) fn new(
        request: &RunRequest,
        inventory: &Inventory,
        global: &Global,
        filter: ViewFilter,
        outputs: Option<DeviceOutputs>,
        scope: RunScope,
    ) -> Self {
        let RunScope { devices, is_stored } = scope;
        let kind = request.kind;
        let noop = kind.is_noop();
        let is_fleet = devices > 1 && outputs.is_none();
        let has_reasons = filter.is_quiet() || outputs.is_some();
        Self {
            kind,
            run_kind: kind,
            noop,
            level: level(global),
            colored: global.is_stdout_colored() && outputs.is_none(),
            is_summary_colored: global.is_stdout_colored(),
            progress: DeviceProgress::new(devices, noop),
            began: clock::instant(),
            question_time: None,
            batches: None,
            is_stored,
            filter,
            outputs,
            is_fleet,
            held: HashMap::new(),
            messages: HashMap::new(),
            groups: AlikeDevices::default(),
            failures: FailureReasons::new(inventory, has_reasons),
            refused: HashMap::new(),
            first_connections: Vec::new(),
        }
    }

    fn write(&self, text: &TerminalText) {
        self.progress.suspend(|| print(text));
    }

    fn text(&self) -> TerminalText {
        TerminalText::with_colors(self.colored)
    }

    /// Shows text of a device now, or with the device.
    fn show(&mut self, device: &DeviceName, text: &TerminalText) {
        let is_held = self.outputs.is_some() || self.filter.is_filtered();
        if self.filter.is_quiet() && self.outputs.is_none() {
            return;
        }
        if is_held {
            let held = self.held.entry(device.clone()).or_default();
            held.push(text.clone());
        } else {
            self.write(text);
        }
    }

    fn log(&mut self, device: &DeviceName, entry: &Arc<LogEntry>) {
        if entry.level >= Level::Err {
            let message = match entry.source.as_str() {
                "Puppet" => entry.message.clone(),
                source => format!("{source}: {}", entry.message),
            };
            self.failures.add_reason(device, message);
        }
        // The summary has the duration of the whole run.
        if entry.level < self.level || entry.kind == LogKind::Duration {
            return;
        }
        if let LogKind::Wait(longest) = entry.kind {
            self.progress.wait(device, longest);
            if self.is_fleet && !self.filter.is_quiet() {
                let mut text = self.text();
                message::add(&mut text, &format!("{device}: "), self.kind, entry);
                return self.write(&text);
            }
        }
        if self.is_fleet && entry.message.starts_with(FIRST_CONNECTION) {
            self.first_connections.push(device.clone());
            return;
        }
        if self.is_fleet {
            let messages = self.messages.entry(device.clone()).or_default();
            messages.push(Arc::clone(entry));
            return;
        }
        let mut text = self.text();
        message::add(&mut text, &format!("{device}: "), self.kind, entry);
        self.show(device, &text);
    }

    /// The devices whose keys were stored, in the order of the inventory.
    fn stored_keys(&self, order: &HashMap<&str, usize>) -> TerminalText {
        let mut text = self.text();
        let mut devices: Vec<&str> = self.first_connections.iter().map(|one| &**one).collect();
        devices.sort_by_key(|device| order.get(device).copied());
        if !devices.is_empty() {
            let names = range::of_names(devices).join(", ");
            text.line(format_args!(
                "warning: {names}: first connection: the host key or certificate was stored"
            ));
        }
        text
    }
}

impl View for Human {
    fn progress_bar(&self) -> Option<ProgressBar> {
        self.progress.bar()
    }

    fn event(&mut self, device: &DeviceName, event: &DeviceEvent) {
        match event {
            // A plan is shown device by device, when it is complete.
            DeviceEvent::Run(RunEvent::Log(entry))
                if self.kind == RunKind::Plan && entry.level < Level::Warning => {}
            DeviceEvent::Run(RunEvent::Log(entry)) => {
                self.log(device, entry);
                if entry.level >= Level::Err
                    && let Some(text) = self.refused.remove(device)
                {
                    self.show(device, &text);
                }
            }
            DeviceEvent::Run(RunEvent::Operations { commands, .. }) if !self.is_fleet => {
                let mut text = self.text();
                message::add_refusals(&mut text, &format!("{device}: "), commands);
                if !text.is_empty() {
                    self.refused.insert(device.clone(), text);
                }
            }
            // The error itself is shown at the end of the device, with excerpts of files.
            DeviceEvent::Run(_) | DeviceEvent::Error(_) => {}
        }
    }

    fn batch(&mut self, batch: &Batch) {
        if batch.count == 1 {
            return;
        }
        self.batches = Some((batch.number, batch.count));
        self.show_groups(None);
        let names = batch.devices.iter().map(DeviceName::as_str);
        let heading = format!("Batch {} of {}:", batch.number, batch.count);
        let mut text = self.text();
        for line in wrapped(&heading, &range::of_names(names)) {
            text.line(line);
        }
        self.write(&text);
    }

    fn check(&mut self, end: &CheckEnd) {
        self.show_groups(None);
        if self.filter.is_quiet() {
            return;
        }
        let mut text = self.text();
        text.block("check: ", &end.output);
        self.write(&text);
    }

    fn begin_plan(&mut self, devices: usize) {
        self.switch_to(RunKind::Plan, devices);
    }

    fn end_plan(&mut self, planned: &[DeviceSummary]) {
        self.progress.finish();
        let order: HashMap<&str, usize> = planned
            .iter()
            .map(|planned| planned.device.as_str())
            .zip(0..)
            .collect();
        self.show_groups(Some(&order));
        let is_unchanged = |planned: &DeviceSummary| planned.status() == RunStatus::Unchanged;
        if !planned.iter().all(is_unchanged) {
            let text = self.summary(planned);
            print(&text);
        }
        self.question_time = Some(clock::instant());
    }

    fn begin_run(&mut self, devices: usize) {
        // The time of the user is not that of the run.
        if let Some(question_time) = self.question_time.take() {
            self.began += question_time.elapsed();
        }
        self.switch_to(self.run_kind, devices);
    }

    fn device(&mut self, finished: &FinishedDevice) {
        let status = status(finished.record.as_ref());
        let messages = self.held.remove(&finished.device).unwrap_or_default();
        let word = status_word(finished.record.as_ref());
        // A plan before the question without a change and a message says nothing.
        let is_silent = self.kind != self.run_kind
            && status == RunStatus::Unchanged
            && messages.is_empty()
            && !self.messages.contains_key(&finished.device);
        let is_rendered = self.filter.shows(word) && !self.filter.is_quiet() && !is_silent;
        if self.is_fleet {
            self.add_to_groups(finished, is_rendered);
            return self.progress.advance(&finished.device, status);
        }
        let failure = finished.result.as_ref().err();
        let failure = failure.map(|failure| self.failures.text(finished, failure, self.style()));
        if let Some(outputs) = &mut self.outputs {
            let mut text = TerminalText::new();
            joined(&mut text, &messages);
            if let Some(failure) = &failure {
                text.append(failure);
            } else if let Some(plan) = plan(self.kind, finished, false) {
                let device = std::iter::once(finished.device.as_str());
                add_heading(&mut text, device, &finished.platform);
                text.append(&plan.changes).append(&plan.difference);
            }
            outputs.write(&finished.device, text.as_str());
        } else if is_rendered {
            self.show_device(finished, &messages, failure);
        }
        self.progress.advance(&finished.device, status);
    }

    fn end(&mut self, all: &[DeviceSummary]) -> Result<(), CommandError> {
        self.progress.finish();
        // No device had a plan.
        (self.kind, self.noop) = (self.run_kind, self.run_kind.is_noop());
        let order: HashMap<&str, usize> = all
            .iter()
            .map(|ended| ended.device.as_str())
            .zip(0..)
            .collect();
        self.show_groups(Some(&order));
        let mut text = TerminalText::with_colors(self.is_summary_colored);
        // A plan and a group of devices end with an empty line.
        let has_end = self.kind == RunKind::Plan || self.is_fleet;
        if !has_end && !self.filter.is_quiet() && self.outputs.is_none() {
            text.end_line();
        }
        text.append(&self.summary(all));
        print(text.append(&self.stored_keys(&order)));
        self.outputs.take().map_or(Ok(()), DeviceOutputs::end)
    }
}

impl Human {
    /// Shows what follows as the output of this kind of run over so many devices.
    fn switch_to(&mut self, kind: RunKind, devices: usize) {
        (self.kind, self.noop) = (kind, kind.is_noop());
        self.progress.restart(devices, self.noop);
    }

    fn style(&self) -> FailureStyle {
        FailureStyle {
            colored: self.colored,
            is_fleet: self.is_fleet,
            has_end: self.kind == RunKind::Plan || self.is_fleet,
            is_in_file: self.outputs.is_some(),
        }
    }

    fn summary(&self, all: &[DeviceSummary]) -> TerminalText {
        let summary = Summary {
            all,
            filter: &self.filter,
            noop: self.noop,
            colored: self.is_summary_colored,
            has_reasons: self.failures.has_reasons(),
            took: self.began.elapsed(),
            kind: self.kind,
            batches: self.batches,
            // What is next after the plan of a run is the question.
            is_stored: self.is_stored && self.kind == self.run_kind,
        };
        summary.text(|ended| self.failures.reason(&ended.device))
    }

    /// Shows a finished device on standard output.
    fn show_device(
        &self,
        finished: &FinishedDevice,
        messages: &[TerminalText],
        failure: Option<TerminalText>,
    ) {
        let mut text = self.text();
        if let Some(failure) = failure {
            joined(&mut text, messages).append(&failure);
        } else if let Some(plan) = plan(self.kind, finished, self.colored) {
            let device = std::iter::once(finished.device.as_str());
            add_heading(&mut text, device, &finished.platform);
            joined(&mut text, messages);
            text.append(&plan.changes).append(&plan.difference);
            text.end_line();
        } else {
            joined(&mut text, messages);
        }
        self.write(&text);
    }

    /// Adds a finished device to the groups. Errors with positions in files are shown at once, each one once.
    fn add_to_groups(&mut self, finished: &FinishedDevice, is_rendered: bool) {
        let device = &finished.device;
        let logs = self.messages.remove(device).unwrap_or_default();
        let record = match (&finished.result, &finished.record) {
            (Err(failure), _) if group_record::has_positions(failure) => {
                let failure = self.failures.text(finished, failure, self.style());
                if is_rendered {
                    self.show_failure(finished, &logs, &failure);
                }
                return;
            }
            (Err(failure), _) => {
                let why = self.failures.add(finished, failure);
                group_record::of_failure(self.kind, &finished.device, failure, why)
            }
            (Ok(()), Some(record)) => group_record::of_record(self.kind, record),
            (Ok(()), None) => return,
        };
        let is_empty = self.kind != RunKind::Plan && record.error.is_none() && logs.is_empty();
        if !is_rendered || is_empty {
            return;
        }
        self.groups.add(AlikeDevice {
            name: device.to_string(),
            platform: finished.platform.to_string(),
            own: self.failures.words_of(device),
            record: RunRecord {
                logs: [logs, record.logs.clone()].concat(),
                ..record
            },
        });
    }

    /// Shows a failure below the messages of its device.
    fn show_failure(
        &self,
        finished: &FinishedDevice,
        logs: &[Arc<LogEntry>],
        failure: &TerminalText,
    ) {
        let mut text = self.text();
        if !logs.is_empty() {
            let device = std::iter::once(finished.device.as_str());
            add_heading(&mut text, device, &finished.platform);
        }
        for entry in logs {
            message::add(&mut text, "  ", self.kind, entry);
        }
        self.write(text.append(failure));
    }

    /// Shows the groups of devices, in the order of the inventory or in that of their names.
    fn show_groups(&mut self, order: Option<&HashMap<&str, usize>>) {
        let (failed, mut complete): (Vec<_>, Vec<_>) = std::mem::take(&mut self.groups)
            .groups(order)
            .into_iter()
            .partition(|group| group.record.error.is_some());
        let shared = if self.kind == RunKind::Plan {
            TerminalText::new()
        } else {
            device_groups::take_shared_warnings(&mut complete, self.colored)
        };
        for group in complete.iter().chain(&failed) {
            self.write(&device_groups::render(group, self.colored));
        }
        if !shared.is_empty() {
            self.write(&shared);
        }
    }
}

fn joined<'a>(text: &'a mut TerminalText, parts: &[TerminalText]) -> &'a mut TerminalText {
    for part in parts {
        text.append(part);
    }
    text
}

/// The plan of a device, in a run that plans.
fn plan(kind: RunKind, finished: &FinishedDevice, colored: bool) -> Option<PlanText> {
    let record = finished.record.as_ref();
    let record = record.filter(|_| kind == RunKind::Plan && finished.result.is_ok())?;
    Some(PlanText::new(record, None, colored))
}
