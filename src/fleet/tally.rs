//! What a device's run came to, in numbers and one word.

use switchtender_devices::operation::Outcome;

use super::device_run::Ran;
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
    /// Operations that the device answered; of a plan, those that it would be sent.
    pub operations: usize,
    /// The transaction ended early.
    pub cut_short: bool,
    /// Something failed that is no resource: the proof, saving, an interruption.
    pub flawed: bool,
}

impl Tally {
    pub fn of(ran: &Ran) -> Self {
        let mut tally = Self {
            cut_short: true,
            flawed: ran.failure.is_some(),
            ..Self::default()
        };
        for event in &ran.events {
            match event {
                // What every run has and no device knows of would only puzzle people.
                RunEvent::Resource(status)
                    if matches!(
                        status.reference.model_name().as_str(),
                        "schedule" | "filebucket"
                    ) => {}
                RunEvent::Resource(status) => {
                    tally.resources += 1;
                    tally.changed += usize::from(status.changed);
                    tally.failed += usize::from(status.failed || status.failed_to_restart);
                    tally.skipped += usize::from(status.skipped.is_some());
                    let noop = status
                        .events
                        .iter()
                        .any(|event| event.status == EventStatus::Noop);
                    tally.pending += usize::from(noop);
                }
                RunEvent::Operations { operations, .. } => {
                    let counted = |result: &Option<(Outcome, _)>| match result {
                        Some((outcome, _)) => *outcome != Outcome::NotSent,
                        None => true,
                    };
                    tally.operations += operations
                        .iter()
                        .filter(|record| counted(&record.result))
                        .count();
                }
                RunEvent::Finished {
                    completed,
                    failed_to_generate,
                    ..
                } => {
                    tally.cut_short = !completed;
                    tally.flawed |= failed_to_generate;
                }
                _ => {}
            }
        }
        tally
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
