//! A hub answers the calls of workers: each only about the sites of the worker's token.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::protocol::{LinkCall, Refusal, StateCall};
use crate::history::leases::{DEFAULT_SITE, LeaseRequest, LeaseSubject, Shard};
use crate::history::run::RunRight;
use crate::history::run_key::RunKey;
use crate::history::{HistoryStore, HistoryWriter, Requester, RunId};
use crate::serve::access::WorkerIdentity;
use crate::serve::audit_copies;
use crate::serve::lease::lease_store::LeaseStore as _;
use crate::serve::lease::protocol::PROTOCOL;
use crate::serve::lease::shard::MOST_SHARDS;
use crate::serve::release::{RELEASE_ACCESS, ReleaseSource as _};
use crate::serve::run_store::{
    EndedRun, RunStart, RunStore, RunStoreError, StartCause, StoreProblem,
};
use crate::serve::service::Service;
use crate::serve::settings::LONGEST_LEASE;
use crate::store::blocking_io;
use crate::store::state_table::StateTable as _;

/// What a hub knows while it answers a worker.
pub(crate) struct HubDesk<'a> {
    service: &'a Service,
    history: &'a HistoryStore,
    worker: &'a WorkerIdentity,
}

impl<'a> HubDesk<'a> {
    /// # Errors
    /// The process is no hub.
    pub(crate) fn new(service: &'a Service, worker: &'a WorkerIdentity) -> Result<Self, Refusal> {
        let history = service.history();
        if !history.is_shared() {
            return Err(Refusal::NoHub);
        }
        Ok(Self {
            service,
            history,
            worker,
        })
    }

    /// The answer of a call, as JSON.
    pub(crate) async fn answer(&self, call: LinkCall) -> Result<String, Refusal> {
        self.check(&call).await?;
        let history = self.history;
        Ok(match call {
            LinkCall::Exchange(request) => {
                let answer = history.exchange(&request).await;
                json(&answer.map_err(|error| Refusal::Unavailable(error.reason))?)
            }
            LinkCall::Identify => json(self.worker),
            LinkCall::Space => stored(RunStore::space(history).await)?,
            LinkCall::UseDevices { devices, time } => {
                // Other nodes have other devices.
                let write =
                    move |writer: &HistoryWriter<'_>| writer.update_devices(&devices, false, time);
                stored(history.write(write).await.map_err(RunStoreError::from))?
            }
            LinkCall::Schedules => {
                let mut schedules = history.schedules().await;
                if let Ok(found) = &mut schedules {
                    let own = self.own(found.keys().cloned().collect()).await?;
                    found.retain(|device, _| own.contains(device));
                }
                stored(schedules)?
            }
            LinkCall::Paused => {
                let mut paused = history.paused().await;
                if let Ok(found) = &mut paused {
                    *found = self.own(std::mem::take(found)).await?;
                }
                stored(paused)?
            }
            LinkCall::SetDue { due, time } => stored(history.set_due(due, time).await)?,
            LinkCall::Requests => {
                let mut requests = history.requests().await;
                if let Ok(found) = &mut requests {
                    let devices = found.iter().map(|request| request.run.device.clone());
                    let own = self.own(devices.collect()).await?;
                    found.retain(|request| own.contains(&request.run.device));
                }
                stored(requests)?
            }
            LinkCall::Begin(start) => stored(history.begin(start).await)?,
            LinkCall::Finish(ended) => self.finish(ended).await?,
            LinkCall::Cancel(cancel) => stored(history.cancel(cancel).await)?,
            LinkCall::HasConfiguration { device } => {
                stored(history.has_configuration(&device).await)?
            }
            LinkCall::OpenApprovals { time } => {
                let mut approvals = history.open_approvals(time).await;
                if let Ok(found) = &mut approvals {
                    let devices = found.iter().map(|approval| approval.device.clone());
                    let own = self.own(devices.collect()).await?;
                    found.retain(|approval| own.contains(&approval.device));
                }
                stored(approvals)?
            }
            LinkCall::EndApproval { approval } => stored(history.end_approval(approval).await)?,
            LinkCall::AddApprovedRun { approval, run } => {
                stored(history.add_approved_run(approval, run).await)?
            }
            LinkCall::NewestRelease { newer_than } => {
                let newest = history.newest(newer_than).await;
                let mut newest = newest.map_err(|error| Refusal::Unavailable(text(&error)))?;
                // A worker has no users.
                if let Some(release) = &mut newest {
                    release.files.remove(RELEASE_ACCESS);
                }
                json(&newest)
            }
            LinkCall::Blob { sha256 } => {
                let digest = sha256.clone();
                let is_of_inputs = history
                    .query(move |reader| reader.is_in_a_file_beside(&digest, RELEASE_ACCESS));
                if !is_of_inputs.await? {
                    return Err(self.foreign("a content that no input of a release has"));
                }
                let blob = history.blob(&sha256).await;
                let blob = blob.map_err(|error| Refusal::Unavailable(text(&error)))?;
                json(&STANDARD.encode(blob))
            }
            LinkCall::Publish(part) => {
                self.service.publish_live(part).await?;
                json(&())
            }
            LinkCall::AuditEnd => {
                let end = audit_copies::audit_end(history, &self.worker.node).await;
                stored(end.map_err(RunStoreError::from))?
            }
            LinkCall::AddAuditPart(part) => {
                let added = audit_copies::add_audit_part(history, &self.worker.node, part).await;
                stored(added.map_err(RunStoreError::from))?
            }
            LinkCall::State(StateCall::Devices) => {
                let history = history.clone();
                let mut devices = blocking_io::run(move || history.devices()).await;
                if let Ok(found) = &mut devices {
                    let own = self.own(found.iter().cloned().collect()).await?;
                    found.retain(|device| own.contains(device));
                }
                json(&devices)
            }
            LinkCall::State(call) => {
                let history = history.clone();
                blocking_io::run(move || of_table(&history, call)).await
            }
        })
    }

