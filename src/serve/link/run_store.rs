//! The store of a worker's runs, over the link.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::client::{HubLink, LinkError};
use super::protocol::LinkCall;
use crate::history::approvals::ApprovalEntry;
use crate::history::device_state::{KnownDevice, StoredSchedule};
use crate::history::leases::DEFAULT_SITE;
use crate::history::{NewRun, RunId, Space};
use crate::serve::run_store::{
    BeginAnswer, CancelRequest, CanceledRequest, DueTime, EndedRun, RunStart, RunStore,
    RunStoreError, StoreProblem, StoredResult, WaitingRequest,
};

impl From<LinkError> for RunStoreError {
    fn from(error: LinkError) -> Self {
        let (problem, hint) = match &error {
            LinkError::Unreachable(_) => (
                StoreProblem::Unreachable,
                "start a hub, or correct `join` in serve.toml and the way to it",
            ),
            LinkError::NotAccepted(_) => (
                StoreProblem::Unreachable,
                "compare `[fleet]` of this worker with `switchtender access list` at a hub",
            ),
            LinkError::Foreign(_) => (
                StoreProblem::Foreign,
                "compare the sites of the worker in `switchtender access list` at a hub with those of the devices",
            ),
            LinkError::Refused(_) => (
                StoreProblem::Refused,
                "report the defect with the logs of the worker and of the hub",
            ),
        };
        Self {
            problem,
            text: error.to_string(),
            hint: Some(hint.to_owned()),
        }
    }
}

impl HubLink {
    /// A call whose answer is what the store of the hub says.
    pub(super) async fn of_store<T: DeserializeOwned + Send + 'static>(
        &self,
        call: LinkCall,
    ) -> Result<T, RunStoreError> {
        let answer: Result<T, RunStoreError> = self.call(call).await?;
        answer
    }
}

#[async_trait]
impl RunStore for HubLink {
    async fn space(&self) -> Result<Space, RunStoreError> {
        self.of_store(LinkCall::Space).await
    }

    async fn use_devices(
        &self,
        mut devices: Vec<KnownDevice>,
        time: Timestamp,
    ) -> Result<(), RunStoreError> {
        devices.retain(|device| self.has_site(device.site.as_deref().unwrap_or(DEFAULT_SITE)));
        self.of_store(LinkCall::UseDevices { devices, time }).await
    }

    async fn schedules(&self) -> Result<BTreeMap<String, StoredSchedule>, RunStoreError> {
        self.of_store(LinkCall::Schedules).await
    }

    async fn paused(&self) -> Result<BTreeSet<String>, RunStoreError> {
        self.of_store(LinkCall::Paused).await
    }

    async fn set_due(&self, due: Vec<DueTime>, time: Timestamp) -> Result<(), RunStoreError> {
        self.of_store(LinkCall::SetDue { due, time }).await
    }

    async fn requests(&self) -> Result<Vec<WaitingRequest>, RunStoreError> {
        self.of_store(LinkCall::Requests).await
    }

    /// Who acquires a shard ends the runs of the last owner.
    async fn interrupt(&self, _: Timestamp) -> Result<usize, RunStoreError> {
        Ok(0)
    }

    async fn begin(&self, start: RunStart) -> Result<BeginAnswer, RunStoreError> {
        self.of_store(LinkCall::Begin(start)).await
    }

    async fn finish(&self, ended: Arc<EndedRun>) -> Result<StoredResult, RunStoreError> {
        self.of_store(LinkCall::Finish(ended)).await
    }

    async fn cancel(&self, cancel: CancelRequest) -> Result<CanceledRequest, RunStoreError> {
        self.of_store(LinkCall::Cancel(cancel)).await
    }

    async fn has_configuration(&self, device: &str) -> Result<bool, RunStoreError> {
        let device = device.to_owned();
        self.of_store(LinkCall::HasConfiguration { device }).await
    }

    async fn open_approvals(&self, time: Timestamp) -> Result<Vec<ApprovalEntry>, RunStoreError> {
        self.of_store(LinkCall::OpenApprovals { time }).await
    }

    async fn end_approval(&self, approval: i64) -> Result<(), RunStoreError> {
        self.of_store(LinkCall::EndApproval { approval }).await
    }

    async fn add_approved_run(
        &self,
        approval: i64,
        run: NewRun,
    ) -> Result<Option<RunId>, RunStoreError> {
        self.of_store(LinkCall::AddApprovedRun { approval, run })
            .await
    }
}
