//! Text for people: one line per message in Puppet's wording, a progress bar on a terminal, a table
//! at the end.

use std::collections::{HashMap, HashSet};

use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;

use super::equal_plans::{EqualPlans, heading};
use super::plan::PlanText;
use super::progress::DeviceProgress;
use super::summary::Summary;
use super::{
    DeviceFailure, DeviceSummary, FinishedDevice, View, ViewFilter, level, of_device, operations,
};
use crate::catalog::Level;
use crate::cli::Global;
use crate::cli::exit::print;
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{Diagnostic, limit};
use crate::fleet::device_run::{APPLIED, DeviceEvent, DeviceRunError, RunMode};
use crate::fleet::run_counts::RunCounts;
use crate::terminal_text::TerminalText;
use crate::transaction::{LogEntry, OperationRecord, RunEvent};

/// Maximum number of findings of one code about one device.
const MAX_FINDINGS: usize = 20;

pub(crate) struct Human {
    mode: RunMode,
    /// Nothing is changed; the table counts pending changes.
    noop: bool,
    /// Messages below this level are left out.
    level: Level,
    colored: bool,
    progress: DeviceProgress,
    filter: ViewFilter,
    /// More than one device runs.
    is_fleet: bool,
    /// Messages of devices that are shown with the device, or not at all.
    held: HashMap<DeviceName, Vec<TerminalText>>,
    plans: EqualPlans,
    /// Why devices failed or could not run.
    reasons: HashMap<DeviceName, Reason>,
    /// By device: refused commands and the answers, until the error that they explain is shown.
    refused: HashMap<DeviceName, TerminalText>,
    /// Positions in the inventory that were rendered: many devices may share one.
    rendered: HashSet<(&'static str, usize)>,
    /// Why devices could not run, without their names: equal reasons are shown for the first device, and with
    /// all devices in the summary.
    failures: HashSet<TerminalText>,
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
        mode: RunMode,
        noop: bool,
        global: &Global,
        filter: ViewFilter,
        devices: usize,
    ) -> Self {
        let noop = noop || mode == RunMode::Plan;
        Self {
            mode,
            noop,
            level: level(global),
            colored: global.is_stdout_colored(),
            progress: DeviceProgress::new(devices, noop),
            filter,
            is_fleet: devices > 1,
            held: HashMap::new(),
            plans: EqualPlans::default(),
            reasons: HashMap::new(),
            refused: HashMap::new(),
            rendered: HashSet::new(),
            failures: HashSet::new(),
        }
    }

    fn write(&self, text: &TerminalText) {
        self.progress.suspend(|| print(text));
    }

    fn text(&self) -> TerminalText {
        TerminalText::with_colors(self.colored)
    }

    /// Messages of a device are a part of its plan.
    fn has_plans_with_messages(&self) -> bool {
        self.is_fleet && self.mode == RunMode::Plan
    }

    /// Shows text of a device now, or with the device.
    fn show(&mut self, device: &DeviceName, text: &TerminalText) {
        if self.filter.quiet {
            return;
        }
        if self.has_plans_with_messages() || !self.filter.only.is_empty() {
            let held = self.held.entry(device.clone()).or_default();
            held.push(text.clone());
        } else {
            self.write(text);
        }
    }

