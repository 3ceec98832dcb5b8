//! The main loop: runs devices as the dispatcher decides, and stores the results.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use switchtender_devices::driver::Backup;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tracing::Instrument as _;

use super::approvals::ApprovalRun;
use super::backup_writer::RunBackup;
use super::condition::Condition;
use super::dispatcher::{PermittedRuns, RunToStart};
use super::fleet::{ReadBackup, ServeFleet};
use super::held_devices::HeldRight;
use super::live::{LiveEvent, LiveEventKind};
use super::live_observer;
use super::puppetdb;
use super::release::plans_only;
use super::requested_runs::REQUEST_INTERVAL;
use super::results::RunResult;
use super::run_begin::NoStart;
use super::run_store::{PlanForApproval, within_limit};
use super::service::Service;
use super::settings::{BackupSettings, ConfigurationReads};
use crate::clock::{self, puppet_time};
use crate::error_chain::chain;
use crate::fleet::runner::panic_message;
use crate::history::{CompletedRun, RunId};
use crate::run_kind::RunKind;
use crate::store::blocking_io;

/// Interval between checks of the free space.
const SPACE_INTERVAL: Duration = Duration::from_secs(5);
/// The longest sleep: the clock of the system can be set.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// Why the process stopped a run, but not itself.
const LEASE_ENDED: &str =
    "the run was stopped: the lease of its shard was not renewed in time, or the node was evicted";
/// For spooled results at the end of the process; the next start stores the others.
const LAST_DELIVERY: Duration = Duration::from_secs(10);

