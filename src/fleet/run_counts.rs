//! The counts of a device's run and its status.

use switchtender_devices::operation::Outcome;
use switchtender_devices::provider::driver_provider::Verdict;
use switchtender_devices::value::Value;

use crate::report::NOT_RUN;
use crate::transaction::{Event, EventStatus, ResourceStatus, RunEvent};

/// Counts of one device's run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
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
    /// What the device has after a protected run with changes.
    #[serde(skip)]
    pub(crate) protection: Option<Verdict>,
    /// The plan or noop run exceeds a limit: a run with changes would refuse the device.
    pub(crate) exceeds_limit: bool,
    /// The plan or noop run has changes that the device cannot revert, and this is required: a run with
    /// changes would refuse the device.
    #[serde(skip)]
    pub(crate) lacks_protection: bool,
    /// The device is a standby unit, which `apply` refuses to change.
    pub(crate) is_standby: bool,
    /// The changes were undone after a failure, completely.
    #[serde(skip)]
    pub(crate) undone: bool,
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
                self.failed += usize::from(is_failed(status));
                self.skipped += usize::from(status.skipped.is_some());
                let noop = status
                    .events
                    .iter()
                    .any(|event| event.status == EventStatus::Noop);
                self.pending += usize::from(noop);
                let is_planned = would_send(status);
                self.to_change += usize::from(is_planned);
                self.to_remove += usize::from(is_planned && would_remove(status));
            }
            RunEvent::Amended { previous, .. } => {
                self.failed += usize::from(!is_failed(previous));
            }
            RunEvent::Unverified { .. } => self.failed_after_transaction = true,
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
                self.failed += failed_to_generate;
            }
            _ => {}
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed > 0 || self.cut_short || self.failed_after_transaction || self.is_refused()
    }

    /// Whether a run with these changes would refuse the device.
    fn is_refused(&self) -> bool {
        self.exceeds_limit || self.lacks_protection || self.is_standby
    }

    /// Whether the device has changes of the run.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed > 0 && !self.undone && self.protection != Some(Verdict::Reverted)
    }

    /// The status of the run.
    pub(crate) fn status(&self) -> &'static str {
        match self {
            counts if counts.is_refused() => NOT_RUN,
            counts if counts.has_failed() => "failed",
            RunCounts { changed: 1.., .. } => "changed",
            RunCounts { pending: 1.., .. } => "pending",
            _ => "unchanged",
        }
    }
}

/// Whether a run without noop would send commands for the resource.
fn would_send(status: &ResourceStatus) -> bool {
    let mut operations = status.operations.iter();
    !status.is_declared_noop && operations.any(|record| record.result.is_none())
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

fn is_failed(status: &ResourceStatus) -> bool {
    status.failed || status.failed_to_restart
}
