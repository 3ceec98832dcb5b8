//! A run while it goes on: what was said, to whom, and how far it came.

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::secret::MASK;

use super::ServedFleet;
use crate::agent::run::CachedStatus;
use crate::agent::run_log::RunLog;
use crate::catalog::Level;
use crate::clock;
use crate::transaction::{LogEntry, RunEvent};

/// A run while it goes on: what was said, and how far it came.
pub(super) struct Attempt<'a> {
    pub fleet: &'a ServedFleet,
    pub device: &'a str,
    /// Never shown, wherever they come from.
    pub secrets: Vec<String>,
    pub events: Vec<RunEvent>,
    pub cached: CachedStatus,
    /// The catalog was applied, or began to be.
    pub applied: bool,
    /// The device answers: what comes after each run has its turn, whatever comes of this one.
    pub begun: bool,
    /// Something failed after the transaction.
    pub flawed: bool,
}

impl Attempt<'_> {
    /// For messages about the run as a whole.
    pub fn run_log(&mut self) -> &mut dyn RunLog {
        self
    }

    pub fn masked(&self, mut message: String) -> String {
        for secret in &self.secrets {
            message = message.replace(secret.as_str(), MASK);
        }
        message
    }

    /// Something failed after the transaction: the run has failed, whatever its resources say.
    pub fn fail(&mut self, why: String) {
        self.run_log().error(why);
        self.flawed = true;
    }

    /// Whether the transaction ended before its end, and not by an error.
    pub fn cut_short(&self) -> bool {
        self.events.iter().any(|event| {
            matches!(
                event,
                RunEvent::Finished {
                    completed: false,
                    error: None,
                    ..
                }
            )
        })
    }

    /// Tells findings about the catalog, each with its place in the manifest.
    pub fn tell(&mut self, findings: &[Diagnostic]) {
        for found in findings {
            let place = found.place.as_ref();
            let position =
                place.map(|place| format!(" (file: {}, line: {})", place.file, place.line));
            let help = found.help.as_ref().map(|help| format!("; {help}"));
            let entry = LogEntry {
                level: match found.severity {
                    Severity::Error => Level::Err,
                    _ => Level::Warning,
                },
                message: self.masked(format!(
                    "{}{}{}",
                    found.message,
                    position.unwrap_or_default(),
                    help.unwrap_or_default()
                )),
                source: "Puppet".to_owned(),
                tags: std::sync::Arc::default(),
                time: clock::timestamp(),
                file: place.map(|place| place.file.clone()),
                line: place.map(|place| place.line),
            };
            self.emit(entry.into());
        }
    }

    pub fn emit(&mut self, event: RunEvent) {
        if let RunEvent::Log(entry) = &event {
            (self.fleet.listener)(self.device, entry);
        }
        self.events.push(event);
    }
}

impl RunLog for Attempt<'_> {
    fn log(&mut self, level: Level, message: String) {
        let entry = LogEntry {
            level,
            message: self.masked(message),
            source: "Puppet".to_owned(),
            tags: std::sync::Arc::default(),
            time: clock::timestamp(),
            file: None,
            line: None,
        };
        self.emit(entry.into());
    }
}