impl Service {
    /// Runs devices until the process stops and all runs have ended.
    ///
    /// # Cancellation
    /// Must not be dropped: cancel the token of the process instead.
    pub(crate) async fn work(&self) {
        let mut runs = JoinSet::new();
        let mut space = tokio::time::interval(SPACE_INTERVAL);
        space.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut requests = tokio::time::interval(REQUEST_INTERVAL);
        requests.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Windows open and approvals expire.
        let mut approvals = tokio::time::interval(REQUEST_INTERVAL);
        approvals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = &self.inner.stop;
        let is_shared = self.leases().is_some();
        let shards_changed = async || match self.leases() {
            Some(leases) => leases.changed.notified().await,
            None => std::future::pending().await,
        };
        let mut has_shards = true;
        // The first tick is due at once; no run may start before it.
        self.check_space().await;
        let deliver = self.deliver_spooled();
        tokio::pin!(deliver);
        let retention = self.remove_old_data();
        tokio::pin!(retention);
        while !stop.is_cancelled() {
            if self.condition().no_applies.is_none() {
                self.end_expired_requests().await;
            }
            let sleep = self.start_runs(&mut runs);
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.inner.wake.notified() => {}
                _ = runs.join_next(), if !runs.is_empty() => {}
                () = tokio::time::sleep(sleep) => {}
                () = &mut deliver => {}
                () = &mut retention => {}
                _ = space.tick() => self.check_space().await,
                _ = requests.tick(), if is_shared => {
                    if has_shards {
                        self.find_requests().await;
                    } else {
                        // The leases stay, so nothing else would try again.
                        has_shards = self.use_shards().await.is_ok();
                    }
                }
                () = self.inner.requested.notified(), if is_shared => {
                    self.find_requests().await;
                    self.advance_approvals().await;
                }
                () = self.inner.approvals.notified() => self.advance_approvals().await,
                _ = approvals.tick() => self.advance_approvals().await,
                () = shards_changed() => {
                    let used = self.use_shards().await;
                    if let Err(error) = &used {
                        tracing::error!("cannot read the schedules of the acquired devices: {error}");
                    }
                    has_shards = used.is_ok();
                }
            }
        }
        while runs.join_next().await.is_some() {}
        // What the last runs spooled may be stored still.
        drop(tokio::time::timeout(LAST_DELIVERY, self.deliver_now()).await);
        if let Some(leases) = self.leases() {
            leases.ended.cancel();
        }
    }

    /// Starts what can start. Returns the time until the next device is due.
    fn start_runs(&self, runs: &mut JoinSet<()>) -> Duration {
        let Condition {
            no_runs,
            no_applies,
            ..
        } = self.condition();
        if no_runs.is_some() {
            return LONGEST_SLEEP;
        }
        let permitted = if no_applies.is_some() {
            PermittedRuns::ScheduledPlans
        } else {
            PermittedRuns::All
        };
        let now = clock::timestamp();
        let mut dispatcher = self.inner.dispatcher();
        while let Some(start) = dispatcher.next_start(now, permitted) {
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
        // It is not released before the result is stored.
        let Some(right) = self.device_right(&start.device) else {
            return self.cannot_begin(&start, NoStart::Withdrawn);
        };
        self.run_with_right(start, &right).await;
        let is_ending = right.is_ending();
        drop(right);
        if is_ending && let Some(leases) = self.leases() {
            // Another node waits for the shard.
            leases.wake.notify_one();
        }
    }

    pub(super) async fn run_with_right(&self, mut start: RunToStart, right: &HeldRight) {
        let fleet = self.inner.fleet();
        let started = match self.begin(&mut start, right, fleet.release).await {
            Ok(started) => started,
            Err(NoStart::Refused(reason)) => return self.end_refused(&start, reason).await,
            Err(reason) => return self.cannot_begin(&start, reason),
        };
        let (run, requester) = (started.id, started.run.requester.clone());
        let old_release = (start.kind != RunKind::Plan)
            .then(|| {
                plans_only(
                    &fleet,
                    started.newer_release,
                    self.condition().rejected_release,
                )
            })
            .flatten();
        if let Some(reason) = &old_release {
            tracing::warn!("the run only plans: {reason}");
            if started.run.follows_windows {
                start.kind = RunKind::Plan;
            }
        }
        if let Some(run) = run {
            let kind = start.kind;
            self.emit(run, &start, LiveEventKind::Started { kind });
        }
        let observer = live_observer::observer(self, run);
        let request = match &old_release {
            // Who asked for a change must not get a plan for it.
            Some(reason) if start.kind != RunKind::Plan => Err(reason.clone()),
            _ => self.run_request(&fleet, &start, started.approval).await,
        };
        let (request, approval) = match request {
            Ok(found) => found,
            Err(reason) => {
                let completed = CompletedRun::lost(start.kind, reason, clock::timestamp());
                let result = RunResult {
                    right: right.stored(),
                    ..RunResult::of(started.run, completed, &fleet)
                };
                return self.end(&start, result).await;
            }
        };
        let request = right.permit(request, &start.device);
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
                let plans_because = old_release.or(start.plans_because.map(str::to_owned));
                let note = plans_because.map(|reason| format!("the run only plans: {reason}"));
                let lost_lease = ended.stopped && !self.inner.stop.is_cancelled();
                let note = note.or_else(|| lost_lease.then(|| LEASE_ENDED.to_owned()));
                completed.record.hint = completed.record.hint.or(note);
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
            Some(PlanForApproval {
                approval: approval.id,
                plan: approval.plan(&start)?,
            })
        });
        let status = completed.record.status();
        if completed.record.counts.changed > 0 {
            right.set_changed(&start.device);
        }
        let result = RunResult {
            commands,
            plan,
            right: right.stored(),
            ..RunResult::of(started.run, completed, &fleet)
        };
        self.end(&start, result).await;
        if let Some(approval) = approval.filter(ApprovalRun::is_applied) {
            self.end_approved(approval.id, &start.device, status).await;
        }
        if let (Some(settings), Some(backup)) = (&fleet.settings.backup, backup) {
            let read = RunBackup {
                device: start.device.to_string(),
                run,
                user: requester.to_string(),
                backup,
            };
            self.back_up(settings, read).await;
        }
    }

    /// Writes what was read of a device to its files.
    async fn back_up(&self, settings: &BackupSettings, read: RunBackup) {
        let written = self.inner.backups.write(settings, read, &self.inner.stop);
        let problem = written.await.err().map(|error| error.text());
        if let Some(problem) = &problem {
            tracing::error!("{problem}");
        }
        self.inner.condition().failed_backup = problem;
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
                let known = within_limit(self.store().has_configuration(&start.device)).await;
                known.is_ok_and(|known| !known)
            }
        }
    }

    /// Writes what plans left of the state of devices to the store.
    pub(super) async fn synchronize_states(&self) {
        let fleet = self.inner.fleet();
        let synchronized = blocking_io::run(move || fleet.synchronize_states()).await;
        if let Err(error) = synchronized {
            tracing::warn!(
                "the state of devices waits for the store: {}",
                chain(&error)
            );
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
