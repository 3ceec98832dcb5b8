//! Stores the runs of `apply`, `plan`, `undo` and `device`.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use switchtender_devices::names::DeviceName;

use crate::cli::exit::CommandError;
use crate::cli::options::store_options::StoreOption;
use crate::cli::user_name::user_name;
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::device_run::DeviceRun;
use crate::fleet::known_device::known_device;
use crate::history::device_state::KnownDevice;
use crate::history::{HistoryStore, NewRun, Requester, RequesterKind, RunUuid};
use crate::inventory::Device;

/// Stores runs, if a store is configured.
#[derive(Clone)]
pub(crate) struct RunRecorder {
    history: Option<HistoryStore>,
    requester: Requester,
    /// The devices of the inventory by name.
    devices: Arc<HashMap<String, KnownDevice>>,
}

impl RunRecorder {
    /// With `is_real`, no device is simulated.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub(crate) fn open(store: &StoreOption, is_real: bool) -> Result<Self, CommandError> {
        Ok(Self {
            history: store.configured(is_real)?,
            requester: Requester {
                kind: RequesterKind::CommandLine,
                name: user_name(),
            },
            devices: Arc::default(),
        })
    }

    /// The store, if one is configured.
    pub(crate) fn history(&self) -> Option<&HistoryStore> {
        self.history.as_ref()
    }

    /// Stores the platforms, labels and addresses of these devices with their runs.
    pub(crate) fn with_devices<'a>(self, devices: impl IntoIterator<Item = &'a Device>) -> Self {
        let devices = devices.into_iter().map(known_device);
        let devices = devices
            .map(|device| (device.name.clone(), device))
            .collect();
        Self {
            devices: Arc::new(devices),
            ..self
        }
    }

    /// Stores a run that has ended, unless the store has another device of this name. It is durable when this
    /// returns.
    pub(crate) async fn record(&self, device: &DeviceName, started: Timestamp, run: &DeviceRun) {
        let Some(history) = &self.history else {
            return;
        };
        let completed = run.completed(clock::timestamp());
        let new_run = NewRun {
            uuid: RunUuid::new(started),
            device: device.to_string(),
            kind: run.record.kind,
            follows_windows: false,
            requester: self.requester.clone(),
            priority: 0,
            queued: started,
            started: Some(started),
        };
        let known = self.devices.get(device.as_str()).cloned();
        let stored = history.write(move |writer| {
            if let Some(known) = known {
                let facts = completed.record.facts.as_ref();
                if let Some(address) = writer.other_address(&known, facts)? {
                    return Ok(Some(address));
                }
                writer.update_devices(&[known], false, completed.ended)?;
            }
            let run = writer.add_run(&new_run)?;
            writer.finish_run(run, &completed)?;
            Ok(None)
        });
        match stored.await {
            Ok(None) => {}
            Ok(Some(address)) => tracing::warn!(
                "the run is not in the store, where {device} is another device, at {address}; choose a store with \
                 `--store`"
            ),
            Err(error) => tracing::warn!("the run is not in the store: {}", chain(&error)),
        }
    }
}
