//! Stores the runs of `apply`, `plan`, `undo` and `device`.

use jiff::Timestamp;
use switchtender_devices::names::DeviceName;

use crate::cli::exit::CommandError;
use crate::cli::options::store_options::{StoreOption, store_error};
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
        })
    }

    /// Stores the platforms and labels of devices.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) async fn add_devices<'a>(
        &self,
        devices: impl IntoIterator<Item = &'a Device>,
    ) -> Result<(), CommandError> {
        let Some(history) = &self.history else {
            return Ok(());
        };
        let devices: Vec<KnownDevice> = devices.into_iter().map(known_device).collect();
        let now = clock::timestamp();
        let added = history.write(move |writer| writer.update_devices(&devices, false, now));
        added.await.map_err(store_error)
    }

    /// Stores a run that has ended. It is durable when this returns.
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
        let stored = history.write(move |writer| {
            let run = writer.add_run(&new_run)?;
            writer.finish_run(run, &completed)
        });
        if let Err(error) = stored.await {
            tracing::warn!("the run is not in the store: {}", chain(&error));
        }
    }
}
