//! Requests for runs.

use serde::{Deserialize, Serialize};

use crate::history::idempotency::KeyedRequest;
use crate::history::{HistoryError, Requester};

/// A run that somebody requests.
#[derive(Clone, Debug)]
pub(crate) struct RunRequest {
    pub(crate) device: String,
    pub(crate) kind: RequestedKind,
    pub(crate) requester: Requester,
    /// Is stored with the run, so that a repetition starts no second one.
    pub(crate) key: Option<KeyedRequest>,
}

/// What a requested run does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RequestedKind {
    /// As a scheduled run: a plan outside change windows.
    #[default]
    Scheduled,
    Plan,
    Noop,
    /// Also outside change windows.
    Apply,
}

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunRequestError {
    #[error("unknown device: {0}")]
    UnknownDevice(String),
    #[error("device `{0}` has mode = \"plan\" and is never changed")]
    PlanOnly(String),
    #[error("the process is stopping")]
    Stopping,
    /// New runs are stopped because their results cannot be stored.
    #[error("no run can start: {0}")]
    NoSpace(String),
    #[error(transparent)]
    History(#[from] HistoryError),
}
