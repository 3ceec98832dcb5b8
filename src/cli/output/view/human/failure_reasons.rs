//! Why devices failed or could not run: below the messages of each device, and for the summary.

use std::collections::{HashMap, HashSet};

use switchtender_devices::names::DeviceName;

use crate::cli::output::view::common_reason::DeviceWords;
use crate::cli::output::view::summary::FailureReason;
use crate::cli::output::view::{DeviceFailure, FinishedDevice, of_device};
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{Diagnostic, Severity, limit};
use crate::fleet::device_run::DeviceRunError;
use crate::inventory::Inventory;
use crate::report::alike::OwnWords;
use crate::terminal_text::{Style, TerminalText};

/// Maximum number of findings of one code about one device.
const MAX_FINDINGS: usize = 20;

/// The reasons of all devices.
pub(super) struct FailureReasons {
    reasons: HashMap<DeviceName, Reason>,
    device_words: DeviceWords,
    /// The summary has the first finding, which nothing above it shows.
    has_reasons: bool,
    /// Positions in the inventory that were rendered: many devices may share one.
    rendered: HashSet<(&'static str, usize)>,
    /// Reasons without what names a device: equal ones are shown for the first device, and with all devices in the
    /// summary.
    known: HashSet<String>,
}

/// How a failure is shown.
#[derive(Clone, Copy)]
pub(super) struct FailureStyle {
    pub(super) colored: bool,
    /// Equal failures of several devices are shown once.
    pub(super) is_fleet: bool,
    /// It ends with an empty line.
    pub(super) has_end: bool,
    /// The device has a file of its own.
    pub(super) is_in_file: bool,
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

impl FailureReasons {
    pub(super) fn new(inventory: &Inventory, has_reasons: bool) -> Self {
        Self {
            reasons: HashMap::new(),
            device_words: DeviceWords::of(inventory),
            has_reasons,
            rendered: HashSet::new(),
            known: HashSet::new(),
        }
    }

    /// Whether the summary has reasons that nothing above it shows.
    pub(super) fn has_reasons(&self) -> bool {
        self.has_reasons
    }

    /// The words that name a device.
    pub(super) fn words_of(&self, device: &DeviceName) -> OwnWords {
        self.device_words.of_device(device)
    }

    /// Adds an error of a device.
    pub(super) fn add_reason(&mut self, device: &DeviceName, message: String) {
        let reasons = self.reasons.entry(device.clone());
        let reason = reasons.or_insert(Reason {
            first: message,
            count: 0,
        });
        reason.count += 1;
    }

    /// Adds why a device has no result. Returns it without the device.
    pub(super) fn add(&mut self, finished: &FinishedDevice, failure: &DeviceFailure) -> String {
        let why = of_device(&finished.device, failure);
        let why = finished
            .mask
            .apply(&why[finished.device.len() + ": ".len()..]);
        self.reasons.remove(&finished.device);
        self.add_reason(&finished.device, self.summary_of(&why, failure));
        why
    }

    /// The reason in the summary.
    pub(super) fn reason(&self, device: &DeviceName) -> FailureReason {
        let known = self.reasons.get(device);
        let text = known.map_or_else(|| "the run was stopped".to_owned(), Reason::to_string);
        FailureReason {
            common: self.device_words.alike(device, &text),
            text,
        }
    }

    /// Why a device has no result, with excerpts of files and a hint.
    pub(super) fn text(
        &mut self,
        finished: &FinishedDevice,
        failure: &DeviceFailure,
        style: FailureStyle,
    ) -> TerminalText {
        let mut text = TerminalText::with_colors(style.colored);
        let mut hint = None;
        if let DeviceFailure::Run(error) = failure {
            let mut findings = error.findings().to_vec();
            if matches!(error, DeviceRunError::Credentials { .. }) && !style.is_in_file {
                findings.retain(|found| self.is_new(found));
            }
            let options = RenderOptions {
                colors: style.colored,
            };
            let limited = limit(findings, MAX_FINDINGS);
            text.append(&terminal::render(&limited, options));
            hint = error.hint();
        }
        let device = &finished.device;
        let why = self.add(finished, failure);
        if style.is_fleet
            && !self.is_new_failure(
                device,
                &[&why, hint.as_deref().unwrap_or_default()],
                failure,
            )
        {
            return TerminalText::new();
        }
        text.add(format_args!("{device}: "))
            .paint(Style::BoldRed, "Error")
            .line(format_args!(": {why}"));
        if let Some(hint) = hint {
            text.add(format_args!("{device}: "))
                .paint(Style::BoldCyan, "Hint")
                .line(format_args!(": {hint}"));
        }
        if style.has_end {
            text.end_line();
        }
        text
    }

    /// Whether no finding at this position of the inventory was rendered.
    fn is_new(&mut self, found: &Diagnostic) -> bool {
        match found.labels.first() {
            Some(label) => self.rendered.insert((found.code, label.span.start)),
            None => true,
        }
    }

    /// Whether no other device has the same error, hint and findings.
    fn is_new_failure(
        &mut self,
        device: &DeviceName,
        texts: &[&str],
        failure: &DeviceFailure,
    ) -> bool {
        let mut all = texts.to_vec();
        for found in findings(failure) {
            all.extend([found.code, &found.message]);
            all.extend(found.labels.iter().map(|label| label.source.name.as_str()));
        }
        let all = all.join("\n");
        // A difference from a plan is one of each device.
        let key = match failure {
            DeviceFailure::Run(DeviceRunError::Plan { .. } | DeviceRunError::Strict { .. }) => all,
            _ => self.device_words.common(device, &all),
        };
        self.known.insert(key)
    }

    /// The reason in the summary. Without the findings above it, it has the first of them.
    fn summary_of(&self, why: &str, failure: &DeviceFailure) -> String {
        let mut errors = findings(failure)
            .iter()
            .filter(|found| found.severity == Severity::Error);
        match errors.next() {
            Some(first) if self.has_reasons => {
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

fn findings(failure: &DeviceFailure) -> &[Diagnostic] {
    match failure {
        DeviceFailure::Run(error) => error.findings(),
        DeviceFailure::Task(_) => &[],
    }
}
