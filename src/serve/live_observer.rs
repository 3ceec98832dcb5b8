//! Passes the events of a device run on as live events.

use std::sync::Arc;

use switchtender_devices::names::DeviceName;

use super::live::{LiveEvent, LiveEventKind};
use super::service::Service;
use crate::clock::puppet_time;
use crate::fleet::device_run::{DeviceEvent, Observer};
use crate::history::RunId;
use crate::history::runs::RunResource;
use crate::report::json;
use crate::report::stored::{StoredLog, StoredStatus};
use crate::transaction::{LogEntry, ResourceStatus, RunEvent};

/// The observer of one run.
pub(super) fn observer(service: &Service, run: RunId) -> Observer {
    let service = service.clone();
    Arc::new(move |device: &DeviceName, event: DeviceEvent| {
        let event = match &event {
            DeviceEvent::Error(entry) | DeviceEvent::Run(RunEvent::Log(entry)) => {
                Some(LiveEventKind::Log(log(entry)))
            }
            DeviceEvent::Run(RunEvent::Resource(status) | RunEvent::Amended { status, .. }) => {
                resource(status).map(|resource| LiveEventKind::Resource(Box::new(resource)))
            }
            DeviceEvent::Run(_) => None,
        };
        if let Some(event) = event {
            service.live().emit(LiveEvent {
                run,
                device: device.to_string(),
                event,
            });
        }
    })
}

fn log(entry: &LogEntry) -> StoredLog {
    StoredLog {
        level: entry.level.to_string(),
        source: entry.source.clone(),
        message: entry.message.clone(),
        time: puppet_time(entry.time),
        file: entry.file.as_deref().map(str::to_owned),
        line: entry.line,
    }
}

/// A resource that is not unchanged.
fn resource(status: &ResourceStatus) -> Option<RunResource> {
    let is_notable = !status.events.is_empty() || status.failed || status.is_skipped();
    if !is_notable || status.is_default {
        return None;
    }
    let part: StoredStatus = serde_json::from_value(json::status(status)).ok()?;
    Some(RunResource {
        resource: status.reference.to_string(),
        status: part.word().to_owned(),
        file: part.file,
        line: part.line,
        corrective: part.corrective_change,
        skip_reason: part.skip_reason,
        seconds: part.evaluation_time,
        events: part.events,
        operations: part.operations,
    })
}
