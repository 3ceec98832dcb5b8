//! Requests for runs.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::run_store::RunStoreError;
use crate::history::idempotency::KeyedRequest;
use crate::history::{HistoryError, Requester};
use crate::run_kind::RunKind;

/// A run that somebody requests.
#[derive(Clone, Debug)]
pub(crate) struct DeviceRequest {
    pub(crate) device: String,
    pub(crate) kind: RequestedKind,
    pub(crate) requester: Requester,
    /// Is stored with the run, so that a repetition starts no second one.
    pub(crate) key: Option<KeyedRequest>,
}

/// What a requested run does. `None`: as a scheduled run, which is a plan outside change windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestedKind(pub(crate) Option<RunKind>);

impl RequestedKind {
    pub(crate) const ALL: [Self; 4] = [
        Self(None),
        Self(Some(RunKind::Plan)),
        Self(Some(RunKind::Noop)),
        Self(Some(RunKind::Apply)),
    ];

    /// The word in requests.
    pub(crate) fn word(self) -> &'static str {
        self.0.map_or("scheduled", RunKind::word)
    }
}

impl std::fmt::Display for RequestedKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word())
    }
}

impl Serialize for RequestedKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for RequestedKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WORDS: [&str; 4] = ["scheduled", "plan", "noop", "apply"];
        let text = String::deserialize(deserializer)?;
        let kind = Self::ALL.into_iter().find(|kind| kind.word() == text);
        kind.ok_or_else(|| D::Error::unknown_variant(&text, &WORDS))
    }
}

impl PartialSchema for RequestedKind {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("What a requested run does."))
            .enum_values(Some(Self::ALL.map(Self::word)))
            .into()
    }
}

impl ToSchema for RequestedKind {}

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunRequestError {
    #[error("unknown device: {0}")]
    UnknownDevice(String),
    #[error("device `{0}` has mode = \"plan\" and is never changed")]
    PlanOnly(String),
    #[error("runs change device `{0}` only as a person approved")]
    NeedsApproval(String),
    #[error("runs of device `{0}` need no approval")]
    NoApproval(String),
    #[error("the process is stopping")]
    Stopping,
    /// New runs are stopped because their results cannot be stored.
    #[error("no run can start: {0}")]
    NoSpace(String),
    /// The key of the request was used for another one.
    #[error("the key of the request belongs to a different request")]
    OtherRequest,
    #[error(transparent)]
    Store(#[from] RunStoreError),
}

impl From<HistoryError> for RunRequestError {
    fn from(error: HistoryError) -> Self {
        Self::Store(error.into())
    }
}
