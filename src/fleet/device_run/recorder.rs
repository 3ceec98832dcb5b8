//! Folds the events of a run into its record, and passes them on at once.

use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::names::DeviceName;
use switchtender_devices::secret_mask::SecretMask;

use super::DeviceRunError;
use super::masked_event::masked;
use crate::agent::run_log::RunLog;
use crate::catalog::{Level, ResourceRef};
use crate::clock;
use crate::error_chain::chain;
use crate::report::{FindingRecord, RunRecord};
use crate::transaction::{LogEntry, LogKind, OperationRecord, RunEvent, Sink};

/// Something that happened in the run of a device.
#[derive(Clone, Debug)]
pub(crate) enum DeviceEvent {
    /// An event of the run.
    Run(RunEvent),
    /// A message about the [`DeviceRunError`] that ended the run.
    Error(Arc<LogEntry>),
}

/// Receives the events of all devices as they happen.
pub(crate) type Observer = Arc<dyn Fn(&DeviceName, DeviceEvent) + Send + Sync>;

/// The commands of a resource.
pub(super) type ResourceOperations = (ResourceRef, Arc<[OperationRecord]>);

/// The receiver of one run's events.
pub(super) struct EventRecorder<'a> {
    device: DeviceName,
    observer: &'a Observer,
    /// Secrets that are masked in everything that the run emits.
    pub(crate) mask: SecretMask,
    pub(crate) record: RunRecord,
    /// Names and texts of the graphs of the run.
    pub(crate) graphs: Vec<(&'static str, String)>,
    /// Commands, where their effect is predicted.
    pub(crate) operations: Option<Vec<ResourceOperations>>,
}

impl<'a> EventRecorder<'a> {
    pub(crate) fn new(
        device: &DeviceName,
        observer: &'a Observer,
        record: RunRecord,
        predicts: bool,
    ) -> Self {
        Self {
            device: device.clone(),
            observer,
            mask: SecretMask::default(),
            record,
            graphs: Vec::new(),
            operations: predicts.then(Vec::new),
        }
    }

    pub(crate) fn device(&self) -> &DeviceName {
        &self.device
    }

    pub(crate) fn run_log(&mut self) -> &mut dyn RunLog {
        self
    }

    /// Records a failure after the transaction: the run failed, whatever its resources did.
    pub(crate) fn fail(&mut self, text: String) {
        self.run_log().error(text.clone());
        self.record_failure(&text);
    }

    /// As [`EventRecorder::fail`]; the message has a hint, which the summary leaves out.
    pub(crate) fn fail_with_hint(&mut self, text: String, hint: &str) {
        self.run_log().error(format!("{text}; {hint}"));
        self.record_failure(&text);
    }

    fn record_failure(&mut self, text: &str) {
        let text = self.mask.apply(text);
        self.record.fail(text);
    }

    /// Whether the transaction ended early without an error.
    pub(crate) fn is_cut_short(&self) -> bool {
        !self.record.completed && self.record.error.is_none()
    }

    /// Records why the run ended without, or in spite of, a transaction.
    pub(crate) fn record_error(&mut self, error: &DeviceRunError) {
        if let DeviceRunError::Refused {
            cycles: Some(cycles),
            ..
        } = error
        {
            self.run_log().error(cycles.message.clone());
            self.graphs.clone_from(&cycles.graphs);
        }
        for finding in error.findings() {
            let position = finding.position.as_ref();
            let level = match finding.severity {
                Severity::Error => Level::Err,
                _ => Level::Warning,
            };
            let entry = LogEntry {
                file: position.map(|position| position.file.clone()),
                line: position.map(|position| position.line),
                ..self.entry(level, render_finding(finding))
            };
            self.emit_error(entry);
        }
        let text = error.render(&self.device);
        let hint = error.hint().map(|hint| format!("; {hint}"));
        self.emit_error(self.entry(
            Level::Err,
            format!("{text}{}", hint.as_deref().unwrap_or_default()),
        ));
        if let Some(text) = error.skip_message() {
            self.emit_error(self.entry(Level::Err, text.to_owned()));
        }
        // Whatever was applied, a run with an error is a failed run.
        self.record.fold(&RunEvent::Finished {
            completed: false,
            failed_to_generate: 0,
            error: Some(self.mask.apply(&chain(error))),
            time: clock::timestamp(),
        });
        self.record.is_not_run = true;
        self.record.is_unreachable = error.is_unreachable();
        self.record.hint = error.hint().map(|hint| self.mask.apply(&hint));
        self.record_findings(error.findings());
    }

    /// Records findings about the catalog.
    pub(crate) fn record_findings(&mut self, findings: &[Diagnostic]) {
        let findings = findings.iter();
        let findings =
            findings.map(|found| FindingRecord::new(found, |text| self.mask.apply(text)));
        self.record.findings = findings.collect();
    }

    fn emit_error(&mut self, entry: LogEntry) {
        let entry = Arc::new(entry);
        self.record.fold(&RunEvent::Log(Arc::clone(&entry)));
        (self.observer)(&self.device, DeviceEvent::Error(entry));
    }

    /// A message about the complete run.
    fn entry(&self, level: Level, message: String) -> LogEntry {
        LogEntry {
            level,
            message: self.mask.apply(&message),
            source: "Puppet".to_owned(),
            tags: Arc::default(),
            time: clock::timestamp(),
            file: None,
            line: None,
            kind: LogKind::Other,
        }
    }

    /// Logs what the run waits for, at most so long.
    pub(crate) fn log_wait(&mut self, text: String, longest: Duration) {
        let entry = LogEntry {
            kind: LogKind::Wait(longest),
            ..self.entry(Level::Notice, text)
        };
        self.emit(entry.into());
    }

    /// Logs the duration of the transaction, as Puppet does.
    pub(crate) fn log_duration(&mut self, took: Duration) {
        let text = format!("Applied catalog in {:.2} seconds", took.as_secs_f64());
        let entry = LogEntry {
            kind: LogKind::Duration,
            ..self.entry(Level::Notice, text)
        };
        self.emit(entry.into());
    }
}

impl RunLog for EventRecorder<'_> {
    fn log(&mut self, level: Level, message: String) {
        let entry = self.entry(level, message);
        self.emit(entry.into());
    }
}

impl Sink for EventRecorder<'_> {
    fn emit(&mut self, event: RunEvent) {
        if let (
            Some(all),
            RunEvent::Operations {
                reference,
                operations,
                ..
            },
        ) = (&mut self.operations, &event)
        {
            all.push((reference.clone(), Arc::clone(operations)));
        }
        let event = masked(event, &self.mask);
        self.record.fold(&event);
        match event {
            RunEvent::Graph { file, text } => self.graphs.push((file, text)),
            RunEvent::Log(_)
            | RunEvent::Resource(_)
            | RunEvent::Amended { .. }
            | RunEvent::Operations { .. } => {
                (self.observer)(&self.device, DeviceEvent::Run(event));
            }
            _ => {}
        }
    }
}

/// A finding in one line, with its position and its hint.
fn render_finding(finding: &Diagnostic) -> String {
    let position = finding.position.as_ref();
    let position =
        position.map(|position| format!(" (file: {}, line: {})", position.file, position.line));
    let help = finding.help.as_ref().map(|help| format!("; {help}"));
    format!(
        "{}{}{}",
        finding.message,
        position.unwrap_or_default(),
        help.unwrap_or_default()
    )
}
