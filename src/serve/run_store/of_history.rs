//! A history as the store of a process that runs devices.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    BeginAnswer, CancelRequest, CanceledRequest, DueTime, EndedRun, RunStart, RunStore,
    RunStoreError, StartCause, StartedRun, StoreProblem, StoredResult, WaitingRequest,
};
use crate::error_chain::chain;
use crate::history::approvals::ApprovalEntry;
use crate::history::device_state::{KnownDevice, StoredSchedule};
use crate::history::puppetdb_commands::LostCommand;
use crate::history::{HistoryError, HistoryStore, NewRun, RunEffect, RunId, Space};
use crate::run_kind::RunKind;
use crate::store::blocking_io;

impl From<HistoryError> for RunStoreError {
    fn from(error: HistoryError) -> Self {
        Self {
            problem: if error.is_of_the_data() {
                StoreProblem::Refused
            } else {
                StoreProblem::Unreachable
            },
            text: chain(&error),
            hint: error.hint().map(str::to_owned),
        }
    }
}

impl HistoryStore {
    /// Stores a result from which commands for PuppetDB were removed.
    pub(in crate::serve) async fn finish_without(
        &self,
        ended: Arc<EndedRun>,
        removed: usize,
    ) -> Result<StoredResult, RunStoreError> {
        let max_size = self.max_size();
        let written = self.write(move |writer| {
            let (completed, due) = (&ended.completed, &ended.due);
            let id = writer.add_run(&ended.run)?;
            writer.set_right(id, ended.right.as_ref())?;
            if writer.has_result(id)? {
                return Ok(StoredResult {
                    id,
                    effect: RunEffect::default(),
                    lost_commands: 0,
                });
            }
            writer.set_run_release(id, ended.release)?;
            if let Some(made) = &ended.plan {
                writer.set_plan(made.approval, &made.plan)?;
            }
            let effect = if writer.is_late(ended.right.as_ref())? {
                writer.finish_late_run(id, completed)?;
                RunEffect::default()
            } else {
                let effect = writer.finish_run(id, completed)?;
                writer.set_due(&due.device, due.due, due.failures, completed.ended)?;
                effect
            };
            writer.count_lost(LostCommand::Unknown, removed)?;
            // PuppetDB compares the times of facts and reports itself.
            let commands = &ended.commands;
            let lost_commands =
                writer.add_puppetdb_commands(commands, max_size, completed.ended)?;
            Ok(StoredResult {
                id,
                effect,
                lost_commands,
            })
        });
        Ok(written.await?)
    }
}

#[async_trait]
impl RunStore for HistoryStore {
    async fn space(&self) -> Result<Space, RunStoreError> {
        let history = self.clone();
        Ok(blocking_io::run(move || HistoryStore::space(&history)).await?)
    }

    async fn use_devices(
        &self,
        devices: Vec<KnownDevice>,
        time: Timestamp,
    ) -> Result<(), RunStoreError> {
        let written = self.write(move |writer| writer.update_devices(&devices, true, time));
        Ok(written.await?)
    }

    async fn schedules(&self) -> Result<BTreeMap<String, StoredSchedule>, RunStoreError> {
        Ok(self.query(|reader| reader.schedules()).await?)
    }

    async fn paused(&self) -> Result<BTreeSet<String>, RunStoreError> {
        Ok(self.query(|reader| reader.paused_devices()).await?)
    }

    async fn set_due(&self, due: Vec<DueTime>, time: Timestamp) -> Result<(), RunStoreError> {
        let written = self.write(move |writer| {
            due.iter()
                .try_for_each(|due| writer.set_due(&due.device, due.due, due.failures, time))
        });
        Ok(written.await?)
    }

    async fn requests(&self) -> Result<Vec<WaitingRequest>, RunStoreError> {
        let queued = self.query(|reader| reader.queued_runs()).await?;
        let requests = queued.into_iter();
        Ok(requests
            .map(|(id, run)| WaitingRequest { id, run })
            .collect())
    }

    async fn interrupt(&self, time: Timestamp) -> Result<usize, RunStoreError> {
        Ok(self
            .write(move |writer| writer.interrupt_runs(time))
            .await?)
    }

    async fn begin(&self, start: RunStart) -> Result<BeginAnswer, RunStoreError> {
        let started = self.write(move |writer| {
            let right = start.right.as_ref();
            let own = match &start.cause {
                StartCause::New(run) => Some(run.uuid),
                StartCause::Request(_) => None,
            };
            if let Some(run) = own
                && writer.has_ended(run)?
            {
                return Ok(BeginAnswer::Withdrawn);
            }
            if let StartCause::Request(id) = start.cause {
                writer.queue_lost_request(id, right)?;
            }
            writer.end_lost_runs(&start.device, own, right, start.time)?;
            if let Some(reason) = writer.runs_elsewhere(&start.device, start.kind, right)? {
                let is_new = match start.cause {
                    StartCause::New(_) => true,
                    StartCause::Request(id) => writer.refuse_start(id, &reason)?,
                };
                return Ok(BeginAnswer::Elsewhere { reason, is_new });
            }
            let (id, run) = match start.cause {
                StartCause::New(run) => (writer.add_run(&run)?, run),
                StartCause::Request(id) => {
                    match writer.start_request(id, start.kind, start.time)? {
                        Some(run) => (id, run),
                        None => return Ok(BeginAnswer::Withdrawn),
                    }
                }
            };
            writer.set_right(id, right)?;
            writer.set_run_release(id, start.release)?;
            let newer_release = match start.kind {
                RunKind::Plan => None,
                RunKind::Apply | RunKind::Noop => {
                    writer.use_release(&start.device, start.release)?
                }
            };
            Ok(BeginAnswer::Started(Box::new(StartedRun {
                id,
                run,
                approval: writer.reader().approval_of_run(id)?,
                newer_release,
            })))
        });
        Ok(started.await?)
    }

    async fn finish(&self, ended: Arc<EndedRun>) -> Result<StoredResult, RunStoreError> {
        self.finish_without(ended, 0).await
    }

    async fn cancel(&self, cancel: CancelRequest) -> Result<CanceledRequest, RunStoreError> {
        let written = self.write(move |writer| {
            let CancelRequest { run, reason, time } = cancel;
            Ok(CanceledRequest {
                is_canceled: writer.cancel_run(run, time, reason.as_deref())?,
                device: writer.device_name(run)?,
            })
        });
        Ok(written.await?)
    }

    async fn has_configuration(&self, device: &str) -> Result<bool, RunStoreError> {
        let device = device.to_owned();
        let known = self.query(move |reader| reader.configurations(&device, 1, 0));
        Ok(!known.await?.is_empty())
    }

    async fn open_approvals(&self, time: Timestamp) -> Result<Vec<ApprovalEntry>, RunStoreError> {
        Ok(self
            .query(move |reader| reader.open_approvals(time))
            .await?)
    }

    async fn end_approval(&self, approval: i64) -> Result<(), RunStoreError> {
        Ok(self
            .write(move |writer| writer.end_approval(approval))
            .await?)
    }

    async fn add_approved_run(
        &self,
        approval: i64,
        run: NewRun,
    ) -> Result<Option<RunId>, RunStoreError> {
        let added = self.write(move |writer| writer.add_approved_run(approval, &run));
        Ok(added.await?)
    }
}
