//! The main loop: starts runs, stores their results, and removes old ones.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt as _;
use jiff::Timestamp;
use switchtender_devices::driver::Backup;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tracing::Instrument as _;

use super::approvals::ApprovalRun;
use super::backup_writer::RunBackup;
use super::dispatcher::{RunCause, RunToStart};
use super::fleet::{ReadBackup, ServeFleet};
use super::live::{LiveEvent, LiveEventKind};
use super::live_observer;
use super::puppetdb;
use super::runner_role::REQUEST_INTERVAL;
use super::service::Service;
use super::settings::{BackupSettings, ConfigurationReads};
use crate::clock::{self, puppet_time};
use crate::error_chain::chain;
use crate::fleet::runner::panic_message;
use crate::history::puppetdb_commands::PuppetDbCommand;
use crate::history::{
    CompletedRun, ConnectionChange, HistoryError, NewRun, Requester, RunEffect, RunId, RunUuid,
    Space,
};
use crate::store::blocking_io;

/// Interval between checks of the free space, and between attempts to store a result.
const SPACE_INTERVAL: Duration = Duration::from_secs(5);
/// Interval between removals of old runs.
const RETENTION_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// The longest sleep: the clock of the system can be set.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// Attempts to store a result while the process stops.
const LAST_ATTEMPTS: u32 = 3;

/// Why a run does not start.
enum NoStart {
    /// It waits until it can be stored.
    Problem(String),
    /// Another process has withdrawn the request.
    Withdrawn,
}

/// What is stored about a run, in one transaction.
struct RunResult {
    completed: CompletedRun,
    commands: Vec<PuppetDbCommand>,
    /// The approval that a plan was made for, with the plan as JSON.
    plan: Option<(i64, String)>,
}

impl RunResult {
    fn of(completed: CompletedRun) -> Self {
        Self {
            completed,
            commands: Vec::new(),
            plan: None,
        }
    }
}

