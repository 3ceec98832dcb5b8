//! A run while it goes on: what was said, to whom, and how far it came.

use switchtender_devices::secret::MASK;

use super::ServedFleet;
use crate::agent::journal::Journal;
use crate::agent::run::CachedStatus;
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
}

impl Attempt<'_> {
    /// Takes over what the agent has said since the last time.
    pub fn take(&mut self, journal: &mut Journal) {
        for line in std::mem::take(&mut journal.lines) {
            self.emit(RunEvent::Log(LogEntry {
                level: line.level,
                message: self.masked(line.message),
                source: "Puppet".to_owned(),
                tags: Vec::new(),
                time: line.time,
                file: None,
                line: None,
            }));
        }
    }

    pub fn masked(&self, mut message: String) -> String {
        for secret in &self.secrets {
            message = message.replace(secret.as_str(), MASK);
        }
        message
    }

    /// Whether anything was changed on the device.
    pub fn changed(&self) -> bool {
        self.events.iter().any(|event| match event {
            RunEvent::Resource(status) => status.changed,
            _ => false,
        })
    }

    pub fn emit(&mut self, event: RunEvent) {
        if let RunEvent::Log(entry) = &event {
            (self.fleet.listener)(self.device, entry);
        }
        self.events.push(event);
    }
}
