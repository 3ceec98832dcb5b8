//! Stores the results of runs. What the store does not take is spooled, and delivered in order when it answers.
//!
//! A run never waits for the store: its device is free as soon as the result is stored or spooled. Once a result is
//! spooled, the following ones are, too, until the store has all of them: the last result of a device is the newest.
//! Runs change devices again as soon as the store takes a spooled result. A result that it does not take although it
//! answers is held, and delivered again later.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::MissedTickBehavior;

use super::dispatcher::RunToStart;
use super::fleet::ServeFleet;
use super::live::{LiveEvent, LiveEventKind};
use super::run_store::{
    DELIVERY_LIMIT, DueTime, EndedRun, PlanForApproval, RunStore, RunStoreError, StoreProblem,
    StoredResult, within, within_limit,
};
use super::service::Service;
use super::spool::{Spool, SpooledResult};
use crate::error_chain::chain;
use crate::history::puppetdb_commands::PuppetDbCommand;
use crate::history::releases::ReleaseNumber;
use crate::history::run::RunRight;
use crate::history::{CompletedRun, ConnectionChange, NewRun, RunEffect};
use crate::store::{StoreError, blocking_io};

/// Interval between attempts to store a result.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// Time after which results that are held are delivered again.
const HELD_INTERVAL: Duration = Duration::from_secs(60);
/// Results that are delivered together.
const BATCH: usize = 32;
/// Attempts to store or spool a result while the process stops.
const LAST_ATTEMPTS: u32 = 3;

/// The result of a run that ends now.
pub(super) struct RunResult {
    pub(super) run: NewRun,
    /// The release of its inputs.
    pub(super) release: Option<ReleaseNumber>,
    pub(super) completed: CompletedRun,
    /// Facts and reports for PuppetDB.
    pub(super) commands: Vec<PuppetDbCommand>,
    pub(super) plan: Option<PlanForApproval>,
    /// The lease that it began with.
    pub(super) right: Option<RunRight>,
}

impl RunResult {
    pub(super) fn of(run: NewRun, completed: CompletedRun, fleet: &ServeFleet) -> Self {
        Self {
            run,
            release: fleet.release,
            completed,
            commands: Vec::new(),
            plan: None,
            right: None,
        }
    }
}

impl Service {
    /// Stores or spools the result, and only then ends the run.
    pub(super) async fn end(&self, start: &RunToStart, result: RunResult) {
        let (status, ended) = (result.completed.record.status(), result.completed.ended);
        let is_failure = status.is_failure();
        let (due, failures) = self
            .inner
            .dispatcher()
            .after_run(&start.device, is_failure, ended);
        let result = Arc::new(EndedRun {
            run: result.run,
            release: result.release,
            completed: result.completed,
            commands: result.commands,
            plan: result.plan,
            right: result.right,
            due: DueTime {
                device: start.device.to_string(),
                due,
                failures,
            },
        });
        let stored = self.store_or_spool(&result).await;
        self.inner
            .dispatcher()
            .finish(&start.device, is_failure, ended);
        if let Some(stored) = stored {
            self.report_stored(&result, stored);
        }
        self.inner.wake.notify_one();
    }

    /// Returns what the store answered. `None`: the result is spooled, or lost.
    async fn store_or_spool(&self, result: &Arc<EndedRun>) -> Option<StoredResult> {
        let mut attempts = 0;
        loop {
            if self.inner.spool.is_empty() && !self.inner.spool.holds(&result.run.device) {
                match within_limit(self.store().finish(Arc::clone(result))).await {
                    Ok(stored) => {
                        self.inner.spool.forget_problem();
                        return Some(stored);
                    }
                    Err(error) => {
                        tracing::warn!(
                            "cannot store the result of run {}: {error}",
                            result.run.uuid
                        );
                        if error.problem == StoreProblem::Unreachable {
                            self.refuse_applies(format!("cannot store results: {error}"));
                        }
                    }
                }
            }
            let (spool, spooled) = (Arc::clone(&self.inner.spool), Arc::clone(result));
            match blocking_io::run(move || spool.add(&spooled)).await {
                Ok(()) => return None,
                Err(error) => {
                    let error = chain(&error);
                    tracing::error!(
                        "cannot spool the result of run {}: {error}",
                        result.run.uuid
                    );
                    self.refuse_runs(format!("cannot spool results: {error}"));
                }
            }
            if self.inner.stop.is_cancelled() {
                attempts += 1;
                if attempts >= LAST_ATTEMPTS {
                    let run = result.run.uuid;
                    tracing::error!("the result of run {run} is lost: the process stops");
                    return None;
                }
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// Logs and shows a result that is stored.
    fn report_stored(&self, result: &EndedRun, stored: StoredResult) {
        let StoredResult {
            id,
            effect,
            lost_commands,
        } = stored;
        self.warn_about_lost_commands(lost_commands);
        let record = &result.completed.record;
        let status = record.status();
        log_connection(effect, record.problem());
        // Unreachable devices are reported once.
        if status.is_failure() && !record.is_unreachable {
            let error = record.problem().unwrap_or("resources failed");
            tracing::warn!(run = id.0, "{status}: {error}");
        }
        tracing::info!(run = id.0, %status, "the run is stored");
        self.live().emit(LiveEvent {
            run: id,
            device: result.run.device.clone(),
            event: LiveEventKind::Ended { status, effect },
        });
    }

    /// Warns once until PuppetDB accepts a command again.
    fn warn_about_lost_commands(&self, lost: usize) {
        if lost > 0 && !self.inner.loses_commands.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the oldest facts and reports for PuppetDB are removed: too many wait for PuppetDB"
            );
        }
    }

    /// Delivers spooled results until the process stops. What is left is delivered after its next start.
    ///
    /// # Cancellation
    /// May be dropped: a result is delivered again.
    pub(super) async fn deliver_spooled(&self) {
        let (spool, stop) = (&self.inner.spool, &self.inner.stop);
        let mut held = tokio::time::interval(HELD_INTERVAL);
        held.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => return,
                () = spool.added.notified(), if spool.is_empty() => {}
                () = tokio::time::sleep(RETRY_INTERVAL) => {}
                _ = held.tick() => spool.retry(),
            }
            self.deliver_now().await;
        }
    }

    /// Delivers spooled results until there is none, or the store does not take one.
    pub(super) async fn deliver_now(&self) {
        if self.inner.spool.is_empty() {
            return;
        }
        while !self.inner.spool.is_empty() {
            let report = |result: &EndedRun, stored| self.report_stored(result, stored);
            match deliver(self.store(), &self.inner.spool, report).await {
                // Runs do not wait for the rest: their results can come as fast as it is stored.
                Ok(is_answered) => {
                    if is_answered && self.permit_applies() {
                        self.synchronize_states().await;
                    }
                }
                Err(error) => {
                    return self.refuse_applies(format!("cannot store results: {error}"));
                }
            }
        }
        match self.inner.spool.not_taken() {
            None => tracing::warn!("all spooled results are stored"),
            Some(reason) => tracing::error!("results wait in the spool: {reason}"),
        }
    }
}

