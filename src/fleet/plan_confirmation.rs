//! The question between the plans of a batch and its changes: each device waits with its plan, and one answer
//! counts for all devices that wait.
//!
//! A device that comes after another one of its batch is planned when that one has ended, and asked about then.
//! Nothing here prints or reads: the command line takes [`ConfirmationStep`]s and passes the answer back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchtender_devices::names::DeviceName;
use switchtender_devices::secret_mask::SecretMask;
use tokio::sync::{Notify, oneshot};

use super::limits::Permit;
use super::rollout::Batch;
use crate::clock;
use crate::report::RunRecord;

/// What a run would do on a device.
#[derive(Debug)]
pub(crate) struct PlannedRun {
    /// As that of a plan.
    pub(crate) record: RunRecord,
    pub(crate) mask: SecretMask,
    pub(crate) took: Duration,
}

/// What the command line does next.
#[derive(Debug)]
pub(crate) enum ConfirmationStep {
    /// It shows these plans.
    Show(Vec<(DeviceName, PlannedRun)>),
    /// It asks about this batch: all plans were shown.
    Ask(Batch),
}

/// The devices of one batch, and which of them wait for an answer.
#[derive(Debug, Default)]
pub(crate) struct PlanConfirmation {
    batch: Mutex<ConfirmedBatch>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct ConfirmedBatch {
    batch: Option<Batch>,
    /// The devices that have not ended.
    devices: HashMap<DeviceName, Phase>,
    /// The devices before each device.
    after: HashMap<DeviceName, Vec<DeviceName>>,
    /// All devices of the batch may run at once, so that waiting devices can stay connected.
    fits_limits: bool,
    /// The permits of the devices that run.
    permits: HashMap<DeviceName, Permit>,
    planned: Vec<(DeviceName, PlannedRun)>,
}

#[derive(Debug)]
enum Phase {
    Planning,
    Waiting(oneshot::Sender<bool>),
    Changing,
}

impl ConfirmedBatch {
    /// Whether a device is not planned before others have ended.
    fn is_blocked(&self, device: &DeviceName) -> bool {
        let mut before = self.after.get(device).into_iter().flatten();
        before.any(|before| self.devices.contains_key(before))
    }

    /// Whether nothing more can be planned without an answer.
    fn is_complete(&self) -> bool {
        let mut waiting = 0;
        for (device, phase) in &self.devices {
            match phase {
                Phase::Waiting(_) => waiting += 1,
                Phase::Planning if self.is_blocked(device) => {}
                Phase::Planning | Phase::Changing => return false,
            }
        }
        waiting > 0
    }
}

impl PlanConfirmation {
    fn batch(&self) -> MutexGuard<'_, ConfirmedBatch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A batch of devices starts. `after` has the devices before each device.
    pub(crate) fn start(
        &self,
        batch: &Batch,
        after: HashMap<DeviceName, Vec<DeviceName>>,
        fits_limits: bool,
    ) {
        let devices = batch.devices.iter();
        *self.batch() = ConfirmedBatch {
            batch: Some(batch.clone()),
            devices: devices
                .map(|device| (device.clone(), Phase::Planning))
                .collect(),
            after,
            fits_limits,
            ..ConfirmedBatch::default()
        };
    }

    /// A device runs with this permit, until it has ended or waits without a session.
    pub(crate) fn hold(&self, device: &DeviceName, permit: Permit) {
        self.batch().permits.insert(device.clone(), permit);
    }

    /// A device has ended. Returns the number of devices that are planned next, if all others have ended, too.
    pub(crate) fn end(&self, device: &DeviceName) -> Option<usize> {
        let mut batch = self.batch();
        batch.permits.remove(device);
        let ended = batch.devices.remove(device);
        let rest = batch.devices.values();
        let is_planning = rest.clone().all(|phase| matches!(phase, Phase::Planning));
        let count = rest.count();
        drop(batch);
        self.changed.notify_one();
        let was_changing = matches!(ended, Some(Phase::Changing));
        (was_changing && is_planning && count > 0).then_some(count)
    }

    /// Whether the user was asked about the device.
    pub(crate) fn is_answered(&self, device: &DeviceName) -> bool {
        matches!(self.batch().devices.get(device), Some(Phase::Changing))
    }

    /// Whether a device that waits can stay connected.
    pub(crate) fn keeps_sessions(&self) -> bool {
        self.batch().fits_limits
    }

