//! The result of a resource as JSON: in the store, in live events and in the API.

use serde::{Deserialize, Serialize};

use super::command_record::CommandRecord;
use super::event::{Event, ResourceStatus, Skip};
use crate::catalog::ResourceRef;
use crate::transaction::event::ResourceResult;

/// A resource in a run.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = RunResource)]
pub(crate) struct ResourceJson {
    resource: String,
    file: Option<String>,
    line: Option<u64>,
    #[schema(value_type = String)]
    status: ResourceResult,
    corrective: bool,
    skip_reason: Option<String>,
    seconds: Option<f64>,
    events: Vec<Event>,
    operations: Vec<CommandRecord>,
}

impl From<ResourceStatus> for ResourceJson {
    fn from(status: ResourceStatus) -> Self {
        Self {
            resource: status.reference.to_string(),
            file: status.file.as_deref().map(str::to_owned),
            line: status.line,
            status: status.result(),
            corrective: status.corrective_change,
            skip_reason: status.skip_reason(),
            seconds: status.evaluation_time.map(|took| took.as_secs_f64()),
            operations: status.operations.to_vec(),
            events: status.events,
        }
    }
}

impl TryFrom<ResourceJson> for ResourceStatus {
    type Error = String;

    fn try_from(json: ResourceJson) -> Result<Self, String> {
        let reference = ResourceRef::parse(&json.resource).map_err(|error| error.to_string())?;
        let mut status = ResourceStatus::of(reference);
        for event in json.events {
            status.add(event);
        }
        let seconds = json.seconds.map(std::time::Duration::try_from_secs_f64);
        Ok(Self {
            file: json.file.map(Into::into),
            line: json.line,
            failed: json.status == ResourceResult::Failed,
            changed: json.status == ResourceResult::Changed,
            corrective_change: json.corrective,
            skipped: (json.status == ResourceResult::Skipped)
                .then(|| Skip::of_text(json.skip_reason)),
            evaluation_time: seconds.and_then(Result::ok),
            operations: json.operations.into(),
            ..status
        })
    }
}
