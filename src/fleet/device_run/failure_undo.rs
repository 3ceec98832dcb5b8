//! The undo of the changes of a run after a failed resource, `on_failure = "undo"`.
//!
//! In a protected run the device reverts the changes itself, and nothing is undone.

use switchtender_devices::provider::driver_provider::DriverProvider;

use super::Running;
use crate::report::UndoneEntry;

impl Running<'_> {
    /// Undoes the changes of the run if a resource has failed, and reports it for each resource. Returns
    /// whether the device has the state from before the run.
    pub(super) async fn undo_after_failure(&mut self, provider: &mut DriverProvider) -> bool {
        if self.events.counts.failed == 0 || !provider.has_committed() {
            return false;
        }
        let is_stopped = || self.stop.is_cancelled() || self.deadline.passed_by().is_some();
        let undone = provider.undo_run(&is_stopped).await;
        let mask = self.events.mask.clone();
        let mut is_complete = true;
        let mut entries = Vec::new();
        for resource in undone {
            let name = &resource.reference;
            let reasons = resource.not_restored.iter();
            let reasons: Vec<String> = reasons.map(|reason| mask.apply(reason)).collect();
            if reasons.is_empty() {
                self.events.run_log().notice(format!("{name}: undone"));
            } else {
                is_complete = false;
                let text = format!("{name}: not undone: {}", reasons.join("; "));
                self.events.fail(text);
            }
            let operations = resource.operations.iter();
            entries.push(UndoneEntry {
                resource: resource.reference.clone(),
                operations: operations
                    .map(|(operation, _)| mask.apply(&operation.action.text()))
                    .collect(),
                not_restored: reasons,
            });
        }
        for line in provider.remaining_lines() {
            is_complete = false;
            let text = format!("not undone in the configuration: {}", mask.apply(&line));
            self.events.fail(text);
        }
        self.events.counts.undone = is_complete;
        self.events.report.set_undone(entries);
        is_complete
    }
}