    /// Waits with a plan for the answer. Returns it with the time of the wait. A device without a session lets another
    /// one run in the meantime.
    ///
    /// # Cancellation
    /// May be dropped: the device is not changed.
    pub(crate) async fn ask(&self, device: &DeviceName, planned: PlannedRun) -> (bool, Duration) {
        let began = clock::instant();
        let (sender, answer) = oneshot::channel();
        let mut released = None;
        {
            let mut batch = self.batch();
            batch.planned.push((device.clone(), planned));
            let waiting = Phase::Waiting(sender);
            batch.devices.insert(device.clone(), waiting);
            if !batch.fits_limits {
                released = batch.permits.remove(device);
            }
        }
        if let Some(permit) = &mut released {
            permit.release();
        }
        self.changed.notify_one();
        // Without an answer, nobody has agreed.
        let is_confirmed = answer.await.unwrap_or(false);
        if let Some(mut permit) = released.filter(|_| is_confirmed) {
            permit.acquire_again().await;
            self.hold(device, permit);
        }
        (is_confirmed, began.elapsed())
    }

    /// Waits for new plans, and then for the end of the planning.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn next(&self) -> ConfirmationStep {
        loop {
            {
                let mut batch = self.batch();
                if !batch.planned.is_empty() {
                    return ConfirmationStep::Show(std::mem::take(&mut batch.planned));
                }
                if batch.is_complete()
                    && let Some(batch) = &batch.batch
                {
                    return ConfirmationStep::Ask(batch.clone());
                }
            }
            self.changed.notified().await;
        }
    }

    /// Passes the answer to all devices that wait.
    pub(crate) fn answer(&self, is_confirmed: bool) {
        let mut batch = self.batch();
        for phase in batch.devices.values_mut() {
            if matches!(phase, Phase::Waiting(_))
                && let Phase::Waiting(waiting) = std::mem::replace(phase, Phase::Changing)
            {
                // A device that was stopped does not wait any more.
                let _ = waiting.send(is_confirmed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn name(text: &str) -> DeviceName {
        DeviceName::parse(text).unwrap()
    }

    fn batch(devices: &[&str]) -> Batch {
        Batch {
            number: 1,
            count: 1,
            devices: devices.iter().copied().map(name).collect(),
        }
    }

    fn planned() -> PlannedRun {
        PlannedRun {
            record: RunRecord::planned(clock::timestamp()),
            mask: SecretMask::default(),
            took: Duration::ZERO,
        }
    }

    /// Takes the plans of so many devices, then the question.
    async fn wait_for_question(confirmation: &PlanConfirmation, devices: usize) {
        let mut count = 0;
        while let ConfirmationStep::Show(plans) = confirmation.next().await {
            count += plans.len();
        }
        assert_eq!(count, devices);
    }

    #[expect(clippy::disallowed_methods, reason = "a task of a test")]
    fn ask(
        confirmation: &Arc<PlanConfirmation>,
        device: &str,
    ) -> tokio::task::JoinHandle<(bool, Duration)> {
        let (confirmation, device) = (Arc::clone(confirmation), name(device));
        tokio::spawn(async move { confirmation.ask(&device, planned()).await })
    }

    #[tokio::test]
    async fn one_answer_counts_for_all_devices_that_were_planned() {
        let confirmation = Arc::new(PlanConfirmation::default());
        confirmation.start(&batch(&["sw1", "sw2", "sw3"]), HashMap::new(), true);
        let waiting = [ask(&confirmation, "sw1"), ask(&confirmation, "sw3")];
        // The second device fails before it has a plan.
        assert_eq!(confirmation.end(&name("sw2")), None);
        wait_for_question(&confirmation, 2).await;
        confirmation.answer(true);
        for task in waiting {
            assert!(task.await.unwrap().0);
        }
    }

    #[tokio::test]
    async fn no_counts_for_all_devices_that_wait() {
        let confirmation = Arc::new(PlanConfirmation::default());
        confirmation.start(&batch(&["sw1"]), HashMap::new(), true);
        let waiting = ask(&confirmation, "sw1");
        wait_for_question(&confirmation, 1).await;
        confirmation.answer(false);
        assert!(!waiting.await.unwrap().0);
    }

    #[tokio::test]
    async fn device_after_another_one_waits_until_that_one_has_ended() {
        let confirmation = Arc::new(PlanConfirmation::default());
        let after = [(name("sw2"), vec![name("sw1"), name("elsewhere")])];
        confirmation.start(&batch(&["sw1", "sw2"]), after.into(), true);
        let first = ask(&confirmation, "sw1");
        wait_for_question(&confirmation, 1).await;
        confirmation.answer(true);
        assert!(first.await.unwrap().0);
        assert_eq!(confirmation.end(&name("sw1")), Some(1));
        let second = ask(&confirmation, "sw2");
        wait_for_question(&confirmation, 1).await;
        confirmation.answer(true);
        assert!(second.await.unwrap().0);
        assert_eq!(confirmation.end(&name("sw2")), None);
    }
}
