//! The leases of this process: they are renewed, and runs get their rights from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::lease_store::LeaseStore;
use super::right::LeaseRight;
use super::rule::{LeaseRule, NodeSituation, ShardProblem};
use super::times::LeaseTimes;
use crate::clock;
use crate::counted::counted;
use crate::history::leases::{DEFAULT_SITE, FleetTask, LeaseSubject, NodeRecord, Shard};
use crate::history::run::RunRight;

/// The shortest time between two exchanges.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);

/// The leases of a node, as its tasks and runs see them.
pub(crate) struct Leases {
    store: Arc<dyn LeaseStore>,
    times: LeaseTimes,
    /// The process stops.
    stop: CancellationToken,
    /// All runs have ended.
    pub(crate) ended: CancellationToken,
    /// The shards to run have changed.
    pub(crate) changed: Notify,
    /// An exchange is useful before its time.
    pub(crate) wake: Notify,
    smallest_margin: Arc<AtomicU64>,
    state: Mutex<LeasesState>,
}

struct LeasesState {
    rule: LeaseRule,
    rights: BTreeMap<LeaseSubject, Arc<LeaseRight>>,
    /// Why the last exchange has no answer.
    problem: Option<String>,
    takeovers: u64,
}

/// The part of the shards of a site that this node has: its part of the limits of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteShare {
    pub(crate) held: u32,
    pub(crate) all: u32,
}

impl SiteShare {
    /// The part of a limit. Each shard has one run at least.
    pub(crate) fn of(self, limit: usize) -> usize {
        let all = usize::try_from(self.all.max(1)).unwrap_or(usize::MAX);
        let held = usize::try_from(self.held.max(1)).unwrap_or(usize::MAX);
        (limit.saturating_mul(held) / all).max(held)
    }
}

/// Who starts the runs of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeviceOwner {
    This,
    Other {
        node: String,
        /// Why no run changes a device there, and requests wait.
        no_applies: Option<String>,
    },
    Nobody {
        reason: String,
    },
}

/// Numbers for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub(crate) struct LeaseNumbers {
    /// Shards of this node.
    pub(crate) shards: usize,
    /// Shards of the fleet.
    pub(crate) all_shards: usize,
    /// Sites that no node may run.
    pub(crate) sites_without_node: usize,
    /// The time since the oldest renewal of a lease of this node.
    pub(crate) oldest_renewal_seconds: u64,
    /// The smallest time that was left at a write. `None`: there was no write.
    pub(crate) smallest_margin_milliseconds: Option<u64>,
    /// Leases that were acquired from another node since the start.
    pub(crate) takeovers: u64,
}

