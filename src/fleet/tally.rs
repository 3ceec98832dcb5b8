//! What a device's run came to, in numbers and one word.

use switchtender_devices::operation::Outcome;

use crate::transaction::{EventStatus, RunEvent};

/// Numbers of one device's run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    pub resources: usize,
    pub changed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Would be changed, were this no noop run.
    pub pending: usize,
    /// Operations that the device was sent.
    pub operations: usize,
    /// Operations that it would be sent, were nothing noop.
    pub to_send: usize,
    /// The transaction ended early.
    pub cut_short: bool,
    /// Something failed that is no resource: the proof, saving, an interruption.
    pub flawed: bool,
}

impl Tally {
    /// Of a run that has not ended yet.
    pub fn new() -> Self {
        Self {
            cut_short: true,
            ..Self::default()
        }
    }

    /// Takes an event in.
    pub fn fold(&mut self, event: &RunEvent) {
        match event {
            // What every run has and no device knows of would only puzzle people.
            RunEvent::Resource(status)
                if matches!(
                    status.reference.model_name().as_str(),
                    "schedule" | "filebucket"
                ) => {}
            RunEvent::Resource(status) => {
                self.resources += 1;
                self.changed += usize::from(status.changed);
                self.failed += usize::from(status.failed || status.failed_to_restart);
                self.skipped += usize::from(status.skipped.is_some());
                let noop = status
                    .events
                    .iter()
                    .any(|event| event.status == EventStatus::Noop);
                self.pending += usize::from(noop);
            }
            RunEvent::Operations { operations, .. } => {
                for record in operations.iter() {
                    match &record.result {
                        Some((Outcome::NotSent, _)) => {}
                        Some(_) => self.operations += 1,
                        None => self.to_send += 1,
                    }
                }
            }
            RunEvent::Finished {
                completed,
                failed_to_generate,
                ..
            } => {
                self.cut_short = !completed;
                self.flawed |= failed_to_generate;
            }
            _ => {}
        }
    }

    pub fn has_failed(&self) -> bool {
        self.failed > 0 || self.cut_short || self.flawed
    }

    /// The status in a word.
    pub fn word(&self) -> &'static str {
        match self {
            tally if tally.has_failed() => "failed",
            Tally { changed: 1.., .. } => "changed",
            Tally { pending: 1.., .. } => "pending",
            _ => "unchanged",
        }
    }
}