    /// Stores a result. A worker reports to PuppetDB about the device of the run only.
    async fn finish(&self, mut ended: Arc<EndedRun>) -> Result<String, Refusal> {
        let EndedRun { run, commands, .. } = Arc::make_mut(&mut ended);
        let name = self.service.fleet().certname(&run.device);
        let before = commands.len();
        commands.retain(|command| Some(&command.certname) == name.as_ref());
        let removed = before - commands.len();
        if removed > 0 {
            let reason = match name {
                Some(name) => format!("this hub has the certname {name} for it"),
                None => "this hub does not know the device, such as with an earlier release".into(),
            };
            let device = &run.device;
            tracing::warn!("facts and report of {device} are not sent to PuppetDB: {reason}");
        }
        stored(self.history.finish_without(ended, removed).await)
    }

    /// Refuses a call about a device, a lease or a node that is not the worker's.
    async fn check(&self, call: &LinkCall) -> Result<(), Refusal> {
        match call {
            LinkCall::Identify
            | LinkCall::Space
            | LinkCall::Schedules
            | LinkCall::Paused
            | LinkCall::Requests
            | LinkCall::OpenApprovals { .. }
            // They are about the log of the worker, whatever they say.
            | LinkCall::AuditEnd
            | LinkCall::AddAuditPart(_)
            | LinkCall::State(StateCall::Devices | StateCall::Key | StateCall::UseKey { .. })
            | LinkCall::NewestRelease { .. }
            | LinkCall::Blob { .. } => Ok(()),
            LinkCall::Exchange(request) => self.check_exchange(request),
            LinkCall::UseDevices { devices, .. } => {
                for device in devices {
                    let site = device.site.as_deref().unwrap_or(DEFAULT_SITE);
                    self.check_site(site, &device.name)?;
                    self.check_known(&device.name).await?;
                }
                Ok(())
            }
            LinkCall::SetDue { due, .. } => {
                for one in due {
                    self.check_device(&one.device).await?;
                }
                Ok(())
            }
            LinkCall::Begin(start) => self.check_begin(start).await,
            LinkCall::Finish(ended) => self.check_finish(ended).await,
            LinkCall::Cancel(cancel) => self.check_run_of_site(cancel.run).await,
            LinkCall::EndApproval { approval } => self.check_approval(*approval).await,
            LinkCall::AddApprovedRun { approval, run } => {
                self.check_device(&run.device).await?;
                let key = RunKey::Uuid(run.uuid);
                self.check_run(key, &run.device).await?;
                self.check_approval(*approval).await
            }
            LinkCall::HasConfiguration { device }
            | LinkCall::State(StateCall::Get { device, .. } | StateCall::Files { device }) => {
                self.check_running_device(device).await
            }
            LinkCall::State(StateCall::Change(change)) => {
                self.check_running_device(&change.device).await
            }
            LinkCall::Publish(part) => {
                if part.events.iter().any(|event| event.run != part.run) {
                    return Err(self.foreign("events of another run"));
                }
                self.check_run_of_site(part.run).await
            }
        }
    }

