//! Text for people: one line per message in Puppet's wording, a progress bar on a terminal, a table
//! at the end.

use std::collections::{HashMap, HashSet};
use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};
use switchtender_devices::names::DeviceName;

use super::{
    DeviceFailure, DeviceSummary, FinishedDevice, View, level, of_device, operations, plan, table,
};
use crate::catalog::Level;
use crate::cli::Global;
use crate::cli::exit::print;
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{Diagnostic, limit};
use crate::fleet::device_run::{DeviceEvent, DeviceRunError, RunMode};
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
    bar: ProgressBar,
    /// By device: refused commands and the answers, until the error that they explain is shown.
    refused: HashMap<DeviceName, TerminalText>,
    /// Positions in the inventory that were rendered: many devices may share one.
    rendered: HashSet<(&'static str, usize)>,
}

impl Human {
    pub(crate) fn new(mode: RunMode, noop: bool, global: &Global, devices: usize) -> Self {
        let terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let bar = if terminal && devices > 1 {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} devices, {elapsed}")
                .expect("the template is well-formed");
            ProgressBar::new(devices as u64).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        Self {
            mode,
            noop: noop || mode == RunMode::Plan,
            level: level(global),
            colored: global.is_stdout_colored(),
            bar,
            refused: HashMap::new(),
            rendered: HashSet::new(),
        }
    }

    fn write(&self, text: &TerminalText) {
        self.bar.suspend(|| print(text));
    }

    fn text(&self) -> TerminalText {
        TerminalText::with_colors(self.colored)
    }

    fn log(&self, device: &DeviceName, entry: &LogEntry) {
        if entry.level < self.level {
            return;
        }
        let (word, color) = word(entry.level);
        let mut text = self.text();
        text.add(format_args!("{device}: "))
            .paint(color, word)
            .add(": ");
        if entry.source != "Puppet" {
            text.add(format_args!("{}: ", entry.source));
        }
        text.line(&entry.message);
        self.write(&text);
    }
}

impl View for Human {
    fn progress_bar(&self) -> Option<ProgressBar> {
        (!self.bar.is_hidden()).then(|| self.bar.clone())
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
                    self.write(&text);
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
        match &finished.result {
            Ok(result) => {
                if self.mode == RunMode::Plan {
                    let report = finished.report.as_ref();
                    let statuses = report.map_or(&[][..], |report| report.statuses());
                    self.write(&plan::text(
                        &finished.device,
                        &finished.platform,
                        result,
                        statuses,
                    ));
                }
            }
            Err(failure) => {
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
                let why = &why[finished.device.len() + ": ".len()..];
                text.add(format_args!("{}: ", finished.device))
                    .paint("1;31", "Error")
                    .line(format_args!(": {}", finished.mask.apply(why)));
                if let DeviceFailure::Run(error) = failure
                    && let Some(hint) = error.hint()
                {
                    text.add(format_args!("{}: ", finished.device))
                        .paint("1;36", "Hint")
                        .line(format_args!(": {hint}"));
                }
                if self.mode == RunMode::Plan {
                    text.end_line();
                }
                self.write(&text);
            }
        }
        self.bar.inc(1);
    }

    fn end(&mut self, all: &[DeviceSummary]) {
        self.bar.finish_and_clear();
        let header = [
            "Device",
            "Platform",
            "Status",
            "Resources",
            "Changed",
            "Failed",
            "Skipped",
            "Operations",
            "Round trips",
            "Time",
        ];
        let header = header.map(|name| match name {
            "Changed" if self.noop => "To change",
            "Operations" if self.noop => "To send",
            _ => name,
        });
        let mut header = header.to_vec();
        let mut rows: Vec<Vec<String>> = all.iter().map(|ended| self.row(ended)).collect();
        let not_understood = all
            .iter()
            .map(|ended| ended.counts.map(|one| one.not_understood));
        if not_understood.clone().flatten().any(|count| count > 0) {
            header.push("Not understood");
            for (row, count) in rows.iter_mut().zip(not_understood) {
                row.push(count.map_or_else(|| "-".to_owned(), |count| count.to_string()));
            }
        }
        // A plan ends with an empty line.
        let mut text = self.text();
        if self.mode != RunMode::Plan {
            text.end_line();
        }
        print(text.append(&table::render(&header, &rows)));
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

    fn row(&self, ended: &DeviceSummary) -> Vec<String> {
        let mut row = vec![ended.device.to_string(), ended.platform.to_string()];
        match &ended.counts {
            Some(counts) => {
                let (changed, operations) = if self.noop {
                    (counts.pending, counts.to_send)
                } else {
                    (counts.changed, counts.operations)
                };
                row.push(counts.status().to_owned());
                let numbers = [
                    counts.resources,
                    changed,
                    counts.failed,
                    counts.skipped,
                    operations,
                ];
                row.extend(numbers.iter().map(ToString::to_string));
                row.push(ended.statistics.round_trips.to_string());
            }
            None => {
                row.push("not run".to_owned());
                row.extend(std::iter::repeat_n("-".to_owned(), 6));
            }
        }
        row.push(format!("{:.1}s", ended.took.as_secs_f64()));
        row
    }
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
