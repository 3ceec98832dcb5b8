//! Passes the events of a device run on as live events.

use std::sync::Arc;

use switchtender_devices::names::DeviceName;

use super::live::{LiveEvent, LiveEventKind};
use super::service::Service;
use crate::fleet::device_run::{DeviceEvent, Observer};
use crate::history::RunId;
use crate::transaction::RunEvent;

/// The observer of one run. `None`: the store does not have it, so nobody can watch it.
pub(super) fn observer(service: &Service, run: Option<RunId>) -> Observer {
    let Some(run) = run else {
        return Arc::new(|_, _| {});
    };
    let service = service.clone();
    Arc::new(move |device: &DeviceName, event: DeviceEvent| {
        let event = match &event {
            DeviceEvent::Error(entry) | DeviceEvent::Run(RunEvent::Log(entry)) => {
                Some(LiveEventKind::Log(Arc::clone(entry)))
            }
            DeviceEvent::Run(RunEvent::Resource(status) | RunEvent::Amended { status, .. }) => {
                let is_included = status.is_notable() && !status.is_default;
                is_included.then(|| LiveEventKind::Resource(Arc::clone(status)))
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
