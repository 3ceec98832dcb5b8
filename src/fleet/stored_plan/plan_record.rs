//! A plan as the record of the run that made it.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::{PlannedChange, PlannedDevice, PlannedResource};
use crate::catalog::{ResourceRef, rich_data};
use crate::report::{ResourceUndo, RunRecord, UndoPlan};
use crate::transaction::{Event, EventStatus, ResourceStatus, RunEvent};

impl PlannedDevice {
    /// The record of the run that made the plan, as far as the plan has it.
    pub(crate) fn record(&self, created: &str) -> RunRecord {
        let time = created.parse().unwrap_or_default();
        let mut record = RunRecord::planned(time);
        for status in self
            .resources
            .iter()
            .filter_map(|planned| planned.status(time))
        {
            record.fold(&RunEvent::Resource(Arc::new(status)));
        }
        let undo = self
            .resources
            .iter()
            .filter(|planned| !planned.not_restored.is_empty());
        let undo = undo.map(|planned| ResourceUndo {
            resource: planned.resource.clone(),
            operations: Vec::new(),
            not_restored: planned.not_restored.clone(),
        });
        RunRecord {
            difference: self.difference.clone(),
            undo: Some(UndoPlan {
                resources: undo.collect(),
                not_restored: String::new(),
            }),
            ..record
        }
    }
}

impl PlannedResource {
    /// The resource as the plan of a run has it.
    fn status(&self, time: Timestamp) -> Option<ResourceStatus> {
        let mut status = ResourceStatus::of(ResourceRef::parse(&self.resource).ok()?);
        for change in &self.changes {
            status.add(change.event(time));
        }
        let operations = self.operations.iter();
        Some(ResourceStatus {
            file: self.file.as_deref().map(Into::into),
            line: self.line,
            operations: operations
                .map(|operation| operation.command.clone())
                .collect(),
            ..status
        })
    }
}

impl PlannedChange {
    fn event(&self, time: Timestamp) -> Event {
        let value = |json: &Json| Some(rich_data::read_plain(json.clone()));
        Event {
            name: format!("{}_changed", self.property),
            property: Some(self.property.as_str().into()),
            status: EventStatus::Noop,
            previous_value: value(&self.from),
            desired_value: value(&self.to),
            message: None,
            corrective_change: false,
            time,
            historical_value: None,
            audited: false,
            redacted: None,
            invalidates_refreshes: false,
        }
    }
}