    fn check_exchange(&self, request: &LeaseRequest) -> Result<(), Refusal> {
        let node = &request.node;
        if node.name != self.worker.node || node.is_hub {
            return Err(self.foreign(&format!("the node {}", node.name)));
        }
        // All nodes follow these numbers.
        let lease = Duration::from_millis(node.lease_ms);
        if node.protocol > PROTOCOL.saturating_add(1) || lease > LONGEST_LEASE {
            return Err(self.foreign("a protocol or a lease that no node has"));
        }
        if request.sites.values().any(|shards| *shards > MOST_SHARDS) {
            return Err(self.foreign("so many shards"));
        }
        if request.confirms_server {
            return Err(self.foreign("confirming the server of the database"));
        }
        let of_devices = node.sites.iter().chain(request.sites.keys());
        for site in of_devices {
            self.check_site(site, &format!("the site {site}"))?;
        }
        // Without a site, a node has those that no node names.
        if node.sites.is_empty() {
            return Err(self.foreign("all sites"));
        }
        let acquired = request.acquire.iter().map(|claim| &claim.subject);
        let all = acquired.chain(&request.renew).chain(&request.release);
        for subject in all {
            match subject {
                LeaseSubject::Shard(shard) => {
                    self.check_site(&shard.site, &format!("the shard {shard}"))?;
                }
                LeaseSubject::Task(_) => return Err(self.foreign(&subject.to_string())),
            }
        }
        Ok(())
    }

    async fn check_begin(&self, start: &RunStart) -> Result<(), Refusal> {
        self.check_device(&start.device).await?;
        let right = start.right.as_ref();
        self.check_right(right.ok_or_else(|| self.foreign("a run without a lease"))?)?;
        match &start.cause {
            StartCause::Request(run) => self.check_run(RunKey::Number(*run), &start.device).await,
            StartCause::New(run) if run.device != start.device => {
                Err(self.foreign(&format!("a run of {}", run.device)))
            }
            StartCause::New(run) if run.requester != Requester::schedule() => {
                Err(self.foreign(&format!("a run of {}", run.requester)))
            }
            StartCause::New(run) => self.check_run(RunKey::Uuid(run.uuid), &run.device).await,
        }
    }

    /// A result is of a run that the worker began, or of a device of its sites. A device can have moved to another site
    /// during the run.
    async fn check_finish(&self, ended: &EndedRun) -> Result<(), Refusal> {
        let device = &ended.run.device;
        if ended.due.device != *device {
            return Err(self.foreign("the times of another device"));
        }
        // Its shard can be that of a site with another name since: the store compares it with the lease.
        if let Some(right) = &ended.right {
            self.check_node(right)?;
        }
        let run = RunKey::Uuid(ended.run.uuid);
        self.check_run(run, device).await?;
        let node = self.worker.node.clone();
        let is_own = self
            .history
            .query(move |reader| match reader.run_number(run)? {
                Some(number) => reader.is_run_of(number, &node),
                None => Ok(false),
            });
        if !is_own.await? {
            self.check_device(device).await?;
        }
        match &ended.plan {
            Some(plan) if self.device_of_approval(plan.approval).await? != *device => {
                Err(self.foreign("the approval of another device"))
            }
            _ => Ok(()),
        }
    }

    fn check_node(&self, right: &RunRight) -> Result<(), Refusal> {
        if right.node == self.worker.node {
            Ok(())
        } else {
            Err(self.foreign(&format!("a run of the node {}", right.node)))
        }
    }

    /// The right of a run names the node and its shard. The store compares it with the lease.
    fn check_right(&self, right: &RunRight) -> Result<(), Refusal> {
        self.check_node(right)?;
        let what = format!("the shard {}", right.shard);
        match right.shard.parse::<Shard>() {
            Ok(shard) => self.check_site(&shard.site, &what),
            Err(_) => Err(self.foreign(&what)),
        }
    }

    fn check_site(&self, site: &str, what: &str) -> Result<(), Refusal> {
        if self.worker.sites.contains(site) {
            Ok(())
        } else {
            Err(self.foreign(what))
        }
    }

