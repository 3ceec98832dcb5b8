//! Text for people: one line per message in Puppet's wording, a progress bar on a terminal, a table
//! at the end.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::FIRST_CONNECTION;
use tokio::time::Instant;

use super::common_reason::DeviceWords;
use super::device_groups::{self, add_heading};
use super::device_names::wrapped;
use super::device_outputs::DeviceOutputs;
use super::group_record;
use super::message;
use super::plan::PlanText;
use super::progress::DeviceProgress;
use super::summary::{FailureReason, MAX_ROWS, Summary};
use super::{
    DeviceFailure, DeviceSummary, FinishedDevice, RunScope, View, level, of_device, status,
    status_word,
};
use crate::catalog::Level;
use crate::cli::exit::{CommandError, print};
use crate::cli::options::global::Global;
use crate::cli::options::view_arguments::ViewFilter;
use crate::clock;
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{Diagnostic, Severity, limit};
use crate::fleet::device_run::{DeviceEvent, DeviceRunError};
use crate::fleet::rollout::Batch;
use crate::fleet::rollout::check::CheckEnd;
use crate::fleet::run_request::RunRequest;
use crate::inventory::{Inventory, range};
use crate::report::alike::{AlikeDevice, AlikeDevices};
use crate::report::{RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::terminal_text::{Style, TerminalText};
use crate::transaction::{LogEntry, LogKind, RunEvent};

/// Maximum number of findings of one code about one device.
const MAX_FINDINGS: usize = 20;

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
    /// More than one device is shown on standard output.
    is_fleet: bool,
    /// Devices with equal text are shown together, each below its name.
    is_grouped: bool,
    /// Messages of devices that are shown with the device, or not at all.
    held: HashMap<DeviceName, Vec<TerminalText>>,
    /// Those of devices that are shown in groups.
    messages: HashMap<DeviceName, Vec<Arc<LogEntry>>>,
    groups: AlikeDevices,
    /// Why devices failed or could not run.
    reasons: HashMap<DeviceName, Reason>,
    /// By device: refused commands and the answers, until the error that they explain is shown.
    refused: HashMap<DeviceName, TerminalText>,
    /// Positions in the inventory that were rendered: many devices may share one.
    rendered: HashSet<(&'static str, usize)>,
    /// The devices of each warning.
    warnings: IndexMap<String, Vec<DeviceName>>,
    /// Devices whose host key or certificate was stored at the first connection.
    first_connections: Vec<DeviceName>,
    device_words: DeviceWords,
    /// Why devices could not run, without what names them: equal reasons are shown for the first device, and with
    /// all devices in the summary.
    failures: HashSet<String>,
}

/// The first error of a device, and the number of its errors.
struct Reason {
    first: String,
    count: usize,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            1 => f.write_str(&self.first),
            count => write!(f, "{} (first of {count} errors)", self.first),
        }
    }
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
            is_grouped: is_fleet && (kind == RunKind::Plan || devices > MAX_ROWS),
            held: HashMap::new(),
            messages: HashMap::new(),
            groups: AlikeDevices::default(),
            reasons: HashMap::new(),
            refused: HashMap::new(),
            rendered: HashSet::new(),
            warnings: IndexMap::default(),
            first_connections: Vec::new(),
            device_words: DeviceWords::of(inventory),
            failures: HashSet::new(),
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
            self.add_reason(device, message);
        }
        // The summary has the duration of the whole run.
        if entry.level < self.level || entry.kind == LogKind::Duration {
            return;
        }
        if self.is_fleet && entry.message.starts_with(FIRST_CONNECTION) {
            self.first_connections.push(device.clone());
            return;
        }
        if self.is_repeated(device, entry) {
            return;
        }
        if self.is_grouped {
            let messages = self.messages.entry(device.clone()).or_default();
            messages.push(Arc::clone(entry));
            return;
        }
        let mut text = self.text();
        message::add(&mut text, &format!("{device}: "), self.kind, entry);
        self.show(device, &text);
    }

    /// Whether another device had this warning, too: the summary lists the devices.
    fn is_repeated(&mut self, device: &DeviceName, entry: &LogEntry) -> bool {
        if entry.level != Level::Warning || !self.is_fleet || self.is_grouped {
            return false;
        }
        let text = match entry.source.as_str() {
            "Puppet" => entry.message.clone(),
            source => format!("{source}: {}", entry.message),
        };
        let devices = self.warnings.entry(text).or_default();
        let is_repeated = devices.last().is_some_and(|last| last != device);
        if !devices.contains(device) {
            devices.push(device.clone());
        }
        is_repeated
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

    /// The warnings that several devices have, with the devices in the order of the inventory.
    fn repeated_warnings(&mut self, order: &HashMap<&str, usize>) -> TerminalText {
        let mut text = self.text();
        for (warning, mut devices) in std::mem::take(&mut self.warnings) {
            if devices.len() > 1 {
                devices.sort_by_key(|device| order.get(device.as_str()).copied());
                let names = range::of_names(devices.iter().map(DeviceName::as_str));
                text.line(format_args!("warning: {}: {warning}", names.join(", ")));
            }
        }
        text
    }

    fn add_reason(&mut self, device: &DeviceName, message: String) {
        let reasons = self.reasons.entry(device.clone());
        let reason = reasons.or_insert(Reason {
            first: message,
            count: 0,
        });
        reason.count += 1;
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
            DeviceEvent::Run(RunEvent::Operations { commands, .. }) if !self.is_grouped => {
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
        if self.is_grouped {
            self.add_to_groups(finished, is_rendered);
            return self.progress.advance(status);
        }
        let failure = finished.result.as_ref().err();
        let failure = failure.map(|failure| self.failure(finished, failure));
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
        self.progress.advance(status);
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
        let has_end = self.kind == RunKind::Plan || self.is_grouped;
        if !has_end && !self.filter.is_quiet() && self.outputs.is_none() {
            text.end_line();
        }
        text.append(&self.summary(all));
        text.append(&self.stored_keys(&order));
        print(text.append(&self.repeated_warnings(&order)));
        self.outputs.take().map_or(Ok(()), DeviceOutputs::end)
    }
}

impl Human {
    /// Shows what follows as the output of this kind of run over so many devices.
    fn switch_to(&mut self, kind: RunKind, devices: usize) {
        (self.kind, self.noop) = (kind, kind.is_noop());
        self.is_grouped = self.is_fleet && (kind == RunKind::Plan || devices > MAX_ROWS);
        self.progress.restart(devices, self.noop);
    }

    fn summary(&self, all: &[DeviceSummary]) -> TerminalText {
        let summary = Summary {
            all,
            filter: &self.filter,
            noop: self.noop,
            colored: self.is_summary_colored,
            has_reasons: self.filter.is_quiet() || self.outputs.is_some(),
            took: self.began.elapsed(),
            kind: self.kind,
            batches: self.batches,
            // What is next after the plan of a run is the question.
            is_stored: self.is_stored && self.kind == self.run_kind,
        };
        summary.text(|ended| {
            let known = self.reasons.get(&ended.device);
            let text = known.map_or_else(|| "the run was stopped".to_owned(), Reason::to_string);
            FailureReason {
                common: self.device_words.alike(&ended.device, &text),
                text,
            }
        })
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
                let failure = self.failure(finished, failure);
                if is_rendered {
                    self.show_failure(finished, &logs, &failure);
                }
                return;
            }
            (Err(failure), _) => {
                let why = self.add_failure_reason(finished, failure);
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
            own: self.device_words.of_device(device),
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
        let (failed, complete): (Vec<_>, Vec<_>) = std::mem::take(&mut self.groups)
            .groups(order)
            .into_iter()
            .partition(|group| group.record.error.is_some());
        for group in complete.iter().chain(&failed) {
            self.write(&device_groups::render(group, self.colored));
        }
    }

    /// Whether no finding at this position of the inventory was rendered.
    fn is_new(&mut self, found: &Diagnostic) -> bool {
        match found.labels.first() {
            Some(label) => self.rendered.insert((found.code, label.span.start)),
            None => true,
        }
    }

    /// Why a device has no result.
    fn failure(&mut self, finished: &FinishedDevice, failure: &DeviceFailure) -> TerminalText {
        let mut text = self.text();
        if let DeviceFailure::Run(error) = failure {
            let mut findings = error.findings().to_vec();
            if matches!(error, DeviceRunError::Credentials { .. }) && self.outputs.is_none() {
                findings.retain(|found| self.is_new(found));
            }
            let options = RenderOptions {
                colors: self.colored,
            };
            let limited = limit(findings, MAX_FINDINGS);
            text.append(&terminal::render(&limited, options));
        }
        let why = self.add_failure_reason(finished, failure);
        let hint = match failure {
            DeviceFailure::Run(error) => error.hint(),
            _ => None,
        };
        if self.is_fleet && !self.is_new_failure(&finished.device, &why, hint.as_deref(), failure) {
            return TerminalText::new();
        }
        text.add(format_args!("{}: ", finished.device))
            .paint(Style::BoldRed, "Error")
            .line(format_args!(": {why}"));
        if let Some(hint) = hint {
            text.add(format_args!("{}: ", finished.device))
                .paint(Style::BoldCyan, "Hint")
                .line(format_args!(": {hint}"));
        }
        if self.kind == RunKind::Plan || self.is_grouped {
            text.end_line();
        }
        text
    }

    /// Adds why a device has no result to the reasons of the summary.
    fn add_failure_reason(&mut self, finished: &FinishedDevice, failure: &DeviceFailure) -> String {
        let why = of_device(&finished.device, failure);
        let why = finished
            .mask
            .apply(&why[finished.device.len() + ": ".len()..]);
        self.reasons.remove(&finished.device);
        self.add_reason(&finished.device, self.summary_of(&why, failure));
        why
    }

    /// Whether no other device has the same error, hint and findings.
    fn is_new_failure(
        &mut self,
        device: &DeviceName,
        why: &str,
        hint: Option<&str>,
        failure: &DeviceFailure,
    ) -> bool {
        let findings = match failure {
            DeviceFailure::Run(error) => error.findings(),
            DeviceFailure::Task(_) => &[],
        };
        let mut texts = vec![why, hint.unwrap_or_default()];
        for found in findings {
            texts.extend([found.code, &found.message]);
            texts.extend(found.labels.iter().map(|label| label.source.name.as_str()));
        }
        let texts = texts.join("\n");
        // A difference from a plan is one of each device.
        let key = match failure {
            DeviceFailure::Run(DeviceRunError::Plan { .. } | DeviceRunError::Strict { .. }) => {
                texts
            }
            _ => self.device_words.common(device, &texts),
        };
        self.failures.insert(key)
    }

    /// The reason in the summary. Without the findings above it, it has the first of them.
    fn summary_of(&self, why: &str, failure: &DeviceFailure) -> String {
        let findings = match failure {
            DeviceFailure::Run(error) => error.findings(),
            DeviceFailure::Task(_) => &[],
        };
        let mut errors = findings
            .iter()
            .filter(|found| found.severity == Severity::Error);
        match errors.next() {
            Some(first) if self.filter.is_quiet() || self.outputs.is_some() => {
                let label = first.labels.first();
                let position = label.map(|label| {
                    let line = label.source.position(label.span.start).0;
                    format!("{}:{line}: ", label.source.name)
                });
                format!("{why}: {}{}", position.unwrap_or_default(), first.message)
            }
            _ => why.to_owned(),
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
