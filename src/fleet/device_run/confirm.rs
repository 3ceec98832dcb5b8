//! The wait for the user, who agrees to the plan of the device.
//!
//! The state that was read for the plan is used for the change, unless it is old or the session was closed. Then the
//! device is read again, and not changed if it differs.

use std::time::Duration;

use switchtender_devices::diagnostic::Diagnostic;

use super::active_device::ActiveDevice;
use super::connect::{ConnectedDevice, ReadyDevice};
use super::preview::{AdmittedDevice, Preview};
use super::protect::ProtectedDevice;
use super::{DeviceRunError, Running};
use crate::clock;
use crate::fleet::catalog_check::PreparedCatalog;
use crate::fleet::catalog_source::PreparedSource;
use crate::fleet::plan_confirmation::PlannedRun;
use crate::fleet::stored_plan::PlannedDevice;

/// After this time, the device is read again.
const FRESH: Duration = Duration::from_secs(60);

impl AdmittedDevice {
    /// Waits until the user has agreed to the plan, if that is required.
    ///
    /// # Errors
    /// The user did not agree, or the device changed meanwhile; the session is closed.
    pub(super) async fn confirm<S: PreparedSource>(
        self,
        run: &mut Running<'_>,
        source: &S,
    ) -> Result<Self, DeviceRunError> {
        let Self {
            mut device,
            catalog,
            obstacles,
            preview,
        } = self;
        let (Some(confirmation), Some(mut preview)) = (&run.request.confirmation, preview) else {
            return Ok(Self {
                device,
                catalog,
                obstacles,
                preview: None,
            });
        };
        let read = clock::instant();
        let keeps_session = confirmation.keeps_sessions();
        if !keeps_session {
            device.provider.close().await;
        }
        let (name, mask) = (run.events.device().clone(), run.events.mask.clone());
        let record = preview.take_record();
        let record = record.expect("the user has to agree");
        let took = run.took();
        let answer = confirmation.ask(&name, PlannedRun { record, mask, took });
        let answer = async {
            tokio::select! {
                biased;
                answer = answer => answer,
                () = run.stop.cancelled() => (false, read.elapsed()),
            }
        };
        let (is_confirmed, waited) = run.deadline.without_limit(answer).await;
        run.waited = waited;
        if !is_confirmed {
            return Err(device.refuse(DeviceRunError::NotConfirmed).await);
        }
        if keeps_session && read.elapsed() <= FRESH {
            return Ok(Self {
                device,
                catalog,
                obstacles,
                preview: None,
            });
        }
        let planned = planned(&preview, &device, &catalog);
        // The state of the run is large, and is not part of that of every run.
        let again = Box::pin(read_again(run, source, device, catalog)).await?;
        let changed = again
            .preview
            .as_ref()
            .map(|preview| self::planned(preview, &again.device, &again.catalog))
            .map(|now| planned.differences(&now))
            .unwrap_or_default();
        if changed.is_empty() {
            return Ok(again);
        }
        let findings = changed.into_iter().map(|finding| Diagnostic {
            help: Some("the device changed while the plan was shown: apply again".to_owned()),
            ..finding
        });
        let findings = findings.collect();
        Err(again.device.refuse(DeviceRunError::Plan { findings }).await)
    }
}

/// The plan, for a comparison within this run: definitions and catalog cannot change.
fn planned(preview: &Preview, device: &ActiveDevice, catalog: &PreparedCatalog) -> PlannedDevice {
    preview.planned(device, catalog, "")
}

/// Reads the device again in a new session.
async fn read_again<S: PreparedSource>(
    run: &mut Running<'_>,
    source: &S,
    mut device: ActiveDevice,
    catalog: PreparedCatalog,
) -> Result<AdmittedDevice, DeviceRunError> {
    device.provider.close().await;
    let settings = device.settings.clone();
    let device = ConnectedDevice::open_again(run, source, device).await?;
    let ready = ReadyDevice { device, catalog };
    let protected = ProtectedDevice::protect(run, ready, settings).await?;
    AdmittedDevice::admit(run, protected).await
}

#[cfg(test)]
mod tests;