    /// A device of the settings, or of the store, that has another site.
    async fn check_known(&self, device: &str) -> Result<(), Refusal> {
        match self.site_of(device).await? {
            Some(site) => self.check_site(&site, device),
            None => Ok(()),
        }
    }

    async fn check_device(&self, device: &str) -> Result<(), Refusal> {
        match self.site_of(device).await? {
            Some(site) => self.check_site(&site, device),
            None => Err(self.foreign(device)),
        }
    }

    /// The site of a device. `None`: it is not known.
    async fn site_of(&self, device: &str) -> Result<Option<String>, Refusal> {
        let site = |site: Option<&String>| site.map_or(DEFAULT_SITE, String::as_str).to_owned();
        if let Some(known) = self.service.fleet().known_device(device) {
            return Ok(Some(site(known.site.as_ref())));
        }
        let name = device.to_owned();
        let found = self.history.query(move |reader| reader.known_device(&name));
        Ok(found.await?.map(|known| site(known.site.as_ref())))
    }

    /// As [`HubDesk::check_device`], and a device that has moved to another site during a run of the worker.
    async fn check_running_device(&self, device: &str) -> Result<(), Refusal> {
        let answer = self.check_device(device).await;
        if !matches!(answer, Err(Refusal::Foreign { .. })) {
            return answer;
        }
        let (name, node) = (device.to_owned(), self.worker.node.clone());
        let runs = self
            .history
            .query(move |reader| reader.runs_device(&node, &name));
        if runs.await? { Ok(()) } else { answer }
    }

    /// The devices of a list that are of the worker's sites.
    async fn own(&self, devices: BTreeSet<String>) -> Result<BTreeSet<String>, Refusal> {
        let mut own = BTreeSet::new();
        for device in devices {
            match self.check_device(&device).await {
                Ok(()) => drop(own.insert(device)),
                Err(Refusal::Foreign { .. }) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(own)
    }

    /// A run that is stored is of this device.
    async fn check_run(&self, run: RunKey, device: &str) -> Result<(), Refusal> {
        match self.device_of(run).await? {
            Some(found) if found != device => Err(self.foreign("the run of another device")),
            _ => Ok(()),
        }
    }

    async fn check_run_of_site(&self, run: RunId) -> Result<(), Refusal> {
        let device = self.device_of(RunKey::Number(run)).await?;
        let device = device.ok_or_else(|| self.foreign(&format!("the run {run}")))?;
        self.check_running_device(&device).await
    }

    async fn device_of(&self, run: RunKey) -> Result<Option<String>, Refusal> {
        let found = self
            .history
            .query(move |reader| match reader.run_number(run)? {
                Some(number) => Ok(reader.run(number)?.map(|run| run.device)),
                None => Ok(None),
            });
        Ok(found.await?)
    }

    async fn check_approval(&self, approval: i64) -> Result<(), Refusal> {
        let device = self.device_of_approval(approval).await?;
        self.check_device(&device).await
    }

    async fn device_of_approval(&self, approval: i64) -> Result<String, Refusal> {
        let now = crate::clock::timestamp();
        let found = self
            .history
            .query(move |reader| reader.approval(approval, now));
        match found.await? {
            Some((found, _)) => Ok(found.device),
            None => Err(self.foreign(&format!("the approval {approval}"))),
        }
    }

    fn foreign(&self, what: &str) -> Refusal {
        Refusal::Foreign {
            node: self.worker.node.clone(),
            what: what.to_owned(),
        }
    }
}

/// Calls about states of devices. They block.
fn of_table(history: &HistoryStore, call: StateCall) -> String {
    match call {
        StateCall::Get { device, file } => json(&history.get(&device, &file)),
        StateCall::Change(change) => json(&history.change(&change)),
        StateCall::Files { device } => json(&history.files(&device)),
        StateCall::Devices => json(&history.devices()),
        StateCall::Key => json(&history.key()),
        StateCall::UseKey { fingerprint } => json(&history.use_key(&fingerprint)),
    }
}

/// The answer of the store. If it cannot be reached from here, another hub can.
fn stored<T: Serialize>(answer: Result<T, RunStoreError>) -> Result<String, Refusal> {
    match answer {
        Err(error) if error.problem == StoreProblem::Unreachable => {
            Err(Refusal::Unavailable(error.text))
        }
        answer => Ok(json(&answer)),
    }
}

fn json(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("an answer is JSON")
}

fn text(error: &dyn std::error::Error) -> String {
    crate::error_chain::chain(error)
}
