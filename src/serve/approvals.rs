//! Plans that need the approval of a person: they are made, wait, and run exactly as approved.
//!
//! An approved plan runs in the next change window of its device, once. A run that would do anything else than the plan
//! is refused, and needs a new approval.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use switchtender_devices::definitions;

use super::dispatcher::{RunCause, RunToStart};
use super::fleet::ServeFleet;
use super::request::RunRequestError;
use super::requested_runs::{REQUEST_PRIORITY, REQUEST_TOPIC};
use super::run_store::{RunStoreError, within_limit};
use super::schedule::DeviceSchedule;
use super::service::Service;
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::run_request::RunRequest;
use crate::fleet::stored_plan::{
    PlanSources, PlanUse, PlannedDevices, StoredPlan, definitions_digest,
};
use crate::history::approvals::{
    ApprovalDecision, ApprovalEntry, ApprovalOfRun, ApprovalState, NewApproval,
};
use crate::history::{HistoryError, NewRun, Requester, RunId, RunUuid};
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::serve::access::{AuditEntry, AuditResult};

/// The actor of what the process does by itself, in the audit log.
const PROCESS: &str = "serve";

/// An approval that a run belongs to.
pub(super) struct ApprovalRun {
    pub(super) id: i64,
    author: String,
    /// The plan that is made. `None`: an approved plan is applied.
    planned: Option<Arc<PlannedDevices>>,
}

impl Service {
    /// Whether runs change a device only as a person approved.
    pub(crate) fn needs_approval(&self, device: &str) -> bool {
        let fleet = self.fleet();
        let schedule = fleet.schedule(device);
        schedule.is_some_and(|schedule| schedule.needs_approval)
    }

    /// Requests a plan that waits for an approval. `person`: who requests it, unless it is a program.
    ///
    /// # Errors
    /// The device is unknown, needs no approval, or no run can start.
    pub(crate) async fn request_approval(
        &self,
        device: &str,
        requester: Requester,
        person: Option<String>,
    ) -> Result<i64, RunRequestError> {
        self.check_approval_request(device)?;
        self.check_start()?;
        let now = clock::timestamp();
        let expires = self.inner.fleet().settings.approval_time();
        let new = NewApproval {
            run: NewRun {
                uuid: RunUuid::new(now),
                device: device.to_owned(),
                kind: RunKind::Plan,
                follows_windows: false,
                requester,
                priority: REQUEST_PRIORITY,
                queued: now,
                started: None,
            },
            person,
            expires: now.saturating_add(expires).unwrap_or(Timestamp::MAX),
        };
        let history = self.history();
        let shard = self.shard_text(device);
        let added = history.write(move |writer| {
            writer.notify(REQUEST_TOPIC, &shard)?;
            writer.add_approval(&new)
        });
        let added = added.await;
        let (id, run) = added?;
        self.queue(run, device, RunKind::Plan, now);
        Ok(id)
    }

    /// Whether an approval can be requested for a device.
    ///
    /// # Errors
    /// As [`Service::request_approval`].
    pub(crate) fn check_approval_request(&self, device: &str) -> Result<(), RunRequestError> {
        let schedule = self.fleet().schedule(device).cloned();
        match schedule {
            None => Err(RunRequestError::UnknownDevice(device.to_owned())),
            Some(schedule) if !schedule.applies => {
                Err(RunRequestError::PlanOnly(device.to_owned()))
            }
            Some(schedule) if !schedule.needs_approval => {
                Err(RunRequestError::NoApproval(device.to_owned()))
            }
            Some(_) => Ok(()),
        }
    }

    /// Approves or rejects a plan. Returns false if it does not wait any more.
    ///
    /// # Errors
    /// The history cannot be written.
    pub(crate) async fn decide(
        &self,
        id: i64,
        decision: ApprovalDecision,
    ) -> Result<bool, HistoryError> {
        let history = self.history();
        let decided = history.write(move |writer| {
            writer.notify(REQUEST_TOPIC, "")?;
            writer.decide_approval(id, &decision)
        });
        let is_decided = decided.await?;
        self.inner.approvals.notify_one();
        Ok(is_decided)
    }

    /// Queues a run that is stored.
    fn queue(&self, run: RunId, device: &str, kind: RunKind, now: Timestamp) {
        let kind = Some(kind);
        let cause = RunCause::Request { run, kind };
        self.queue_request(device, cause, now);
        self.inner.wake.notify_one();
    }

    /// Starts approved plans whose change window is open, and ends expired ones.
    pub(super) async fn advance_approvals(&self) {
        if self.condition().no_applies.is_some() {
            return;
        }
        let now = clock::timestamp();
        let open = within_limit(self.store().open_approvals(now)).await;
        let open = open.unwrap_or_else(|error| {
            tracing::error!("cannot read the approvals: {}", chain(&error));
            Vec::new()
        });
        for approval in open {
            // Another node has the device.
            if self.device_right(&approval.device).is_none() {
                continue;
            }
            let advanced = match approval.state {
                ApprovalState::Expired => self.end_expired(&approval).await,
                _ if self.may_change_now(&approval.device, now) => {
                    self.start_approved(&approval, now).await
                }
                _ => Ok(()),
            };
            if let Err(error) = advanced {
                tracing::error!("cannot store approval {}: {}", approval.id, chain(&error));
            }
        }
    }

    fn may_change_now(&self, device: &str, now: Timestamp) -> bool {
        let dispatcher = self.inner.dispatcher();
        let schedule = dispatcher.schedule(device);
        schedule.is_some_and(|schedule| is_open(schedule, now))
    }

