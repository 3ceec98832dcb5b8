//! The state of a run in one word.

use crate::words::words;

words! {
    /// The state of a run, and its result.
    RunStatus {
        Queued = "queued",
        Running = "running",
        Unchanged = "unchanged",
        Changed = "changed",
        /// Something would be changed.
        Pending = "pending",
        Failed = "failed",
        /// The device was not changed for a reason that is no resource's.
        NotRun = "not run",
        /// The process ended before the run; what the device has is unknown.
        Interrupted = "interrupted",
        /// It was withdrawn before its start, or waited too long.
        Canceled = "canceled",
    }
}

impl RunStatus {
    pub(crate) fn is_ended(self) -> bool {
        !matches!(self, RunStatus::Queued | RunStatus::Running)
    }

    pub(crate) fn is_failure(self) -> bool {
        matches!(
            self,
            RunStatus::Failed | RunStatus::NotRun | RunStatus::Interrupted
        )
    }
}
