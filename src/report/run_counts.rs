//! The counts of a device's run and its status.

use serde::{Deserialize, Serialize};
use switchtender_devices::value::Value;

use super::RunStatus;
use crate::transaction::{CommandOutcome, Event, EventStatus, ResourceStatus, RunEvent};

/// Counts of one device's run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunCounts {
    pub(crate) resources: usize,
    pub(crate) changed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Resources that a run without noop would change.
    pub(crate) pending: usize,
    /// Of those, resources for which it would send commands.
    pub(crate) to_change: usize,
    /// Of those, resources that it would remove.
    pub(crate) to_remove: usize,
    /// Commands that were sent to the device.
    pub(crate) operations: usize,
    /// Commands that a run without noop would send.
    pub(crate) to_send: usize,
    /// Lines, rows and objects of the device that were not understood.
    pub(crate) not_understood: usize,
    /// The transaction ended early.
    pub(crate) cut_short: bool,
    /// The plan or noop run exceeds a limit: a run with changes would refuse the device.
    pub(crate) exceeds_limit: bool,
    /// The plan or noop run has changes that the device cannot revert, and this is required: a run with
    /// changes would refuse the device.
    #[serde(skip)]
    pub(crate) lacks_protection: bool,
    /// The device is a standby unit, which `apply` refuses to change.
    pub(crate) is_standby: bool,
    /// Something failed that is no resource: the read of the verification, saving, an interruption.
    pub(crate) failed_after_transaction: bool,
}

impl RunCounts {
    /// The counts of a run that has not ended yet.
    pub(crate) fn new() -> Self {
        Self {
            cut_short: true,
            ..Self::default()
        }
    }

    /// Adds an event.
    pub(crate) fn fold(&mut self, event: &RunEvent) {
        match event {
            // Every run has these: Puppet's schedules and its file bucket.
            RunEvent::Resource(status) if status.is_default => {}
            RunEvent::Resource(status) => {
                self.resources += 1;
                self.changed += usize::from(status.changed);
                self.failed += usize::from(status.has_failed());
                self.skipped += usize::from(status.is_skipped());
                self.pending += usize::from(status.is_pending());
                let is_planned = would_send(status);
                self.to_change += usize::from(is_planned);
                self.to_remove += usize::from(is_planned && would_remove(status));
                for command in status.operations.iter() {
                    match command.outcome {
                        CommandOutcome::NotSent => {}
                        CommandOutcome::Planned => self.to_send += 1,
                        _ => self.operations += 1,
                    }
                }
            }
            RunEvent::Amended { previous, .. } => {
                self.failed += usize::from(!previous.has_failed());
            }
            RunEvent::Unverified { .. } => self.failed_after_transaction = true,
            RunEvent::Finished {
                completed,
                failed_to_generate,
                ..
            } => {
                self.cut_short = !completed;
                self.failed += failed_to_generate;
            }
            _ => {}
        }
    }

    /// All numbers of resources in words.
    pub(crate) fn text(&self) -> String {
        let noun = if self.resources == 1 {
            "resource"
        } else {
            "resources"
        };
        let pending = match self.pending {
            0 => String::new(),
            count => format!(", {count} to change"),
        };
        format!(
            "{} {noun}: {} changed, {} failed, {} skipped{pending}",
            self.resources, self.changed, self.failed, self.skipped
        )
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed > 0 || self.cut_short || self.failed_after_transaction || self.is_refused()
    }

    /// Whether a run with these changes would refuse the device.
    fn is_refused(&self) -> bool {
        self.exceeds_limit || self.lacks_protection || self.is_standby
    }

    /// The status of the run.
    pub(crate) fn status(&self) -> RunStatus {
        match self {
            counts if counts.is_refused() => RunStatus::NotRun,
            counts if counts.has_failed() => RunStatus::Failed,
            RunCounts { changed: 1.., .. } => RunStatus::Changed,
            RunCounts { pending: 1.., .. } => RunStatus::Pending,
            _ => RunStatus::Unchanged,
        }
    }
}

/// Whether a run without noop would send commands for the resource.
fn would_send(status: &ResourceStatus) -> bool {
    let mut operations = status.operations.iter();
    !status.is_declared_noop && operations.any(|command| command.outcome == CommandOutcome::Planned)
}

/// Whether a run without noop would remove the resource.
fn would_remove(status: &ResourceStatus) -> bool {
    let is_removal = |event: &Event| {
        let desired = event.desired_value.as_ref().and_then(Value::as_str);
        event.status == EventStatus::Noop
            && event.property.as_deref() == Some("ensure")
            && desired == Some("absent")
    };
    status.events.iter().any(is_removal)
}
