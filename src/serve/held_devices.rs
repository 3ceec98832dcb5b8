//! The devices that this process runs: all of them, or in a fleet those of the shards that it has leased.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::session::fence::Fence;
use tokio::sync::broadcast::error::RecvError;

use super::dispatcher::ScheduledDevice;
use super::fleet::ServeFleet;
use super::lease::identity;
use super::lease::leases::Leases;
use super::lease::right::LeaseRight;
use super::lease::rule::NodeSituation;
use super::lease::shard;
use super::requested_runs::REQUEST_TOPIC;
use super::run_store::RunStoreError;
use super::service::Service;
use crate::clock;
use crate::fleet::run_request::RunRequest;
use crate::history::LEASE_TOPIC;
use crate::history::leases::{DEFAULT_SITE, FleetTask};
use crate::history::notifications::StoreNotification;
use crate::history::run::RunRight;
use crate::run_kind::RunKind;

/// The last exchange of a process that stops waits no longer.
const LAST_EXCHANGE: Duration = Duration::from_secs(5);

/// The right to run a device or to do a task, as long as it lives.
pub(crate) struct HeldRight {
    /// `None`: there is no other process.
    pub(super) lease: Option<Arc<LeaseRight>>,
}

impl HeldRight {
    /// Whether the lease is released when its last run has ended.
    pub(super) fn is_ending(&self) -> bool {
        let lease = self.lease.as_ref();
        lease.is_some_and(|lease| !lease.is_open())
    }

    /// What a run stores about it.
    pub(super) fn stored(&self) -> Option<RunRight> {
        Some(self.lease.as_ref()?.run.clone())
    }

    /// The request of a run with this right.
    pub(super) fn permit(&self, request: RunRequest, device: &str) -> RunRequest {
        let Some(lease) = &self.lease else {
            return request;
        };
        let changes = request.kind == RunKind::Apply;
        RunRequest {
            // Plans go on without the store.
            stop: if changes { lease.stop() } else { request.stop },
            stop_grace: changes.then(|| lease.stop_grace()),
            epoch: Some(lease.run.epoch),
            ends_sessions: changes && !lease.has_changed(device),
            right: Some(Arc::clone(lease) as Arc<dyn Fence>),
            ..request
        }
    }

    /// A run has changed a device.
    pub(super) fn set_changed(&self, device: &str) {
        if let Some(lease) = &self.lease {
            lease.set_changed(device);
        }
    }
}

impl Service {
    /// The leases of a fleet. `None`: this process is alone.
    pub(crate) fn leases(&self) -> Option<&Leases> {
        self.inner.leases.as_ref()
    }

    /// Renews the leases until all runs have ended.
    ///
    /// # Cancellation
    /// Must not be dropped: cancel the token of the process instead.
    pub(crate) async fn hold_leases(&self) {
        let Some(leases) = self.leases() else {
            return;
        };
        loop {
            let mut situation = self.situation();
            if leases.ended.is_cancelled() {
                situation.is_stopped = true;
                // Without an answer, other nodes wait until the leases expire.
                drop(tokio::time::timeout(LAST_EXCHANGE, leases.exchange(situation)).await);
                return;
            }
            let pause = leases.exchange(situation).await;
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = leases.wake.notified() => {}
                () = leases.ended.cancelled() => {}
            }
        }
    }

    fn situation(&self) -> NodeSituation {
        let fleet = self.fleet();
        let mut devices: BTreeMap<String, usize> = BTreeMap::new();
        for site in fleet.sites() {
            *devices
                .entry(site.unwrap_or(DEFAULT_SITE).to_owned())
                .or_default() += 1;
        }
        let condition = self.inner.condition().clone();
        // Who is refused has no shards, and acquires some at once when it is not.
        let refused = condition.refused;
        let no_runs = condition.no_runs.filter(|_| refused.is_none());
        let reason = fleet.rejected_release.clone();
        let no_devices = devices
            .is_empty()
            .then(|| reason.unwrap_or_else(|| "the node has no devices".to_owned()));
        let webhooks = &fleet.settings.web.webhooks;
        let dispatcher = self.inner.dispatcher();
        NodeSituation {
            lateness_seconds: dispatcher.lateness(clock::timestamp()).as_secs(),
            load_percent: identity::load_percent(),
            running: u32::try_from(dispatcher.running()).unwrap_or(u32::MAX),
            release: fleet.release.map(|release| release.0),
            rejected_release: condition.rejected_release,
            no_runs: no_runs.or(no_devices),
            no_applies: condition.no_applies,
            has_puppetdb: fleet.settings.puppetdb.is_some(),
            webhooks: webhooks.iter().map(|one| one.name.clone()).collect(),
            is_stopping: self.inner.stop.is_cancelled(),
            sites: devices
                .into_iter()
                .map(|(site, devices)| (site, shard::shards_for(devices)))
                .collect(),
            ..NodeSituation::default()
        }
    }

    /// Receives what other processes request until the process stops.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn receive_requests(&self) {
        let mut notifications = self.history().notifications();
        loop {
            let received = tokio::select! {
                () = self.inner.stop.cancelled() => return,
                received = notifications.recv() => received,
            };
            match received {
                Ok(StoreNotification::Message { topic, .. }) if topic == LEASE_TOPIC => {
                    if let Some(leases) = self.leases() {
                        leases.wake.notify_one();
                    }
                }
                Ok(StoreNotification::Message { topic, .. }) if topic != REQUEST_TOPIC => {}
                Ok(_) | Err(RecvError::Lagged(_)) => self.inner.requested.notify_one(),
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// The right to run a device. `None`: another process has the device.
    pub(super) fn device_right(&self, device: &str) -> Option<HeldRight> {
        let Some(leases) = self.leases() else {
            return Some(HeldRight { lease: None });
        };
        let fleet = self.fleet();
        let lease = leases.right(device, fleet.site(device))?;
        Some(HeldRight { lease: Some(lease) })
    }

    /// The right to do a task. `None`: another process does it.
    pub(crate) fn task_right(&self, task: FleetTask) -> Option<HeldRight> {
        let Some(leases) = self.leases() else {
            return Some(HeldRight { lease: None });
        };
        let lease = leases.task(task)?;
        Some(HeldRight { lease: Some(lease) })
    }

    /// The devices that this process runs.
    pub(super) fn held(&self, fleet: &ServeFleet) -> Vec<ScheduledDevice> {
        let mut devices = fleet.scheduled();
        if let Some(leases) = self.leases() {
            devices.retain(|device| {
                let site = device.member.site.as_deref();
                leases.right(&device.name, site).is_some()
            });
        }
        devices
    }

    /// The shard of a device as text, for notifications.
    pub(super) fn shard_text(&self, device: &str) -> String {
        let fleet = self.fleet();
        let shard = self
            .leases()
            .and_then(|leases| leases.shard_of(device, fleet.site(device)));
        shard.map(|shard| shard.to_string()).unwrap_or_default()
    }

    /// Runs the devices of the shards that this process has now.
    ///
    /// # Errors
    /// If their schedules cannot be read. Until this succeeds, devices of new shards do not run.
    pub(super) async fn use_shards(&self) -> Result<(), RunStoreError> {
        let fleet = self.fleet();
        self.schedule_held(&fleet).await?;
        self.try_find_requests().await?;
        self.inner.wake.notify_one();
        Ok(())
    }
}