impl Leases {
    pub(crate) fn new(
        store: Arc<dyn LeaseStore>,
        node: NodeRecord,
        times: LeaseTimes,
        stop: CancellationToken,
    ) -> Self {
        Self {
            store,
            times,
            stop,
            ended: CancellationToken::new(),
            changed: Notify::new(),
            wake: Notify::new(),
            smallest_margin: Arc::new(AtomicU64::new(u64::MAX)),
            state: Mutex::new(LeasesState {
                rule: LeaseRule::new(times, node),
                rights: BTreeMap::new(),
                problem: None,
                takeovers: 0,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, LeasesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges once with the store. Returns the time until the next one.
    ///
    /// # Cancellation
    /// Must not be dropped: runs are stopped here while the store does not answer.
    pub(crate) async fn exchange(&self, mut situation: NodeSituation) -> Duration {
        let sent = clock::boot_time();
        let request = {
            let mut state = self.state();
            let busy = state
                .rights
                .iter()
                .filter(|(_, right)| Arc::strong_count(right) > 1);
            situation.busy = busy.map(|(subject, _)| subject.clone()).collect();
            let request = state.rule.request(sent, rand::random(), &situation);
            // A released lease ends before the request is sent.
            for subject in &request.release {
                if let Some(right) = state.rights.remove(subject) {
                    right.mark_lost();
                }
            }
            let ending: Vec<LeaseSubject> = {
                let held = state.rule.held().iter();
                held.filter(|(_, held)| held.is_ending)
                    .map(|(subject, _)| subject.clone())
                    .collect()
            };
            let is_new = ending
                .iter()
                .any(|subject| state.rights.get(subject).is_some_and(|right| right.end()));
            if is_new {
                self.changed.notify_one();
            }
            request
        };
        let answer = {
            let exchange = self.store.exchange(&request);
            tokio::pin!(exchange);
            loop {
                tokio::select! {
                    answer = &mut exchange => break answer,
                    () = tokio::time::sleep(self.times.beat()) => self.stop_old_runs(),
                }
            }
        };
        let now = clock::boot_time();
        let mut state = self.state();
        let before = (open(&state.rights), state.rule.sites().clone());
        match answer {
            Ok(answer) => {
                if answer.interrupted > 0 {
                    let runs = counted(answer.interrupted, "run");
                    tracing::warn!("interrupted by the end of their node: {runs}");
                }
                let changes = state.rule.answer((sent, now), &request, answer);
                state.takeovers += u64::try_from(changes.taken_over).unwrap_or_default();
                for subject in &changes.lost {
                    tracing::error!(
                        "the lease `{subject}` is lost: it has expired, another node has it, or the store forgot it"
                    );
                }
                for subject in &changes.acquired {
                    tracing::info!("the lease `{subject}` is acquired");
                }
                if state.problem.take().is_some() {
                    tracing::warn!("the store answers again");
                }
                self.use_leases(&mut state);
            }
            Err(error) => {
                state.rule.no_answer(&request);
                if state.problem.is_none() {
                    tracing::error!("cannot renew the leases: {error}");
                }
                state.problem = Some(error.to_string());
            }
        }
        if before != (open(&state.rights), state.rule.sites().clone()) {
            self.changed.notify_one();
        }
        let next = if state.problem.is_some() {
            self.times.beat()
        } else {
            state.rule.next_request(clock::boot_time())
        };
        drop(state);
        self.stop_old_runs();
        next.max(SHORTEST_PAUSE.min(self.times.beat()))
    }

    /// Gives rights for the leases that the rule has now.
    fn use_leases(&self, state: &mut LeasesState) {
        let LeasesState { rule, rights, .. } = state;
        let (held, node) = (rule.held(), &rule.node().name);
        rights.retain(|subject, right| {
            let is_held = held
                .get(subject)
                .is_some_and(|held| held.epoch == right.run.epoch);
            if !is_held {
                right.mark_lost();
            }
            is_held
        });
        for (subject, held) in held {
            let right = rights.entry(subject.clone()).or_insert_with(|| {
                let run = RunRight {
                    node: node.clone(),
                    shard: subject.name(),
                    epoch: held.epoch,
                };
                let lease = (subject.clone(), run);
                Arc::new(LeaseRight::new(
                    lease,
                    self.times,
                    &self.stop,
                    &self.smallest_margin,
                ))
            });
            right.renew(held.sent, held.is_ending, &self.stop);
        }
    }

    /// Ends runs whose leases were not renewed for a long time.
    fn stop_old_runs(&self) {
        let now = clock::boot_time();
        for right in self.state().rights.values() {
            right.stop_if_old(now);
        }
    }

    /// The right to run a device. It is released when it is dropped. `None`: another node has the device, or will have.
    pub(crate) fn right(&self, device: &str, site: Option<&str>) -> Option<Arc<LeaseRight>> {
        let state = self.state();
        let shard = state.rule.shard_of(device, site.unwrap_or(DEFAULT_SITE))?;
        let right = state.rights.get(&LeaseSubject::Shard(shard))?;
        right.is_open().then(|| Arc::clone(right))
    }

    /// The shard of a device.
    pub(crate) fn shard_of(&self, device: &str, site: Option<&str>) -> Option<Shard> {
        self.state()
            .rule
            .shard_of(device, site.unwrap_or(DEFAULT_SITE))
    }

    /// The right to do a task of the fleet.
    pub(crate) fn task(&self, task: FleetTask) -> Option<Arc<LeaseRight>> {
        let state = self.state();
        let right = state.rights.get(&LeaseSubject::Task(task))?;
        right.is_open().then(|| Arc::clone(right))
    }

    /// Whether this process is the node of its name.
    pub(crate) fn has_name(&self) -> bool {
        self.state().rule.has_name()
    }

    /// The name of this node.
    pub(crate) fn node(&self) -> String {
        self.state().rule.node().name.clone()
    }

    /// The part of each site that this node has.
    pub(crate) fn shares(&self) -> BTreeMap<String, SiteShare> {
        let state = self.state();
        let sites = state.rule.sites().values();
        let shares = sites.map(|site| {
            let held = state.rights.keys().filter(
                |subject| matches!(subject, LeaseSubject::Shard(shard) if shard.site == site.name),
            );
            let share = SiteShare {
                held: u32::try_from(held.count()).unwrap_or(u32::MAX),
                all: site.shards,
            };
            (site.name.clone(), share)
        });
        shares.collect()
    }

    /// Why this process may run no device.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.state().rule.refusal(clock::boot_time())
    }

    /// The sites that no node may run. `None`: there is none.
    pub(crate) fn no_node(&self) -> Option<String> {
        let (now, state) = (clock::boot_time(), self.state());
        let sites = state.rule.sites_without_node(now);
        let texts = sites
            .iter()
            .map(|site| no_node(site, &state.rule.idle_nodes(site, now)));
        (!sites.is_empty()).then(|| texts.collect::<Vec<_>>().join("; "))
    }

    /// Who starts the runs of a device.
    pub(crate) fn device_owner(&self, device: &str, site: Option<&str>) -> DeviceOwner {
        let (now, site) = (clock::boot_time(), site.unwrap_or(DEFAULT_SITE));
        let state = self.state();
        let Some(shard) = state.rule.shard_of(device, site) else {
            let problem = state.problem.clone();
            let reason = problem.unwrap_or_else(|| "the fleet is not known yet".to_owned());
            return DeviceOwner::Nobody { reason };
        };
        let left = |time: Duration| format!("{} s left", time.as_secs());
        let reason = match state.rule.shard_problem(&shard, now) {
            ShardProblem::Owner(node) if node == state.rule.node().name => {
                return DeviceOwner::This;
            }
            ShardProblem::Owner(node) => {
                let no_applies = state.rule.no_applies(&node);
                return DeviceOwner::Other { node, no_applies };
            }
            ShardProblem::NoNode => no_node(site, &state.rule.idle_nodes(site, now)),
            ShardProblem::Takeover(time) => format!("lease in takeover, {}", left(time)),
            ShardProblem::Amnesty(time) => {
                format!(
                    "the database was restarted: no node acquires a lease, {}",
                    left(time)
                )
            }
            ShardProblem::Free => "a node is about to acquire the shard".to_owned(),
            ShardProblem::Reshard => format!("the number of shards of the site {site} changes"),
        };
        DeviceOwner::Nobody { reason }
    }

    pub(crate) fn numbers(&self) -> LeaseNumbers {
        let (now, state) = (clock::boot_time(), self.state());
        let is_shard = |subject: &LeaseSubject| matches!(subject, LeaseSubject::Shard(_));
        let held = state.rule.held().iter();
        let ages = state
            .rule
            .held()
            .values()
            .map(|held| now.since(held.sent).as_secs());
        let margin = self.smallest_margin.load(Ordering::Relaxed);
        let sites = state.rule.sites().values();
        let all_shards: u32 = sites.map(|site| site.shards).sum();
        let without = state.rule.sites_without_node(now);
        LeaseNumbers {
            shards: held.filter(|(subject, _)| is_shard(subject)).count(),
            all_shards: usize::try_from(all_shards).unwrap_or(usize::MAX),
            sites_without_node: without.len(),
            oldest_renewal_seconds: ages.max().unwrap_or_default(),
            smallest_margin_milliseconds: (margin != u64::MAX).then_some(margin),
            takeovers: state.takeovers,
        }
    }
}

/// The subjects for which work may begin.
fn open(rights: &BTreeMap<LeaseSubject, Arc<LeaseRight>>) -> BTreeSet<LeaseSubject> {
    let open = rights.iter().filter(|(_, right)| right.is_open());
    open.map(|(subject, _)| subject.clone()).collect()
}

fn no_node(site: &str, idle: &[String]) -> String {
    if !idle.is_empty() {
        return format!("no node for site {site}: {}", idle.join(", "));
    }
    format!(
        "no node for site {site}: start one with `sites = [\"{site}\"]` in [fleet], or one without `sites`, unless \
         a node names this site"
    )
}