    async fn end_expired(&self, approval: &ApprovalEntry) -> Result<(), RunStoreError> {
        if self
            .record_approval(approval, "approval-expired", AuditResult::Refused)
            .await
        {
            within_limit(self.store().end_approval(approval.id)).await?;
        }
        Ok(())
    }

    async fn start_approved(
        &self,
        approval: &ApprovalEntry,
        now: Timestamp,
    ) -> Result<(), RunStoreError> {
        if !self
            .record_approval(approval, "run-approved", AuditResult::Accepted)
            .await
        {
            return Ok(());
        }
        let run = NewRun {
            uuid: RunUuid::new(now),
            device: approval.device.clone(),
            kind: RunKind::Apply,
            follows_windows: false,
            requester: approval.author.clone(),
            priority: REQUEST_PRIORITY,
            queued: now,
            started: None,
        };
        let added = within_limit(self.store().add_approved_run(approval.id, run)).await?;
        if let Some(run) = added {
            self.queue(run, &approval.device, RunKind::Apply, now);
        }
        Ok(())
    }

    /// Records what happened to an approval. Returns false if it is not in the log, which is logged.
    async fn record_approval(
        &self,
        approval: &ApprovalEntry,
        action: &str,
        result: AuditResult,
    ) -> bool {
        let entry = AuditEntry {
            time: clock::timestamp(),
            actor: PROCESS.to_owned(),
            method: "process".to_owned(),
            address: "local".to_owned(),
            action: action.to_owned(),
            target: approval_target(&approval.device, approval.id),
            result,
        };
        let appended = self.inner.audit.append(entry).await;
        if let Err(error) = &appended {
            tracing::error!("{}", chain(error));
        }
        appended.is_ok()
    }

    /// What a run that starts does, and the approval that it belongs to.
    ///
    /// # Errors
    /// Why the run does not start.
    pub(super) async fn run_request(
        &self,
        fleet: &ServeFleet,
        start: &RunToStart,
        found: Option<ApprovalOfRun>,
    ) -> Result<(RunRequest, Option<ApprovalRun>), String> {
        let request = fleet.request(start.kind);
        let Some(found) = found else {
            if start.kind == RunKind::Apply && self.needs_approval(&start.device) {
                return Err("the device is changed only as a person approved".to_owned());
            }
            return Ok((request, None));
        };
        let definitions = own_definitions_digest(fleet).await?;
        let Some(plan) = found.plan else {
            let planned = Arc::new(PlannedDevices {
                id: uuid::Uuid::new_v4().to_string(),
                definitions,
                devices: Mutex::default(),
            });
            let plan = PlanUse::Save(Arc::clone(&planned));
            let planned = Some(planned);
            let (id, author) = (found.id, found.author);
            let approval = ApprovalRun {
                id,
                author,
                planned,
            };
            return Ok((RunRequest { plan, ..request }, Some(approval)));
        };
        if !self.may_change_now(&start.device, clock::timestamp()) {
            return Err("the change window closed before the approved plan ran".to_owned());
        }
        let plan: StoredPlan = serde_json::from_str(&plan)
            .map_err(|error| format!("cannot read the approved plan: {error}"))?;
        let plan = PlanUse::Check {
            digest: plan.digest(),
            plan: Arc::new(plan),
            definitions,
        };
        let approval = ApprovalRun {
            id: found.id,
            author: found.author,
            planned: None,
        };
        Ok((RunRequest { plan, ..request }, Some(approval)))
    }

    /// Records the end of a run of an approved plan.
    pub(super) async fn end_approved(&self, approval: i64, device: &str, status: RunStatus) {
        let result = if matches!(status, RunStatus::Changed | RunStatus::Unchanged) {
            AuditResult::Accepted
        } else {
            AuditResult::Refused
        };
        let entry = AuditEntry {
            time: clock::timestamp(),
            actor: PROCESS.to_owned(),
            method: "process".to_owned(),
            address: "local".to_owned(),
            action: "approved-run-ended".to_owned(),
            target: format!("{}: {status}", approval_target(device, approval)),
            result,
        };
        if let Err(error) = self.inner.audit.append(entry).await {
            tracing::error!("{}", chain(&error));
        }
    }
}

impl ApprovalRun {
    pub(super) fn is_applied(&self) -> bool {
        self.planned.is_none()
    }

    /// The plan of a run that made one, as JSON. `None`: it would change nothing, or the device cannot be planned
    /// completely.
    pub(super) fn plan(&self, start: &RunToStart) -> Option<String> {
        let planned = self.planned.as_ref()?;
        let devices = planned.devices.lock();
        let mut devices = devices.unwrap_or_else(PoisonError::into_inner).clone();
        devices.retain(|name, device| *name == *start.device && !device.resources.is_empty());
        if devices.is_empty() {
            return None;
        }
        let plan = StoredPlan {
            id: planned.id.clone(),
            created: format!("{:.0}", clock::timestamp()),
            author: self.author.clone(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            sources: PlanSources::default(),
            devices,
        };
        Some(serde_json::to_string(&plan).expect("a plan is JSON"))
    }
}

/// An approval in the audit log.
pub(crate) fn approval_target(device: &str, id: i64) -> String {
    format!("{device} approval {id}")
}

fn is_open(schedule: &DeviceSchedule, now: Timestamp) -> bool {
    schedule.applies && schedule.is_in_window(now)
}

async fn own_definitions_digest(fleet: &ServeFleet) -> Result<String, String> {
    let Some(directory) = fleet.settings.definitions.clone() else {
        return Ok(definitions_digest(&[]));
    };
    let read = crate::store::blocking_io::run(move || definitions::from_directory(&directory));
    let own = read.await.map_err(|error| chain(&error))?;
    Ok(definitions_digest(&own))
}