/// Delivers the oldest results of a spool together: a store takes many in the time of one. Those of a device stay in
/// their order. Returns whether the store has answered.
///
/// # Errors
/// The store cannot be reached; the results stay.
pub(super) async fn deliver(
    store: &dyn RunStore,
    spool: &Arc<Spool>,
    report: impl Fn(&EndedRun, StoredResult),
) -> Result<bool, RunStoreError> {
    let batch = oldest(spool).await?;
    let finish = |result: &Arc<EndedRun>| within(DELIVERY_LIMIT, store.finish(Arc::clone(result)));
    let answers = join_all(batch.iter().map(|(_, result)| finish(result))).await;
    let mut unreachable = None;
    for ((spooled, result), answer) in batch.iter().zip(answers) {
        match answer {
            Ok(stored) => {
                spool.remove(spooled);
                report(result, stored);
            }
            Err(error) if error.problem == StoreProblem::Unreachable => unreachable = Some(error),
            Err(error) if error.problem == StoreProblem::Foreign => {
                spool.hold(spooled, Some(&result.run.device), error.text);
            }
            Err(error) => {
                let refused = Arc::new(refused(result, &error));
                match within_limit(store.finish(Arc::clone(&refused))).await {
                    Ok(stored) => {
                        report(&refused, stored);
                        // It must not prevent the following ones.
                        let location = spool.set_aside(spooled);
                        let location = location.display();
                        tracing::error!(
                            "a result cannot be stored, and stays in {location}: {error}"
                        );
                    }
                    Err(end) if end.problem == StoreProblem::Unreachable => return Err(end),
                    Err(end) => spool.hold(spooled, Some(&result.run.device), end.text),
                }
            }
        }
    }
    unreachable.map_or(Ok(!batch.is_empty()), Err)
}

/// The oldest results, one of a device. Those that cannot be read are held.
async fn oldest(spool: &Arc<Spool>) -> Result<Vec<(SpooledResult, Arc<EndedRun>)>, RunStoreError> {
    let spool = Arc::clone(spool);
    blocking_io::run(move || {
        let mut devices = BTreeSet::new();
        let mut found = Vec::new();
        for spooled in spool.oldest(BATCH) {
            match spool.read(&spooled) {
                Ok(None) => spool.remove(&spooled),
                Ok(Some(result)) => {
                    let device = &result.run.device;
                    if let Some(reason) = spool.not_taken().filter(|_| spool.holds(device)) {
                        spool.hold(&spooled, Some(device), reason);
                    } else if devices.insert(result.run.device.clone()) {
                        found.push((spooled, Arc::new(result)));
                    }
                }
                Err(error) if lacks_resources(&error) => {
                    return Err(RunStoreError {
                        problem: StoreProblem::Unreachable,
                        text: chain(&error),
                        hint: None,
                    });
                }
                Err(error) => spool.hold(&spooled, None, chain(&error)),
            }
        }
        Ok(found)
    })
    .await
}

/// Whether the process lacks descriptors or memory: the file itself can be good.
fn lacks_resources(error: &StoreError) -> bool {
    use rustix::io::Errno;
    let StoreError::Io { source, .. } = error else {
        return false;
    };
    let lacking = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    Errno::from_io_error(source).is_some_and(|code| lacking.contains(&code))
}

/// What is stored of a run whose result the store refuses.
fn refused(result: &EndedRun, error: &RunStoreError) -> EndedRun {
    let text = format!("the store refuses the result: {error}");
    EndedRun {
        run: result.run.clone(),
        release: result.release,
        completed: CompletedRun::lost(result.run.kind, text, result.completed.ended),
        commands: Vec::new(),
        plan: None,
        right: result.right.clone(),
        due: result.due.clone(),
    }
}

/// Reports a device once when its connection fails, and once when it works again.
fn log_connection(effect: RunEffect, error: Option<&str>) {
    match effect.connection {
        Some(ConnectionChange::Unreachable) => {
            tracing::warn!("unreachable: {}", error.unwrap_or_default());
        }
        Some(ConnectionChange::Reachable) => tracing::warn!("reachable again"),
        None => {}
    }
}
