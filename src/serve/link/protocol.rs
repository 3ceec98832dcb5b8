//! What a worker asks a hub, as JSON.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::history::NewRun;
use crate::history::device_state::KnownDevice;
use crate::history::leases::LeaseRequest;
use crate::history::releases::ReleaseNumber;
use crate::serve::audit_copies::AuditPart;
use crate::serve::lease::protocol::PROTOCOL;
use crate::serve::live_watch::{LivePart, WatchRequest};
use crate::serve::run_store::{CancelRequest, DueTime, EndedRun, RunStart};
use crate::store::state_table::StateChange;

/// The header with the number of the protocol.
pub(crate) const PROTOCOL_HEADER: &str = "switchtender-protocol";

/// The begin of the paths of the link.
pub(crate) const LINK: &str = "/fleet/v1/";

/// The path of calls, and that of waiting for work.
pub(crate) const CALLS: &str = "/fleet/v1/calls";
pub(crate) const WORK: &str = "/fleet/v1/work";

/// The largest call and answer in bytes.
pub(crate) const LARGEST: usize = 64 << 20;

/// What a worker asks for. Each answer is JSON of the type that the trait of the call has.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LinkCall {
    /// The name and the sites that the worker has at the hub.
    Identify,
    /// Of `LeaseStore`.
    Exchange(LeaseRequest),
    /// The rest of this part is that of `RunStore`.
    Space,
    UseDevices {
        devices: Vec<KnownDevice>,
        time: Timestamp,
    },
    Schedules,
    Paused,
    SetDue {
        due: Vec<DueTime>,
        time: Timestamp,
    },
    Requests,
    Begin(RunStart),
    Finish(Arc<EndedRun>),
    Cancel(CancelRequest),
    HasConfiguration {
        device: String,
    },
    OpenApprovals {
        time: Timestamp,
    },
    EndApproval {
        approval: i64,
    },
    AddApprovedRun {
        approval: i64,
        run: NewRun,
    },
    State(StateCall),
    /// Of `ReleaseSource`.
    NewestRelease {
        newer_than: Option<ReleaseNumber>,
    },
    /// The answer is in Base64.
    Blob {
        sha256: String,
    },
    /// Events of a run that somebody watches.
    Publish(LivePart),
    /// The end of what hubs have of the audit log of the worker.
    AuditEnd,
    AddAuditPart(AuditPart),
}

/// Of `StateTable`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateCall {
    Get { device: String, file: String },
    Change(StateChange),
    Files { device: String },
    Devices,
    Key,
    UseKey { fingerprint: String },
}

/// What a worker waits for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The place in the list of the hub, for the next request.
    pub(crate) position: String,
    /// There can be new requests, pauses or approvals.
    pub(crate) is_new: bool,
    /// Runs that somebody watches.
    pub(crate) watches: Vec<WatchRequest>,
}

/// Why a hub does not answer a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the worker {node} has no right to {what}")]
    Foreign { node: String, what: String },
    #[error("the hub cannot answer: {0}")]
    Unavailable(String),
    /// The process has no leases.
    #[error("this process is no hub: its store is a file")]
    NoHub,
    #[error(
        "the worker {node} has the protocol {worker}, and this hub has {PROTOCOL}: update the program of the worker"
    )]
    OldWorker { node: String, worker: String },
    #[error(
        "the worker has the protocol {worker}, and this hub has {PROTOCOL}: update the program of the hub"
    )]
    OldHub { worker: u32 },
}

impl From<crate::history::HistoryError> for Refusal {
    fn from(error: crate::history::HistoryError) -> Self {
        Self::Unavailable(crate::error_chain::chain(&error))
    }
}