impl Service {
    /// Runs devices until the process stops and all runs have ended.
    ///
    /// # Cancellation
    /// Must not be dropped: cancel the token of the process instead.
    pub(crate) async fn work(&self) {
        let mut runs = JoinSet::new();
        let mut space = tokio::time::interval(SPACE_INTERVAL);
        space.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut retention = tokio::time::interval(RETENTION_INTERVAL);
        retention.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut requests = tokio::time::interval(REQUEST_INTERVAL);
        requests.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = &self.inner.stop;
        if self.is_reader() {
            return stop.cancelled().await;
        }
        let is_shared = self.history().is_shared();
        // The first tick is due at once; no run may start before it.
        self.check_space().await;
        while !stop.is_cancelled() {
            self.end_expired_requests().await;
            self.advance_approvals().await;
            let sleep = self.start_runs(&mut runs);
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.inner.wake.notified() => {}
                _ = runs.join_next(), if !runs.is_empty() => {}
                () = tokio::time::sleep(sleep) => {}
                _ = space.tick() => self.check_space().await,
                _ = requests.tick(), if is_shared => self.find_requests().await,
                _ = retention.tick() => self.remove_old_runs().await,
            }
        }
        while runs.join_next().await.is_some() {}
    }

    /// Ends requests that nobody expects to run any more.
    async fn end_expired_requests(&self) {
        let limit = self.inner.fleet().settings.request_limit;
        let now = clock::timestamp();
        let oldest = now.saturating_sub(limit).unwrap_or(now);
        let expired = self.inner.dispatcher().take_expired(oldest);
        for run in expired {
            let limit = switchtender_devices::duration::render(limit);
            let reason = format!("the request expired: it waited longer than {limit}");
            tracing::warn!(run = run.0, "{reason}");
            if let Err(error) = self.store_canceled(run, Some(reason)).await {
                // It expires again at the next start.
                tracing::error!("cannot store the end of run {run}: {}", chain(&error));
            }
        }
    }

    /// Starts what can start. Returns the time until the next device is due.
    fn start_runs(&self, runs: &mut JoinSet<()>) -> Duration {
        if self.condition().no_runs.is_some() {
            return LONGEST_SLEEP;
        }
        let now = clock::timestamp();
        let mut dispatcher = self.inner.dispatcher();
        while let Some(start) = dispatcher.next_start(now) {
            let service = self.clone();
            let span = tracing::info_span!("device", name = &*start.device);
            runs.spawn(async move { service.run_device(start).await }.instrument(span));
        }
        let Some(wake_at) = dispatcher.wake_at() else {
            return LONGEST_SLEEP;
        };
        let until = wake_at.duration_since(now);
        Duration::try_from(until)
            .unwrap_or_default()
            .min(LONGEST_SLEEP)
    }

    /// Runs a device and stores the result.
    async fn run_device(&self, start: RunToStart) {
        let run = match self.begin(&start).await {
            Ok(run) => run,
            Err(reason) => return self.cannot_begin(&start, reason),
        };
        self.emit(run, &start, LiveEventKind::Started { kind: start.kind });
        let fleet = self.inner.fleet();
        let observer = live_observer::observer(self, run);
        let (request, approval) = match self.run_request(&fleet, &start, run).await {
            Ok(found) => found,
            Err(reason) => {
                let completed = CompletedRun::lost(start.kind, reason, clock::timestamp());
                return self.end(run, &start, RunResult::of(completed)).await;
            }
        };
        let work = fleet.run(&start.device, request, &observer);
        let ended = AssertUnwindSafe(work).catch_unwind().await;
        let now = clock::timestamp();
        let mut commands = Vec::new();
        let mut backup = None;
        let completed = match ended {
            Ok(Some(ended)) => {
                let mut completed = ended.completed(now);
                if let Some(origin) = &mut completed.origin {
                    origin.is_authoritative = true;
                }
                if self.reads_configuration(&fleet, &start, &completed).await
                    && let Some(ReadBackup {
                        backup: read,
                        classes,
                    }) = fleet.backup(&start.device).await
                {
                    let masked = |text: String| ended.mask.apply(&text);
                    let read = Backup {
                        configuration: read.configuration.map(masked),
                        answers: read.answers.map(masked),
                    };
                    completed.configuration.clone_from(&read.configuration);
                    completed.line_classes = classes;
                    backup = Some(read);
                }
                if let Some(certname) = fleet.puppetdb_name(&start.device) {
                    commands = puppetdb::commands(&certname, &ended.record, &puppet_time(now));
                }
                completed
            }
            Ok(None) => {
                let error = "the device is not in the inventory any more".to_owned();
                CompletedRun::lost(start.kind, error, now)
            }
            Err(panic) => {
                let error = format!("internal error: {}", panic_message(panic.as_ref()));
                CompletedRun::lost(start.kind, error, now)
            }
        };
        let plan = approval.as_ref().and_then(|approval| {
            let plan = approval.plan(&start)?;
            Some((approval.id, plan))
        });
        let status = completed.record.status();
        let result = RunResult {
            commands,
            plan,
            ..RunResult::of(completed)
        };
        self.end(run, &start, result).await;
        if let Some(approval) = approval.filter(ApprovalRun::is_applied) {
            self.end_approved(approval.id, &start.device, status).await;
        }
        if let (Some(settings), Some(backup)) = (&fleet.settings.backup, backup) {
            let device = start.device.to_string();
            self.back_up(settings, run, device, backup).await;
        }
    }

    /// Writes what was read of a device to its files.
    async fn back_up(&self, settings: &BackupSettings, run: RunId, device: String, backup: Backup) {
        let found = self.history().query(move |reader| reader.run(run)).await;
        let requester = found.ok().flatten().map(|run| run.requester);
        let user = requester.map_or_else(String::new, |requester| requester.to_string());
        let read = RunBackup {
            device,
            run,
            user,
            backup,
        };
        let written = self.inner.backups.write(settings, read, &self.inner.stop);
        let problem = written.await.err().map(|error| error.text());
        if let Some(problem) = &problem {
            tracing::error!("{problem}");
        }
        self.inner.condition().failed_backup = problem;
    }

    /// Stores that a run starts. The space is checked before each run: its result must be stored.
    async fn begin(&self, start: &RunToStart) -> Result<RunId, NoStart> {
        self.check_space().await;
        if let Some(problem) = self.condition().no_runs {
            return Err(NoStart::Problem(problem));
        }
        let stored = self.store_start(start).await;
        let stored = stored.map_err(|error| {
            NoStart::Problem(format!("cannot store the run: {}", chain(&error)))
        })?;
        stored.ok_or(NoStart::Withdrawn)
    }

    async fn store_start(&self, start: &RunToStart) -> Result<Option<RunId>, HistoryError> {
        let (now, device) = (clock::timestamp(), start.device.to_string());
        match &start.cause {
            RunCause::Request { run, .. } => {
                let run = *run;
                let history = self.history();
                let started = history
                    .write(move |writer| {
                        writer.end_lost_runs(&device, now)?;
                        writer.start_run(run, now)
                    })
                    .await?;
                Ok(started.then_some(run))
            }
            RunCause::Schedule => {
                let new_run = NewRun {
                    uuid: RunUuid::new(now),
                    device: device.clone(),
                    kind: start.kind,
                    follows_windows: true,
                    requester: Requester::schedule(),
                    priority: start.priority,
                    queued: start.due,
                    started: Some(now),
                };
                let history = self.history();
                let run = history
                    .write(move |writer| {
                        writer.end_lost_runs(&device, now)?;
                        writer.add_run(&new_run)
                    })
                    .await?;
                Ok(Some(run))
            }
        }
    }

    /// A run whose start cannot be stored does not start. A request waits again.
    fn cannot_begin(&self, start: &RunToStart, reason: NoStart) {
        let now = clock::timestamp();
        let NoStart::Problem(reason) = reason else {
            return self.inner.dispatcher().finish(&start.device, false, now);
        };
        tracing::error!("a run does not start: {reason}");
        self.refuse_runs(reason);
        let mut dispatcher = self.inner.dispatcher();
        dispatcher.finish(&start.device, false, now);
        if let RunCause::Request { .. } = &start.cause {
            dispatcher.request(
                &start.device,
                start.cause.clone(),
                start.priority,
                start.due,
            );
        }
    }

    /// Whether the running configuration is read after a run.
    async fn reads_configuration(
        &self,
        fleet: &ServeFleet,
        start: &RunToStart,
        completed: &CompletedRun,
    ) -> bool {
        // Without facts, there was no connection.
        if completed.record.facts.is_none() || self.inner.stop.is_cancelled() {
            return false;
        }
        match fleet.settings.configurations {
            ConfigurationReads::Never => false,
            ConfigurationReads::Always => true,
            ConfigurationReads::Changes => {
                let counts = completed.record.counts;
                if counts.changed > 0 || counts.pending > 0 || counts.failed > 0 {
                    return true;
                }
                let device = start.device.to_string();
                let query = self
                    .history()
                    .query(move |reader| reader.configurations(&device, 1, 0));
                query.await.is_ok_and(|known| known.is_empty())
            }
        }
    }

    /// Stores the result, and only then ends the run.
    async fn end(&self, run: RunId, start: &RunToStart, result: RunResult) {
        let (status, ended) = (result.completed.record.status(), result.completed.ended);
        let is_failure = status.is_failure();
        let next = self
            .inner
            .dispatcher()
            .after_run(&start.device, is_failure, ended);
        let result = Arc::new(result);
        let effect = self.store_result(run, start, next, &result).await;
        self.inner
            .dispatcher()
            .finish(&start.device, is_failure, ended);
        if let Some(effect) = effect {
            let record = &result.completed.record;
            log_connection(effect, record.problem());
            // Unreachable devices are reported once.
            if is_failure && !record.is_unreachable {
                let error = record.problem().unwrap_or("resources failed");
                tracing::warn!(run = run.0, "{status}: {error}");
            }
            tracing::info!(run = run.0, %status, "the run is stored");
            self.emit(run, start, LiveEventKind::Ended { status, effect });
        }
        self.inner.wake.notify_one();
    }

    /// Writes the result until it is stored. `None`: the process stopped before.
    async fn store_result(
        &self,
        run: RunId,
        start: &RunToStart,
        (due, failures): (Option<Timestamp>, u32),
        result: &Arc<RunResult>,
    ) -> Option<RunEffect> {
        let mut attempts = 0;
        loop {
            let (device, result) = (Arc::clone(&start.device), Arc::clone(result));
            let max_size = self.history().max_size();
            let written = self.history().write(move |writer| {
                let (completed, commands) = (&result.completed, &result.commands);
                if writer.has_result(run)? {
                    // The connection was lost at the end of an earlier attempt.
                    return Ok((RunEffect::default(), 0));
                }
                if let Some((approval, plan)) = &result.plan {
                    writer.set_plan(*approval, plan)?;
                }
                let effect = writer.finish_run(run, completed)?;
                let lost = writer.add_puppetdb_commands(commands, max_size, completed.ended)?;
                writer.set_due(&device, due, failures, completed.ended)?;
                Ok((effect, lost))
            });
            let error = match written.await {
                Ok((effect, lost)) => {
                    self.warn_about_lost_commands(lost);
                    return Some(effect);
                }
                Err(error) => chain(&error),
            };
            tracing::error!("cannot store the result of run {run}: {error}");
            self.refuse_runs(format!("cannot store results: {error}"));
            if self.inner.stop.is_cancelled() {
                attempts += 1;
                if attempts >= LAST_ATTEMPTS {
                    tracing::error!("the result of run {run} is lost: the process stops");
                    return None;
                }
            }
            tokio::time::sleep(SPACE_INTERVAL).await;
        }
    }

    /// Warns once until PuppetDB accepts a command again.
    fn warn_about_lost_commands(&self, lost: usize) {
        if lost > 0 && !self.inner.loses_commands.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the oldest facts and reports for PuppetDB are removed: too many wait for PuppetDB"
            );
        }
    }

    fn refuse_runs(&self, reason: String) {
        self.inner.condition().no_runs.get_or_insert(reason);
    }

    /// Stops new runs without free space, and starts them again with it.
    async fn check_space(&self) {
        let history = self.history().clone();
        let space = blocking_io::run(move || history.space()).await;
        let problem = match space {
            Ok(Space { problem: None, .. }) => self.lock_problem().await,
            Ok(space) => space.problem,
            Err(error) => Some(chain(&error)),
        };
        let earlier = {
            let mut condition = self.inner.condition();
            std::mem::replace(&mut condition.no_runs, problem.clone())
        };
        match (earlier, problem) {
            (None, Some(problem)) => {
                tracing::error!("no run starts: {problem}");
                // Old runs can be in the way.
                self.remove_old_runs().await;
            }
            (Some(_), None) => {
                tracing::warn!("runs start again: the store can be used");
                self.inner.wake.notify_one();
            }
            _ => {}
        }
    }

    async fn remove_old_runs(&self) {
        let retention = self.inner.fleet().settings.retention();
        let removed = self.history().retain(retention, clock::timestamp()).await;
        match removed {
            Ok(removed) => {
                if removed.undelivered > 0 {
                    let count = removed.undelivered;
                    tracing::warn!(
                        "the store is full: {count} runs without webhook message removed"
                    );
                }
                tracing::info!(runs = removed.runs, "old runs are removed");
            }
            Err(error) => tracing::error!("cannot remove old runs: {}", chain(&error)),
        }
    }

    fn emit(&self, run: RunId, start: &RunToStart, event: LiveEventKind) {
        self.live().emit(LiveEvent {
            run,
            device: start.device.to_string(),
            event,
        });
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