    fn log(&mut self, device: &DeviceName, entry: &LogEntry) {
        if entry.level >= Level::Err {
            let message = match entry.source.as_str() {
                "Puppet" => entry.message.clone(),
                source => format!("{source}: {}", entry.message),
            };
            self.add_reason(device, message);
        }
        // The summary of many devices has the duration.
        let is_duration = self.is_fleet && entry.message.starts_with(APPLIED);
        if entry.level < self.level || is_duration {
            return;
        }
        let (word, color) = word(entry.level);
        let mut text = self.text();
        match self.has_plans_with_messages() {
            true => text.add("  "),
            false => text.add(format_args!("{device}: ")),
        };
        text.paint(color, word).add(": ");
        if entry.source != "Puppet" {
            text.add(format_args!("{}: ", entry.source));
        }
        text.line(&entry.message);
        self.show(device, &text);
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
                if self.mode == RunMode::Plan && entry.level < Level::Warning => {}
            DeviceEvent::Run(RunEvent::Log(entry)) => {
                self.log(device, entry);
                if entry.level >= Level::Err
                    && let Some(text) = self.refused.remove(device)
                {
                    self.show(device, &text);
                }
            }
            DeviceEvent::Run(RunEvent::Operations { operations, .. }) => {
                let text = self.refusals(device, operations);
                if !text.is_empty() {
                    self.refused.insert(device.clone(), text);
                }
            }
            // The error itself is shown at the end of the device, with excerpts of files.
            DeviceEvent::Run(_) | DeviceEvent::Error(_) => {}
        }
    }

    fn device(&mut self, finished: &FinishedDevice) {
        let counts = finished.result.as_ref().map(|result| result.counts);
        let status = counts.as_ref().map_or("not run", RunCounts::status);
        let is_selected = self.filter.shows(status) && !self.filter.quiet;
        let messages = self.held.remove(&finished.device).unwrap_or_default();
        match &finished.result {
            Err(failure) => {
                let failure = self.failure(finished, failure);
                if is_selected {
                    let mut text = self.text();
                    if !messages.is_empty() && self.has_plans_with_messages() {
                        let devices = std::slice::from_ref(&finished.device);
                        text.line(heading(devices, &finished.platform));
                    }
                    self.write(joined(&mut text, &messages).append(&failure));
                }
            }
            Ok(result) if is_selected && self.mode == RunMode::Plan => {
                let report = finished.report.as_ref();
                let statuses = report.map_or(&[][..], |report| report.statuses());
                let plan = PlanText::new(result, statuses, self.colored);
                self.plans
                    .add(&finished.device, &finished.platform, messages, plan);
            }
            Ok(_) if is_selected => self.write(joined(&mut self.text(), &messages)),
            Ok(_) => {}
        }
        self.progress.advance(status);
    }

    fn end(&mut self, all: &[DeviceSummary]) {
        self.progress.finish();
        let order: HashMap<&str, usize> = all
            .iter()
            .map(|ended| ended.device.as_str())
            .zip(0..)
            .collect();
        let plans = std::mem::take(&mut self.plans);
        for plan in plans.render(&order, self.colored) {
            print(&plan);
        }
        let summary = Summary {
            all,
            filter: &self.filter,
            noop: self.noop,
        };
        // A plan ends with an empty line.
        let mut text = self.text();
        if self.mode != RunMode::Plan && !self.filter.quiet {
            text.end_line();
        }
        let reason = |ended: &DeviceSummary| {
            let known = self.reasons.get(&ended.device);
            known.map_or_else(|| "the run was stopped".to_owned(), Reason::to_string)
        };
        print(text.append(&summary.text(reason)));
    }
}

impl Human {
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
            if matches!(error, DeviceRunError::Credentials { .. }) {
                findings.retain(|found| self.is_new(found));
            }
            let options = RenderOptions {
                colors: self.colored,
            };
            let limited = limit(findings, MAX_FINDINGS);
            text.append(&terminal::render(&limited, options));
        }
        let why = of_device(&finished.device, failure);
        let why = finished
            .mask
            .apply(&why[finished.device.len() + ": ".len()..]);
        self.reasons.remove(&finished.device);
        self.add_reason(&finished.device, why.clone());
        let hint = match failure {
            DeviceFailure::Run(error) => error.hint(),
            _ => None,
        };
        let mut key = text.clone();
        key.line(&why).line(hint.as_deref().unwrap_or_default());
        if self.is_fleet && !self.failures.insert(key) {
            return TerminalText::new();
        }
        text.add(format_args!("{}: ", finished.device))
            .paint("1;31", "Error")
            .line(format_args!(": {why}"));
        if let Some(hint) = hint {
            text.add(format_args!("{}: ", finished.device))
                .paint("1;36", "Hint")
                .line(format_args!(": {hint}"));
        }
        if self.mode == RunMode::Plan {
            text.end_line();
        }
        text
    }

    /// Refused commands, each with the answer of the device below it.
    fn refusals(&self, device: &DeviceName, operations: &[OperationRecord]) -> TerminalText {
        let mut text = self.text();
        for (line, answer) in operations::refusals(operations) {
            text.line(format_args!("{device}:   > {line}"));
            for line in answer.lines() {
                text.add(format_args!("{device}:   "))
                    .paint("31", line)
                    .end_line();
            }
        }
        text
    }
}

fn joined<'a>(text: &'a mut TerminalText, parts: &[TerminalText]) -> &'a mut TerminalText {
    for part in parts {
        text.append(part);
    }
    text
}

/// Puppet's name of a level on the console, and its color.
fn word(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::Debug => ("Debug", "36"),
        Level::Info => ("Info", "32"),
        Level::Notice => ("Notice", "0"),
        Level::Warning => ("Warning", "33"),
        Level::Err => ("Error", "1;31"),
        Level::Alert => ("Alert", "1;31"),
        Level::Emerg => ("Emergency", "1;31"),
        Level::Crit => ("Critical", "1;31"),
    }
}
